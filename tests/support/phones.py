"""Phone numbers that a test needs proved, without the page and its code."""

from sqlalchemy import select

from shared import clock
from shared.db.base import transaction
from shared.db.phones import PhoneNumber, hash_number
from shared.domain.phone_numbers import find_ending
from shared.secrets import seal
from shared.settings import settings


def prove_number(account_id: int, number: str) -> None:
    """One that is proved already stays as it is."""
    with transaction(account_id) as session:
        same = (PhoneNumber.account_id == account_id, PhoneNumber.number_hash == hash_number(number)[0])
        if session.scalar(select(PhoneNumber.id).where(*same)) is None:
            row = PhoneNumber(
                number_sealed=seal(settings().encryption_keys[0], number),
                number_hash=hash_number(number)[0],
                phone_ending=find_ending(number),
                proved_at=clock.now(),
            )
            session.add(row)
