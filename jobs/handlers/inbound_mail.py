"""The run of a forwarded confirmation: its claim goes in, what is to be written about the mail comes out."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from shared.db.runs import Claim
from shared.services.bookings.inbound_mail import give_up, read, settle


def check(claim: Claim) -> Callable[[Session], str | None]:
    """Reads the mail outside any transaction, and leaves the writing to the run's holder."""
    found = read(claim.subject_id)
    return partial(_settle, claim.subject_id, found)


def _settle(number: int, found: object, session: Session) -> str | None:
    return settle(session, number, found)  # type: ignore[arg-type]


def lost(session: Session, claim: Claim) -> None:
    """No attempt came to an end: the mail stays, and says so."""
    give_up(session, claim.subject_id)
