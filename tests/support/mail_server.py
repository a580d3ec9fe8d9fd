"""A real SMTP server on loopback: it treats each message as it is told and keeps those it took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword

from deploy.local.private_servers import free_port


@dataclass
class Mailbox:
    """Replies by step: `rcpt`, `data` (the final one). `cut` names the step at which the connection is cut."""

    port: int = 0
    replies: dict[str, str] = field(default_factory=dict)
    cut: str | None = None
    during: Callable[[], None] | None = None  # called while the content is being taken
    taken: list[bytes] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    greeted: list[str] = field(default_factory=list)  # the names clients gave of themselves, one for each recipient

    @property
    def mails(self) -> list[EmailMessage]:
        return [message_from_bytes(raw, policy=default) for raw in self.taken]  # type: ignore[misc]

    @property
    def ids(self) -> list[str]:
        return [str(mail["Message-ID"]) for mail in self.mails]


class _Handler:
    """What the server calls. It looks through all that this has at each connection, so the mails are not here."""

    def __init__(self, box: Mailbox) -> None:
        self._box = box

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Envelope, address: str, _options: Any) -> str:
        self._box.greeted.append(session.host_name)
        if self._box.cut == "rcpt":
            server.transport.abort()
        if "rcpt" not in self._box.replies:
            envelope.rcpt_tos.append(address)
        return self._box.replies.get("rcpt", "250 OK")

    async def handle_DATA(self, server: SMTP, _session: Any, envelope: Envelope) -> str:
        if self._box.during:
            self._box.during()
        if "data" not in self._box.replies:
            self._box.taken.append(bytes(envelope.content or b""))
        if self._box.cut == "data":
            server.transport.abort()
        return self._box.replies.get("data", "250 OK")

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
        assert isinstance(given, LoginPassword)
        self._box.signed_in.append(f"{given.login.decode()}:{given.password.decode()}")
        right = given.password == b"right"
        return AuthResult(success=right, handled=right)


@contextmanager
def mail_server(host: str = "127.0.0.1", **options: Any) -> Iterator[Mailbox]:
    """Options go to the server's protocol, such as tls_context and auth_required."""
    box = Mailbox(port=free_port())
    handler = _Handler(box)
    if options.get("auth_required"):
        options["authenticator"] = handler.authenticate
    controller = Controller(handler, hostname=host, port=box.port, **options)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
