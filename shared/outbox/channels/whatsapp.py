"""WhatsApp messages by Twilio, as the operator's approved template.

Anyone who has not written first may be sent an approved template only, so without one this channel does not exist.
"""

import json

from shared.outbox.channels import Begin, Letter, twilio
from shared.settings import settings


def ready() -> bool:
    """Whether the operator set this channel up, template included."""
    s = settings()
    return twilio.is_allowed() and bool(s.twilio_whatsapp_from and s.twilio_whatsapp_content_sid)


def can_send_codes() -> bool:
    """Whether there is a template for codes too, which is of a separate kind (authentication)."""
    s = settings()
    return twilio.is_allowed() and bool(s.twilio_whatsapp_from and s.twilio_whatsapp_code_content_sid)


def send(letter: Letter, begin: Begin) -> None:
    s = settings()
    template = s.twilio_whatsapp_code_content_sid if letter.message.is_code else s.twilio_whatsapp_content_sid
    filled = {str(number): text for number, text in enumerate(letter.message.blanks, start=1)}
    twilio.post(
        {
            "To": f"whatsapp:{letter.recipient}",
            "From": f"whatsapp:{s.twilio_whatsapp_from}",
            "ContentSid": template or "",
            "ContentVariables": json.dumps(filled, ensure_ascii=False),
        },
        begin,
    )
