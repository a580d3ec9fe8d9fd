"""What a person set: how they like to travel, which mails to send, and the logo an advisor's documents carry."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, transaction
from shared.domain.preferences import SETTINGS
from shared.domain.watch_kinds import WATCH_KINDS

# Which mails can be turned on and off, and how they begin.
MAILS = {kind.mails: True for kind in WATCH_KINDS if kind.has_mail_switch} | {
    "deadlines": True,
    "weekly_overview": False,
    "product_news": False,
}


class Profile(AccountOwned, Base):
    """One row per account, written when something is first changed; without it everything is as it begins.

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
    """A PNG or JPEG, checked when it came in."""

    __tablename__ = "advisor_logos"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    media_type: Mapped[str]
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes] = mapped_column(sa.LargeBinary)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


def read_settings(account_id: int) -> dict[str, Any]:
    """What the account has set of its way to travel, by column; nothing that was never set."""
    with transaction(account_id) as session:
        row = session.execute(_SETTINGS).one_or_none()
    return {name: value for name, value in row._mapping.items() if value} if row else {}


def read_avoided_airlines(session: Session, account_ids: Iterable[int]) -> dict[int, list[str]]:
    """The codes of each account; those who avoid none are absent."""
    query = sa.select(Profile.account_id, Profile.avoided_airlines).where(Profile.account_id.in_(sorted(account_ids)))
    return {account_id: codes for account_id, codes in session.execute(query) if codes}


def find_time_zone(session: Session, account_id: int) -> str | None:
    """The zone the person chose, or None."""
    return session.scalar(sa.select(Profile.timezone).where(Profile.account_id == account_id))


class ProvedChannel(NamedTuple):
    """A channel besides mail that the person has proved, and the kinds of messages wanted there."""

    id: int
    kind: str
    name: str
    wanted_kinds: list[str]


class Addressee(NamedTuple):
    """Where an account can be written to, and which kinds of mail the person wants."""

    id: int
    email: str | None
    email_confirmed_at: datetime | None
    mail_switches: dict[str, bool]
    channels: tuple[ProvedChannel, ...] = ()
    currency: str | None = None  # None: as each source gives its prices

    def wants_by_channel(self, kind: str) -> bool:
        return any(kind in channel.wanted_kinds for channel in self.channels)


_MAIL_COLUMNS = ", ".join(f"mail_{kind}" for kind in MAILS)
_ADDRESSEE = sa.text(f"""
select id, email, email_confirmed_at, {_MAIL_COLUMNS}, profiles.currency, array(
  select jsonb_build_array(c.id, c.kind, c.name, c.wanted_kinds) from message_channels c
  where c.account_id = accounts.id and c.proved_at is not null order by c.id)
from accounts left join profiles on account_id = id where id = any(:ids)""")  # noqa: S608 - names of ours


def find_addressee(session: Session, account_id: int) -> Addressee:
    return find_addressees(session, [account_id])[account_id]


def find_addressees(session: Session, account_ids: Iterable[int]) -> dict[int, Addressee]:
    """By account, all in one statement."""
    rows = session.execute(_ADDRESSEE, {"ids": sorted(set(account_ids))})
    return {row.id: _to_addressee(*row) for row in rows}


def _to_addressee(id: int, email: str | None, confirmed: datetime | None, *choices: Any) -> Addressee:
    *switches, currency, channels = choices
    set_ = {kind: on for kind, on in zip(MAILS, switches, strict=True) if on is not None}
    proved = tuple(ProvedChannel(*channel) for channel in channels)
    return Addressee(id, email, confirmed, MAILS | set_, proved, currency)
