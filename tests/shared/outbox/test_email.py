"""Mail handed to a real SMTP server: accepted, refused, and cut off on either side of the point of no return."""

from datetime import UTC, datetime, timedelta

import pytest

from deploy.local.private_servers import free_port
from shared.outbox.channels import Letter, NotSent
from shared.outbox.channels.email import compose, send, try_handshake
from shared.outbox.wording.messages import Message
from tests.support.certificates import Authority, authority
from tests.support.mail_server import Mailbox, mail_server
from tests.support.settings_and_clock import Configure

__all__ = ["authority"]
WRITTEN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)
UNKNOWN = "its certificate is from an authority that this machine does not trust: name the file of that authority in "
UNKNOWN += "CA_BUNDLE"


def letter(subject: str = "Seats found", recipient: str = "alice@example.test") -> Letter:
    return Letter("0b0e7d5e-1111", recipient, Message(subject, "plain words é\n.dot\n", "<p>html é</p>"), WRITTEN)


def sent(one: Letter) -> list[str]:
    """Sends and returns the steps that were passed."""
    steps: list[str] = []
    send(one, lambda: steps.append("begun"))
    return [*steps, "accepted"]


def test_mail_has_a_plain_and_an_html_form_and_the_delivery_id_as_its_message_id(mailbox: Mailbox) -> None:
    assert sent(letter()) == ["begun", "accepted"]
    (mail,) = mailbox.mails
    assert mail["Message-ID"] == "<0b0e7d5e-1111@example.test>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["To"] == "alice@example.test"
    assert mail["From"] == "Award <award@example.test>"
    assert mail["Date"] == "Sat, 21 Nov 2026 06:00:00 +0000"
    assert mail.get_content_type() == "multipart/alternative"
    plain, html = mail.iter_parts()
    assert plain.get_content().replace("\r\n", "\n") == "plain words é\n.dot\n"
    assert html.get_content_type() == "text/html"
    assert "<p>html é</p>" in html.get_content()


def test_the_sender_calls_itself_by_the_name_of_its_own_mails(mailbox: Mailbox) -> None:
    sent(letter())
    assert mailbox.greeted == ["example.test"]


def test_a_mail_that_can_be_turned_off_carries_the_address_whole_for_one_click(mailbox: Mailbox) -> None:
    address = "https://travel.example.test/unsubscribe?token=" + "flight_alerts." + "a" * 160
    sent(Letter("id", "alice@example.test", Message("S", "t", "<p>h</p>", unsubscribe=address), WRITTEN))
    (mail,) = mailbox.mails
    assert mail["List-Unsubscribe"] == f"<{address}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert f"List-Unsubscribe: <{address}>".encode() in mailbox.taken[0]
    sent(letter())
    assert mailbox.mails[1]["List-Unsubscribe"] is None


def test_each_mail_has_its_own_headers_and_no_text_ends_a_part(mailbox: Mailbox) -> None:
    text = "--=_parts--\n\n--=_parts\nContent-Type: text/html\n"
    for number in (1, 2):
        one = Letter(f"id-{number}", f"p{number}@example.test", Message(f"S{number}", text, "<p>h</p>"), WRITTEN)
        assert sent(one) == ["begun", "accepted"]
    assert [(m["Subject"], m["To"]) for m in mailbox.mails] == [("S1", "p1@example.test"), ("S2", "p2@example.test")]
    for mail in mailbox.mails:
        plain, _html = mail.iter_parts()
        assert plain.get_content().replace("\r\n", "\n") == text


def test_a_long_subject_in_another_script_arrives_whole(mailbox: Mailbox) -> None:
    subject = "ロンドンから東京まで: 新しい特典航空券 " * 4
    sent(letter(subject.strip()))
    assert mailbox.mails[0]["Subject"] == subject.strip()


@pytest.mark.parametrize(
    ("step", "reply", "permanent"),
    [
        ("rcpt", "550 5.1.1 no such user", True),
        ("rcpt", "450 4.2.0 busy", False),
        ("data", "554 5.7.1 refused", True),
        ("data", "451 4.3.0 later", False),
    ],
)
def test_an_answer_of_the_server_says_surely_that_it_did_not_go_out(
    mailbox: Mailbox, step: str, reply: str, permanent: bool
) -> None:
    mailbox.replies[step] = reply
    with pytest.raises(NotSent) as no:
        sent(letter())
    assert no.value.permanent is permanent
    assert "no such user" not in no.value.reason
    assert not mailbox.taken


def test_a_cut_before_the_content_is_surely_not_sent(mailbox: Mailbox) -> None:
    mailbox.cut = "rcpt"
    steps: list[str] = []
    with pytest.raises(NotSent) as no:
        send(letter(), lambda: steps.append("begun"))
    assert (no.value.permanent, steps) == (False, [])


def test_a_cut_after_the_content_is_not_called_unsent(mailbox: Mailbox) -> None:
    mailbox.cut = "data"
    steps: list[str] = []
    with pytest.raises(OSError, match=r".*") as broken:
        send(letter(), lambda: steps.append("begun"))
    assert not isinstance(broken.value, NotSent)
    assert steps == ["begun"]
    assert len(mailbox.taken) == 1


def test_a_server_that_is_away_is_a_matter_of_trying_again(configure: Configure) -> None:
    configure(MAIL_BACKEND="smtp", SMTP_PORT=free_port(), SMTP_SECURITY="none")
    with pytest.raises(NotSent, match="could not be reached") as no:
        sent(letter())
    assert not no.value.permanent


@pytest.mark.parametrize("recipient", ["a@example.test\r\nBcc: b@example.test", "é@example.test"])
def test_an_address_that_cannot_be_written_fails_for_good(mailbox: Mailbox, recipient: str) -> None:
    with pytest.raises(NotSent) as no:
        sent(letter(recipient=recipient))
    assert no.value.permanent
    assert not mailbox.taken


def test_a_subject_cannot_smuggle_a_header() -> None:
    with pytest.raises(ValueError, match="linefeed"):
        compose(letter(subject="x\r\nBcc: evil@example.test"))


@pytest.mark.parametrize(
    ("address", "lasts", "words"),
    [
        ("127.0.0.1", timedelta(days=1), UNKNOWN),
        ("127.0.0.1", timedelta(days=-1), "its certificate has expired: renew it"),
        ("127.0.0.2", timedelta(days=1), "its certificate is for another name: use the name that stands in it"),
    ],
)
def test_a_fault_of_tls_is_told_as_what_it_is(
    configure: Configure, authority: Authority, address: str, lasts: timedelta, words: str
) -> None:
    context = authority.build_server_context(address, lasts=lasts)
    with mail_server(tls_context=context, require_starttls=True) as box:
        configure(MAIL_BACKEND="smtp", SMTP_PORT=box.port, SMTP_SECURITY="starttls")
        if words != UNKNOWN:
            configure(CA_BUNDLE=authority.bundle)
        with pytest.raises(NotSent) as no:
            sent(letter())
        assert no.value.reason == f"TLS with the mail server failed: {words}"
        assert not no.value.permanent


def test_a_handshake_is_tried_and_no_mail_is_sent(mailbox: Mailbox) -> None:
    try_handshake(5)
    assert (mailbox.taken, mailbox.greeted) == ([], [])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"SMTP_HOST": "mail.invalid"}, "the mail server's name is not known"),
        ({"SMTP_SECURITY": "starttls"}, "the mail server offers no STARTTLS"),
        ({"SMTP_SECURITY": "tls"}, "it does not speak TLS there"),
        ({"SMTP_USERNAME": "award", "SMTP_PASSWORD": "right"}, "the mail server offers no sign-in"),
    ],
)
def test_a_handshake_that_fails_says_at_what(
    mailbox: Mailbox, configure: Configure, settings: dict[str, str], words: str
) -> None:
    configure(**settings)
    with pytest.raises(NotSent, match=words):
        try_handshake(5)


def test_a_server_asking_for_tls_and_a_password_is_served_only_when_its_certificate_holds(
    configure: Configure, authority: Authority
) -> None:
    with mail_server(tls_context=authority.build_server_context(), require_starttls=True, auth_required=True) as box:
        server = {"MAIL_BACKEND": "smtp", "SMTP_PORT": box.port, "SMTP_SECURITY": "starttls", "SMTP_USERNAME": "award"}
        configure(**server, SMTP_PASSWORD="right")
        with pytest.raises(NotSent, match="an authority that this machine does not trust"):
            sent(letter())
        configure(CA_BUNDLE=authority.bundle)
        assert sent(letter()) == ["begun", "accepted"]
        configure(SMTP_PASSWORD="wrong")
        with pytest.raises(NotSent, match="refused the sign-in"):
            sent(letter())
        assert set(box.signed_in) == {"award:right", "award:wrong"}
        assert len(box.taken) == 1
