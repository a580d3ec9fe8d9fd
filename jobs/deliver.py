"""The delivery of messages: one attempt at a time, handed to the message's channel and recorded (an outbox)."""

import logging
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs.queue import DELIVERIES, drain
from jobs.runs import AWAITED_RUNS
from shared import clock
from shared.db.accounts import Account
from shared.db.base import autocommit, transaction
from shared.db.delay_alerts import leave_channel
from shared.db.maintenance import WATCH
from shared.db.message_channels import MessageChannel, find_channel, stop_channel
from shared.db.messages import (
    ClaimedDelivery,
    begin_hand_over,
    claim_delivery,
    mark_sent,
    mark_unsent,
    postpone_delivery,
    retry_delivery,
)
from shared.domain.quiet_hours import find_quiet_end
from shared.domain.retries import MAX_ATTEMPTS, wait_after
from shared.domain.watch_kinds import KIND_OF_EVENT
from shared.limits import hit, peek
from shared.outbox.channels import Letter, NotSent, email, outbox_files, personal, sms, whatsapp
from shared.outbox.channels.receivers import is_ready
from shared.outbox.enqueue import tell
from shared.outbox.phone_codes import LIFETIME
from shared.outbox.wording.briefs import CODE_EVENT, word_brief
from shared.outbox.wording.messages import AT_ONCE, MAIL_KINDS, is_noticed, message, short, subject
from shared.secrets import unseal
from shared.settings import settings
from shared.telemetry.call_context import label_work
from shared.telemetry.metrics import DELIVERY_ATTEMPTS, count
from shared.telemetry.traces import continue_trace, span

# Messages to the channels that people set up: quiet hours, limits and addresses.

PER_HOUR = 30  # messages to one channel
BREAKS_PER_HOUR = 5  # broken connections after which a channel waits for the next hour: each may take five seconds
MAX_AGE = timedelta(days=1)  # of a message that waited for quiet hours to end, or for its turn
_HOUR_SECONDS = 3600


class Postponed(Exception):
    """It goes out later; nothing was tried. The database's clock measures the wait, as it decides what is due."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait


class Dropped(Exception):
    """The person chose not to get it; the text is for the operator."""


def build_letter(parcel: ClaimedDelivery, max_age: timedelta | None) -> Letter:
    """Raises Postponed, Dropped, or NotSent. `max_age` is for messages that cannot wait."""
    channel_id = parcel.facts["channel_id"]
    with autocommit() as session:
        channel = find_channel(session, parcel.account_id, channel_id)
    if channel is None or not is_ready():
        raise Dropped("the channel was removed, or the operator allows none")
    if parcel.event != CODE_EVENT:
        if channel.proved_at is None or MAIL_KINDS[parcel.event] not in channel.wanted_kinds:
            raise Dropped("the channel takes no such messages any longer")
        if parcel.age > MAX_AGE:
            raise Dropped("it waited for a day")
        _check_time(channel, parcel, max_age)
    address = unseal(settings().encryption_keys, channel.address_sealed)
    if address is None:
        raise NotSent("the address was sealed with a key that is gone", permanent=True)
    content = word_brief(parcel.event, parcel.facts, sandbox=parcel.synthetic)
    return Letter(str(parcel.id), address, content, parcel.created_at)


def _check_time(channel: MessageChannel, parcel: ClaimedDelivery, max_age: timedelta | None) -> None:
    now = clock.now()
    quiet_end = find_quiet_end(now, parcel.time_zone, channel.quiet_from, channel.quiet_until)
    if quiet_end is not None:
        raise Dropped("it was the quiet of this channel") if max_age else Postponed(quiet_end - now)
    if not (breaks := peek(_name_breaks(channel.id), BREAKS_PER_HOUR, _HOUR_SECONDS)).allowed:
        raise Postponed(timedelta(seconds=breaks.retry_after))
    if not (verdict := hit(f"channel:sent:{channel.id}", PER_HOUR, _HOUR_SECONDS)).allowed:
        raise Postponed(timedelta(seconds=verdict.retry_after))


def _name_breaks(channel_id: int) -> str:
    return f"channel:breaks:{channel_id}"


def note_break(parcel: ClaimedDelivery) -> None:
    """Notes that a connection to the channel broke or took too long."""
    if "channel_id" in parcel.facts:
        hit(_name_breaks(parcel.facts["channel_id"]), BREAKS_PER_HOUR, _HOUR_SECONDS)


log = logging.getLogger(__name__)
_MAILERS = {"smtp": email.send, "outbox": outbox_files.send}
_PHONES = {"sms": sms.send, "whatsapp": whatsapp.send}
# An older message of this event is not sent.
_MAX_AGE = {"phone_code": LIFETIME, CODE_EVENT: LIFETIME} | {
    event: kind.max_age for event, kind in KIND_OF_EVENT.items() if kind.max_age
}


class TakenOver(Exception):
    """Another worker holds the row: this one was too slow and must not send."""


def wake(delivery_id: str | None = None) -> int:
    """RQ's entry point; without an id it starts with the account served longest ago. Returns how many it worked on."""
    if WATCH.read():
        return 0  # the dispatcher wakes it again afterwards
    return drain(DELIVERIES, _claim(delivery_id) if delivery_id else None, _claim, _work)


def _claim(id: str | None = None) -> ClaimedDelivery | None:
    with autocommit() as session:
        return claim_delivery(session, settings().job_lease_seconds, id, AT_ONCE)


def _work(parcel: ClaimedDelivery) -> None:
    work(parcel)
    AWAITED_RUNS.work()


def work(parcel: ClaimedDelivery) -> None:
    """Makes one attempt, whatever happens in it; its end is committed separately."""
    parent, name = continue_trace(parcel.traceparent), f"delivery {parcel.event}"
    with label_work(f"delivery-{parcel.id}", parcel.public_id), span(name, parent, channel=parcel.channel):
        if parcel.status_before == "handing_over":
            _give_up(parcel, "uncertain", "its worker was lost while it was handed over")
        elif parcel.attempt > MAX_ATTEMPTS:
            _give_up(parcel, "failed", "its workers were lost")
        else:
            _send(parcel)


def _send(parcel: ClaimedDelivery) -> None:
    has_begun = False

    def begin() -> None:
        nonlocal has_begun
        with autocommit() as session:
            if not begin_hand_over(session, parcel):
                raise TakenOver
        has_begun = True

    try:
        channel = parcel.channel
        senders = _PHONES | personal.SENDERS
        (senders[channel] if channel in senders else _MAILERS[settings().mail_backend])(_build_letter(parcel), begin)
    except TakenOver:
        return
    except Postponed as later:
        with autocommit() as session:
            postpone_delivery(session, parcel, later.wait)
        count(DELIVERY_ATTEMPTS, parcel.channel, "postponed")
    except Dropped as reason:
        with autocommit() as session:
            mark_unsent(session, parcel, "failed", str(reason))
        count(DELIVERY_ATTEMPTS, parcel.channel, "dropped")
    except NotSent as refusal:
        _retry_or_fail(parcel, refusal)
    except Exception as error:  # the edge: before the hand-over it can be repeated; afterwards its fate is unknown
        log.warning("delivery %s: %s in attempt %s", parcel.id, type(error).__name__, parcel.attempt)
        note_break(parcel)
        if has_begun:
            _give_up(parcel, "uncertain", f"the connection broke while it was handed over ({type(error).__name__})")
        else:
            _retry_or_fail(parcel, NotSent(type(error).__name__))
    else:
        with autocommit() as session:
            mark_sent(session, parcel)
        count(DELIVERY_ATTEMPTS, parcel.channel, "sent")


def _build_letter(parcel: ClaimedDelivery) -> Letter:
    """Raises NotSent if there is nothing (left) to send."""
    if parcel.age > _MAX_AGE.get(parcel.event, timedelta.max):
        raise NotSent("it was too late to say so", permanent=True)
    if parcel.channel in personal.SENDERS:
        return build_letter(parcel, _MAX_AGE.get(parcel.event))
    if parcel.channel not in _PHONES:
        content = message(
            parcel.event,
            parcel.facts,
            sandbox=parcel.synthetic,
            account=parcel.public_id,
            time_zone=parcel.time_zone,
        )
        return Letter(str(parcel.id), parcel.recipient, content, parcel.created_at)
    number = unseal(settings().encryption_keys, parcel.facts["phone_sealed"])
    if number is None:
        raise NotSent("the number was sealed with a key that is gone", permanent=True)
    content = short(parcel.event, parcel.facts, sandbox=parcel.synthetic)
    return Letter(str(parcel.id), number, content, parcel.created_at)


def _retry_or_fail(parcel: ClaimedDelivery, refusal: NotSent) -> None:
    wait = None if refusal.permanent else wait_after(parcel.attempt)
    if wait is None:
        _give_up(parcel, "failed", refusal.reason, unwanted=refusal.unwanted)
        return
    with autocommit() as session:
        retry_delivery(session, parcel, wait, refusal.reason)
    count(DELIVERY_ATTEMPTS, parcel.channel, "retried")


def _give_up(parcel: ClaimedDelivery, status: str, reason: str, *, unwanted: bool = False) -> None:
    """Records the failure: for the operator in the row and the log, for the user in the inbox."""
    with transaction() as session:
        if mark_unsent(session, parcel, status, reason):
            log.error("delivery %s is %s: %s", parcel.id, status, reason)
            count(DELIVERY_ATTEMPTS, parcel.channel, status)
            _notify(session, parcel, status, unwanted=unwanted)
            if unwanted and parcel.event == "delay_alert" and parcel.channel in _PHONES:
                leave_channel(session, parcel.account_id, parcel.channel, parcel.recipient.removeprefix("…"))
            if unwanted and parcel.channel in personal.SENDERS:
                stop_channel(session, parcel.account_id, parcel.facts["channel_id"])


def _notify(session: Session, parcel: ClaimedDelivery, status: str, *, unwanted: bool) -> None:
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
