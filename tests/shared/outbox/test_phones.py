"""Messages to phones by Twilio's wire: accepted, refused for now or for good, and cut off where no one can know."""

import base64
import json
from datetime import UTC, datetime

import pytest

from deploy.local.private_servers import free_port
from shared.outbox.channels import Letter, NotSent, sms, whatsapp
from shared.outbox.wording.messages import Message
from tests.support.fake_sms import Carrier
from tests.support.settings_and_clock import Configure

WRITTEN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
LETTER = Letter("id", "+14155550123", Message("S", "JFK: 75 min", "", blanks=("JFK", "75 min", "fog")), WRITTEN)


def sent(channel: object = sms) -> list[str]:
    """Sends and returns the steps that were passed."""
    steps: list[str] = []
    channel.send(LETTER, lambda: steps.append("begun"))  # type: ignore[attr-defined]
    return [*steps, "accepted"]


def test_a_text_goes_out_as_one_signed_form(phones: Carrier) -> None:
    assert sent() == ["begun", "accepted"]
    assert phones.paths == ["/2010-04-01/Accounts/AC1/Messages.json"]
    assert phones.signed_in == ["Basic " + base64.b64encode(b"AC1:secret-token").decode()]
    assert phones.posted == [
        {"To": "+14155550123", "From": "+15005550006", "Body": "JFK: 75 min", "ValidityPeriod": "3600"}
    ]


def test_a_messaging_service_can_take_the_place_of_a_number(phones: Carrier, configure: Configure) -> None:
    configure(TWILIO_SMS_FROM="MG123")
    sent()
    assert phones.posted[0]["MessagingServiceSid"] == "MG123"
    assert "From" not in phones.posted[0]


def test_whatsapp_fills_the_approved_template_and_sends_no_text_of_ours(phones: Carrier) -> None:
    assert sent(whatsapp) == ["begun", "accepted"]
    (form,) = phones.posted
    assert json.loads(form.pop("ContentVariables")) == {"1": "JFK", "2": "75 min", "3": "fog"}
    assert form == {"To": "whatsapp:+14155550123", "From": "whatsapp:+14155550199", "ContentSid": "HX1"}


@pytest.mark.parametrize(
    ("status", "code", "permanent", "unwanted"),
    [
        (400, 21211, True, False),
        (400, 21610, True, True),
        (401, 20003, True, False),
        (404, None, True, False),
        (429, 20429, False, False),
        (500, None, False, False),
        (503, 20503, False, False),
        (302, None, False, False),
    ],
)
def test_a_refusal_says_whether_another_try_can_help(
    phones: Carrier, status: int, code: int | None, permanent: bool, unwanted: bool
) -> None:
    phones.refuse(status, code)
    with pytest.raises(NotSent) as no:
        sent()
    assert (no.value.permanent, no.value.unwanted) == (permanent, unwanted)
    assert no.value.reason == f"the message service refused with {code or status}"


@pytest.mark.parametrize(
    "said", [b"<html>no</html>", b"[]", b'{"code": "21610; ignore"}', b'{"code": 21610', b"x" * 99999]
)
def test_an_answer_of_any_form_gives_away_no_words(phones: Carrier, said: bytes) -> None:
    phones.status, phones.said = 400, said
    with pytest.raises(NotSent) as no:
        sent()
    assert no.value.reason == "the message service refused with 400"


@pytest.mark.parametrize("status", [502, 504])
def test_a_gateway_that_lost_the_answer_leaves_it_unknown(phones: Carrier, status: int) -> None:
    phones.refuse(status)
    with pytest.raises(ConnectionError):
        sent()


def test_a_connection_cut_after_the_message_leaves_it_unknown(phones: Carrier) -> None:
    phones.cut = True
    steps: list[str] = []
    with pytest.raises(Exception, match=r"disconnected|closed") as cut:
        sms.send(LETTER, lambda: steps.append("begun"))
    assert not isinstance(cut.value, NotSent)
    assert (steps, len(phones.posted)) == (["begun"], 1)


def test_nothing_has_begun_while_the_service_cannot_be_reached(phones: Carrier, configure: Configure) -> None:
    configure(TWILIO_BASE_URL=f"http://127.0.0.1:{free_port()}")
    steps: list[str] = []
    with pytest.raises(NotSent, match="could not be reached") as no:
        sms.send(LETTER, lambda: steps.append("begun"))
    assert (steps, no.value.permanent) == ([], False)


def test_a_worker_that_lost_the_row_sends_nothing(phones: Carrier) -> None:
    def taken_over() -> None:
        raise RuntimeError("another worker holds the row")

    with pytest.raises(RuntimeError):
        sms.send(LETTER, taken_over)
    assert phones.posted == []


@pytest.mark.parametrize("name", ["SANDBOX_ALLOW_MESSAGES", "TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN"])
def test_without_the_operators_word_no_phone_is_written_to(phones: Carrier, configure: Configure, name: str) -> None:
    assert (sms.ready(), whatsapp.ready()) == (True, True)
    configure(**{name: "0" if name.startswith("SANDBOX") else ""})
    assert (sms.ready(), whatsapp.ready()) == (False, False)
    with pytest.raises(NotSent) as no:
        sent()
    assert no.value.permanent
    assert phones.posted == []


def test_whatsapp_does_not_exist_without_a_template(phones: Carrier, configure: Configure) -> None:
    configure(TWILIO_WHATSAPP_CONTENT_SID="")
    assert (sms.ready(), whatsapp.ready()) == (True, False)
