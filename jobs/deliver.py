"""Deliveries: a wake-up call with an id goes in; the message is worded, handed to its channel, and the end recorded."""

import logging
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs.queue import More, drain
from shared import clock
from shared.db.accounts import Account
from shared.db.base import autocommit, transaction
from shared.db.delay_alerts import leave_channel
from shared.db.messages import (
    ClaimedDelivery,
    begin_hand_over,
    claim_delivery,
    mark_sent,
    mark_unsent,
    retry_delivery,
)
from shared.domain.retries import MAX_ATTEMPTS, wait_after
from shared.outbox.channels import Begin, Letter, NotSent, email, outbox_files, sms, whatsapp
from shared.outbox.enqueue import tell
from shared.outbox.wording.messages import is_noticed, message, short, subject
from shared.secrets import unseal
from shared.settings import settings

log = logging.getLogger(__name__)
_MAILERS = {"smtp": email.send, "outbox": outbox_files.send}
_PHONES = {"sms": sms.send, "whatsapp": whatsapp.send}
_GOOD_FOR = {"delay_alert": timedelta(hours=1)}  # what nobody wants to hear later than that


class TakenOver(Exception):
    """Another worker holds the row: this one was too slow and must not send."""


def wake(delivery_id: str | None = None) -> int:
    """The entry RQ calls; without an id the message that waits longest comes first. Returns how many it worked on."""
    return drain(_claim(delivery_id) if delivery_id else None, _claim, work)


def _claim(id: str | None = None) -> ClaimedDelivery | None:
    with autocommit() as session:
        return claim_delivery(session, settings().job_lease_seconds, id)


def work(parcel: ClaimedDelivery, more: More) -> ClaimedDelivery | None:
    """One attempt, whatever happens in it; its end is committed alone, and then the next one is claimed."""
    if parcel.found == "handing_over":
        _end(parcel, "uncertain", "its worker was lost while it was handed over")
    elif parcel.attempt > MAX_ATTEMPTS:
        _end(parcel, "failed", "its workers were lost")
    else:
        _send(parcel)
    return _claim() if more() else None


def _send(parcel: ClaimedDelivery) -> None:
    begun = False

    def begin() -> None:
        nonlocal begun
        with autocommit() as session:
            if not begin_hand_over(session, parcel):
                raise TakenOver
        begun = True

    try:
        _sender(parcel.channel)(_letter(parcel), begin)
    except TakenOver:
        return
    except NotSent as no:
        _not_sent(parcel, no)
    except Exception as error:  # the edge: before the hand-over it can be repeated, after it nobody knows
        log.warning("delivery %s: %s in attempt %s", parcel.id, type(error).__name__, parcel.attempt)
        if begun:
            _end(parcel, "uncertain", f"the connection broke while it was handed over ({type(error).__name__})")
        else:
            _not_sent(parcel, NotSent(type(error).__name__))
    else:
        with autocommit() as session:
            mark_sent(session, parcel)


def _sender(channel: str) -> Callable[[Letter, Begin], None]:
    return _PHONES[channel] if channel in _PHONES else _MAILERS[settings().mail_backend]


def _letter(parcel: ClaimedDelivery) -> Letter:
    """Raises NotSent when there is nothing (any more) to send."""
    if clock.now() - parcel.created_at > _GOOD_FOR.get(parcel.event, timedelta.max):
        raise NotSent("it was too late to say so", permanent=True)
    if parcel.channel not in _PHONES:
        worded = message(parcel.event, parcel.facts, sandbox=parcel.synthetic, account=parcel.public_id)
        return Letter(str(parcel.id), parcel.recipient, worded, parcel.created_at)
    number = unseal(settings().encryption_keys, parcel.facts["phone_sealed"])
    if number is None:
        raise NotSent("the number was sealed with a key that is gone", permanent=True)
    worded = short(parcel.event, parcel.facts, sandbox=parcel.synthetic)
    return Letter(str(parcel.id), number, worded, parcel.created_at)


def _not_sent(parcel: ClaimedDelivery, no: NotSent) -> None:
    wait = None if no.permanent else wait_after(parcel.attempt)
    if wait is None:
        _end(parcel, "failed", no.reason, unwanted=no.unwanted)
        return
    with autocommit() as session:
        retry_delivery(session, parcel, wait, no.reason)


def _end(parcel: ClaimedDelivery, status: str, reason: str, *, unwanted: bool = False) -> None:
    """The end without success: for the operator in the row and the log, for the user in the inbox."""
    with transaction() as session:
        if mark_unsent(session, parcel, status, reason):
            log.error("delivery %s is %s: %s", parcel.id, status, reason)
            _tell(session, parcel, status, unwanted=unwanted)
            if unwanted:
                leave_channel(session, parcel.account_id, parcel.channel, parcel.recipient.removeprefix("…"))


def _tell(session: Session, parcel: ClaimedDelivery, status: str, *, unwanted: bool) -> None:
    account = session.get(Account, parcel.account_id)
    if account is not None:
        facts = {
            "subject": subject(parcel.event, parcel.facts, sandbox=parcel.synthetic),
            "recipient": parcel.recipient,
            "noticed": is_noticed(parcel.event),
            "channel": parcel.channel,
            "unwanted": unwanted,
        }
        tell(session, account, f"mail_{status}", facts, dedupe_key=f"delivery:{parcel.id}:{status}")
