"""A person's settings: travel preferences, mails to send, and the logo on an advisor's documents."""

from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, transaction
from shared.domain.preferences import SETTINGS
from shared.domain.watch_kinds import WATCH_KINDS

# Which mails can be turned on and off, and their defaults.
MAILS = {kind.mails: True for kind in WATCH_KINDS if kind.has_mail_switch} | {
    "deadlines": True,
    "weekly_overview": False,
    "product_news": False,
}


class Profile(AccountOwned, Base):
    """One row per account, written when something is first changed; without it everything has its default.

    `mail_<kind>` switches each kind of MAILS.
    """

    __tablename__ = "profiles"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    home_airport: Mapped[str | None] = mapped_column(sa.String(3))
    default_cabin: Mapped[str | None]
    currency: Mapped[str | None] = mapped_column(sa.String(3))  # None = USD
    country: Mapped[str | None] = mapped_column(sa.String(2))
    timezone: Mapped[str | None]  # None = UTC
    preferred_airlines: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))
    avoided_airlines: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))
    default_passengers: Mapped[int | None]  # None = 1
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


for _kind, _is_on in MAILS.items():
    _switch = mapped_column(sa.Boolean, nullable=False, server_default=sa.true() if _is_on else sa.false())
    setattr(Profile, f"mail_{_kind}", _switch)


_SETTINGS = sa.select(
    *(getattr(Profile, name) for name in sorted(set(SETTINGS.values()))),
    Profile.preferred_airlines,
    Profile.avoided_airlines,
)


class AdvisorLogo(AccountOwned, Base):
    """A PNG or JPEG, checked on upload."""

    __tablename__ = "advisor_logos"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    media_type: Mapped[str]
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes] = mapped_column(sa.LargeBinary)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


def read_settings(account_id: int) -> dict[str, Any]:
    """The account's travel settings by column, without those never set."""
    with transaction(account_id) as session:
        row = session.execute(_SETTINGS).one_or_none()
    return {name: value for name, value in row._mapping.items() if value} if row else {}


def read_avoided_airlines(session: Session, account_id: int) -> list[str]:
    """The codes of the airlines the person avoids."""
    return session.scalar(sa.select(Profile.avoided_airlines).where(Profile.account_id == account_id)) or []


def find_time_zone(session: Session, account_id: int) -> str | None:
    """The zone the person chose, or None."""
    return session.scalar(sa.select(Profile.timezone).where(Profile.account_id == account_id))


class ProvedChannel(NamedTuple):
    """A channel besides mail that the person has proved, and the kinds of messages it gets."""

    id: int
    kind: str
    name: str
    wanted_kinds: list[str]


class Addressee(NamedTuple):
    """The mail address and channels of an account, and the kinds of mail the person wants."""

    id: int
    email: str | None
    email_confirmed_at: datetime | None
    mail_switches: dict[str, bool]
    channels: tuple[ProvedChannel, ...] = ()
    currency: str | None = None  # None: each source's own

    def wants_by_channel(self, kind: str) -> bool:
        return any(kind in channel.wanted_kinds for channel in self.channels)


_MAIL_COLUMNS = ", ".join(f"mail_{kind}" for kind in MAILS)
_ADDRESSEE = sa.text(f"""
select id, email, email_confirmed_at, {_MAIL_COLUMNS}, profiles.currency, array(
  select jsonb_build_array(c.id, c.kind, c.name, c.wanted_kinds) from message_channels c
  where c.account_id = accounts.id and c.proved_at is not null order by c.id)
from accounts left join profiles on account_id = id where id = :id""")  # noqa: S608 - names of ours


def find_addressee(session: Session, account_id: int) -> Addressee:
    return _to_addressee(*session.execute(_ADDRESSEE, {"id": account_id}).one())


def _to_addressee(id: int, email: str | None, confirmed: datetime | None, *choices: Any) -> Addressee:
    *switches, currency, channels = choices
    set_ = {kind: on for kind, on in zip(MAILS, switches, strict=True) if on is not None}
    proved = tuple(ProvedChannel(*channel) for channel in channels)
    return Addressee(id, email, confirmed, MAILS | set_, proved, currency)
