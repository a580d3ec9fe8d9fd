"""Text messages by Twilio."""

from shared.outbox.channels import Begin, Letter, twilio
from shared.settings import settings

VALID_SECONDS = "3600"  # later than that a carrier drops it: nobody wants yesterday's delay


def ready() -> bool:
    """Whether the operator set this channel up."""
    return twilio.is_allowed() and bool(settings().twilio_sms_from)


def send(letter: Letter, begin: Begin) -> None:
    sender = settings().twilio_sms_from or ""
    kind = "MessagingServiceSid" if sender.startswith("MG") else "From"
    twilio.post(
        {"To": letter.recipient, kind: sender, "Body": letter.message.text, "ValidityPeriod": VALID_SECONDS}, begin
    )
