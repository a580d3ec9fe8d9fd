"""Phone numbers of people, each proved by a code before anything else is sent to it."""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, stamp
from shared.secrets import sign, unseal
from shared.settings import settings


class PhoneNumber(AccountOwned, Numbered):
    """A number of one account, proved or waiting for its code; another account may prove the same number."""

    __tablename__ = "phone_numbers"
    __table_args__ = (sa.UniqueConstraint("account_id", "number_hash"),)

    number_sealed: Mapped[str]
    number_hash: Mapped[str]  # keyed, because all numbers can be tried
    phone_ending: Mapped[str]  # the last three digits, to show
    code_hash: Mapped[str | None]  # keyed, because all codes can be tried
    code_sent_at: Mapped[datetime | None]
    code_tries: Mapped[int] = mapped_column(server_default="0")  # wrong attempts since it was sent
    proved_at: Mapped[datetime | None]
    created_at: Mapped[stamp]


def hash_number(number: str) -> list[str]:
    """The hashes of a number, under each key of the settings, the newest first."""
    return [sign(material, f"phone number\0{number}") for material in settings().encryption_keys]


def list_proved(session: Session, account_id: int) -> set[str]:
    """The hashes of the account's proved numbers."""
    proved = (PhoneNumber.account_id == account_id, PhoneNumber.proved_at.is_not(None))
    return set(session.scalars(sa.select(PhoneNumber.number_hash).where(*proved)))


def is_proved(number_sealed: str, proved: Collection[str]) -> bool:
    """Whether a number is one of `list_proved`; one with a deleted key is not."""
    number = unseal(settings().encryption_keys, number_sealed)
    return number is not None and any(value in proved for value in hash_number(number))
