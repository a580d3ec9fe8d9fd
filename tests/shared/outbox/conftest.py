"""Settings changed for one test; a mail server and a message service on loopback whose behaviour a test chooses."""

from collections.abc import Iterator

import pytest

from tests.support.fake_sms import Carrier, carrier
from tests.support.mail_server import Mailbox, mail_server
from tests.support.settings_and_clock import Configure


@pytest.fixture
def mailbox(configure: Configure) -> Iterator[Mailbox]:
    """A server that takes mail; the process is set to use it."""
    with mail_server() as box:
        configure(MAIL_BACKEND="smtp", SMTP_PORT=box.port, SMTP_SECURITY="none", MAIL_FROM="Award <award@example.test>")
        yield box


@pytest.fixture
def phones(configure: Configure) -> Iterator[Carrier]:
    """A service that takes messages to phones; the process is set to use it."""
    with carrier() as service:
        configure(
            TWILIO_ACCOUNT_SID="AC1",
            TWILIO_AUTH_TOKEN="secret-token",
            TWILIO_SMS_FROM="+15005550006",
            TWILIO_WHATSAPP_FROM="+14155550199",
            TWILIO_WHATSAPP_CONTENT_SID="HX1",
            TWILIO_BASE_URL=service.address,
            SANDBOX_ALLOW_MESSAGES="1",
        )
        yield service
