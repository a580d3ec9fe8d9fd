"""The run of a forwarded booking confirmation: reads the mail and files its bookings."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

# Loaded here, since each mail is read in a process forked from this one.
import shared.domain.confirmations.excerpts
import shared.domain.confirmations.mail_reader
import shared.services.bookings.mail_senders  # noqa: F401
from shared.db.runs import Claim, RunResult
from shared.services.bookings.inbound_mail import read_stored, settle, settle_lost


def check(claim: Claim) -> Callable[[Session], RunResult]:
    return partial(settle, number=claim.subject_id, letter=read_stored(claim.subject_id))


def give_up_mail(session: Session, claim: Claim) -> None:
    """Keeps the mail and shows it as failed."""
    settle_lost(session, claim.subject_id)
