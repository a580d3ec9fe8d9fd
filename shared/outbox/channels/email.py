"""Mail by SMTP (RFC 5321): one message handed to the configured server."""

import email.policy
import smtplib
import socket
from contextlib import suppress
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from shared.outbox.channels import Begin, Letter, NotSent
from shared.settings import Settings, settings
from shared.tls import build_context, explain_tls_fault

_TIMEOUT_SECONDS = 20  # for each answer of the server
_BOUNDARY = "=_parts"  # never occurs in quoted-printable text, where = begins two digits or a line's end


# Wide enough that no header with an address is folded: one-click links (RFC 8058) must stay whole.
_POLICY = email.policy.SMTP.clone(max_line_length=900)


def compose(letter: Letter, encoding: str = "quoted-printable") -> EmailMessage:
    """Plain text with an HTML twin. Header values cannot carry line breaks: EmailMessage refuses them."""
    mail = EmailMessage(policy=_POLICY)
    # As the operator writes it; without a name there, under that of the service.
    name, address = parseaddr(settings().mail_from)
    mail["From"] = Address(name or settings().service_name, addr_spec=address)
    mail["To"] = letter.recipient
    mail["Subject"] = letter.message.subject
    mail["Date"] = format_datetime(letter.written_at)
    mail["Message-ID"] = f"<{letter.id}@{_domain()}>"
    mail["Auto-Submitted"] = "auto-generated"
    if letter.message.unsubscribe:
        mail["List-Unsubscribe"] = f"<{letter.message.unsubscribe}>"
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.set_content(letter.message.text, cte=encoding)
    mail.make_alternative(boundary=_BOUNDARY if encoding == "quoted-printable" else f"=_{letter.id}")
    mail.add_alternative(letter.message.html, subtype="html", cte=encoding)
    return mail


def _domain() -> str:
    return parseaddr(settings().mail_from)[1].rpartition("@")[2] or "localhost"


def send(letter: Letter, begin: Begin) -> None:
    """`begin` is called when all is agreed but the content: what breaks before it can be repeated, later it cannot."""
    try:
        content = compose(letter).as_bytes()
    except ValueError:
        raise NotSent("the message has no valid form", permanent=True) from None
    smtp = _open_for(letter.recipient)
    try:
        begin()
        _send_content(smtp, content)
        with suppress(OSError, smtplib.SMTPException):
            smtp.putcmd("quit")  # its answer can change nothing any longer
    finally:
        smtp.close()


def _send_content(smtp: smtplib.SMTP, content: bytes) -> None:
    try:
        code, _ = smtp.data(content)
    except smtplib.SMTPDataError as error:
        raise _build_refusal("DATA", error.smtp_code) from None
    if code != 250:
        raise _build_refusal("the content", code)


def _open_for(recipient: str) -> smtplib.SMTP:
    """A connection on which sender and recipient are accepted."""
    smtp: smtplib.SMTP | None = None
    try:
        smtp = _connect(settings())
        _name_parties(smtp, recipient)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        if smtp is not None:
            smtp.close()
        raise _explain_error(error) from None
    except BaseException:
        if smtp is not None:
            smtp.close()
        raise
    return smtp


def try_handshake(timeout: float) -> None:
    """Connects, starts TLS and signs in as for a mail, without sending one. Raises NotSent."""
    try:
        smtp = _connect(settings(), timeout)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise _explain_error(error) from None
    try:
        smtp.quit()
    except (OSError, smtplib.SMTPException):
        smtp.close()


def _connect(s: Settings, timeout: float = _TIMEOUT_SECONDS) -> smtplib.SMTP:
    context = build_context("smtp")
    ours = _domain()  # named, or the library asks the name service for each mail
    if s.smtp_security == "tls":
        return _sign_in(smtplib.SMTP_SSL(s.smtp_host, s.smtp_port, ours, timeout=timeout, context=context), s)
    smtp = smtplib.SMTP(s.smtp_host, s.smtp_port, ours, timeout=timeout)
    try:
        if s.smtp_security == "starttls":
            smtp.starttls(context=context)
        return _sign_in(smtp, s)
    except BaseException:
        smtp.close()
        raise


def _sign_in(smtp: smtplib.SMTP, s: Settings) -> smtplib.SMTP:
    if s.smtp_username and s.smtp_password:
        smtp.login(s.smtp_username, s.smtp_password.get_secret_value())
    smtp.ehlo_or_helo_if_needed()
    return smtp


def _name_parties(smtp: smtplib.SMTP, recipient: str) -> None:
    code, _ = smtp.mail(parseaddr(settings().mail_from)[1])
    if code != 250:
        raise _build_refusal("the sender", code)
    code, _ = smtp.rcpt(recipient)
    if code not in (250, 251):
        raise _build_refusal("the recipient", code)


def _build_refusal(what: str, code: int) -> NotSent:
    return NotSent(f"the mail server refused {what} with {code}", permanent=500 <= code <= 599)


def _explain_error(error: Exception) -> NotSent:
    """Describes a failure before the content in our words: a server's text may say anything."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return NotSent("the mail server refused the sign-in")
    if isinstance(error, smtplib.SMTPResponseException):
        return NotSent(f"the mail server refused the connection with {error.smtp_code}")
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return NotSent(f"the mail server offers no {'STARTTLS' if 'STARTTLS' in str(error) else 'sign-in'}")
    if fault := explain_tls_fault(error):
        return NotSent(f"TLS with the mail server failed: {fault}")
    if isinstance(error, socket.gaierror):
        return NotSent("the mail server's name is not known")
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return NotSent("the mail server could not be reached (it ended the connection, or speaks no SMTP)")
    if isinstance(error, ConnectionRefusedError):
        return NotSent("the mail server could not be reached (nothing listens there)")
    if isinstance(error, TimeoutError):
        return NotSent("the mail server could not be reached (no answer in time)")
    if isinstance(error, ValueError) and not isinstance(error, OSError):  # a bad certificate is both
        return NotSent("the address cannot be written in a mail command", permanent=True)
    return NotSent(f"the mail server could not be reached ({type(error).__name__})")
