"""Mail handed to a real SMTP server: accepted, refused, and cut off on either side of the point of no return."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.outbox.channels import Letter, NotSent
from shared.outbox.channels.email import compose, send
from shared.outbox.wording.messages import Message
from tests.support.mail_server import Mailbox, free_port, mail_server
from tests.support.settings_and_clock import Configure

WRITTEN = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


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


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, secret


def test_a_server_asking_for_tls_and_a_password_is_served_only_when_its_certificate_holds(
    configure: Configure, certificate: tuple[Path, Path]
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with mail_server(tls_context=context, require_starttls=True, auth_required=True) as box:
        server = {"MAIL_BACKEND": "smtp", "SMTP_PORT": box.port, "SMTP_SECURITY": "starttls", "SMTP_USERNAME": "award"}
        configure(**server, SMTP_PASSWORD="right")
        with pytest.raises(NotSent, match="SSLCertVerificationError"):
            sent(letter())
        configure(SSL_CERT_FILE=certificate[0])
        assert sent(letter()) == ["begun", "accepted"]
        configure(SMTP_PASSWORD="wrong")
        with pytest.raises(NotSent, match="refused the sign-in"):
            sent(letter())
        assert set(box.signed_in) == {"award:right", "award:wrong"}
        assert len(box.taken) == 1
