"""Text messages by Twilio."""

from shared.outbox.channels import Begin, Letter, twilio
from shared.outbox.phone_codes import LIFETIME
from shared.settings import settings

# Later than that a carrier drops it: no one wants yesterday's delay, and a code has ended.
VALID_SECONDS, CODE_SECONDS = 3600, int(LIFETIME.total_seconds())


def ready() -> bool:
    """Whether the operator set this channel up."""
    return twilio.is_allowed() and bool(settings().twilio_sms_from)


def send(letter: Letter, begin: Begin) -> None:
    sender = settings().twilio_sms_from or ""
    kind = "MessagingServiceSid" if sender.startswith("MG") else "From"
    seconds = str(CODE_SECONDS if letter.message.is_code else VALID_SECONDS)
    twilio.post({"To": letter.recipient, kind: sender, "Body": letter.message.text, "ValidityPeriod": seconds}, begin)
