"""Letters to the channels that people set up: quiet hours, limits and addresses."""

from datetime import timedelta

from shared import clock
from shared.db.base import autocommit
from shared.db.message_channels import MessageChannel, find_channel
from shared.db.messages import ClaimedDelivery
from shared.domain.quiet_hours import find_quiet_end
from shared.limits import hit, peek
from shared.outbox.channels import Letter, NotSent
from shared.outbox.channels.receivers import is_ready
from shared.outbox.wording.briefs import CODE_EVENT, word_brief
from shared.outbox.wording.messages import MAIL_KINDS
from shared.secrets import unseal
from shared.settings import settings

PER_HOUR = 30  # messages to one channel
BREAKS_PER_HOUR = 5  # after so many broken connections a channel waits for the next hour: each may take five seconds
MAX_AGE = timedelta(days=1)  # of a message that waited for quiet to end, or for its turn
_HOUR_SECONDS = 3600


class Postponed(Exception):
    """It goes out later; nothing was tried. The database's clock measures the wait, as its clock says what is due."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait


class Dropped(Exception):
    """It goes out nowhere, by the person's own choice; the text is for the operator."""


def build_letter(parcel: ClaimedDelivery, max_age: timedelta | None) -> Letter:
    """Raises Postponed, Dropped, or NotSent. `max_age` is that of messages that cannot wait."""
    channel_id = parcel.facts["channel_id"]
    with autocommit() as session:
        channel = find_channel(session, parcel.account_id, channel_id)
    if channel is None or not is_ready():
        raise Dropped("the channel was removed, or the operator allows none")
    if parcel.event != CODE_EVENT:
        _check_wish(channel, parcel)
        _check_time(channel, parcel, max_age)
    address = unseal(settings().encryption_keys, channel.address_sealed)
    if address is None:
        raise NotSent("the address was sealed with a key that is gone", permanent=True)
    content = word_brief(parcel.event, parcel.facts, sandbox=parcel.synthetic)
    return Letter(str(parcel.id), address, content, parcel.created_at)


def _check_wish(channel: MessageChannel, parcel: ClaimedDelivery) -> None:
    if channel.proved_at is None or MAIL_KINDS[parcel.event] not in channel.wanted_kinds:
        raise Dropped("the channel takes no such messages any longer")
    if parcel.age > MAX_AGE:
        raise Dropped("it waited for a day")


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
    """A connection to the channel broke or took too long."""
    if "channel_id" in parcel.facts:
        hit(_name_breaks(parcel.facts["channel_id"]), BREAKS_PER_HOUR, _HOUR_SECONDS)
