"""The SMTP listener (RFC 5321) for forwarded mail: a mail is answered with 250 once it is stored and committed.

No relay: it takes mail for the private addresses of accounts and for nothing else.
"""

import asyncio
import contextlib
import logging
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from aiosmtpd.smtp import SMTP, Envelope, Session
from sqlalchemy.exc import SQLAlchemyError

from shared.services.bookings.inbound_mail import MAX_MAIL_BYTES, MailRefused, RefusalReason, check_recipient, store
from shared.settings import settings

log = logging.getLogger(__name__)
T = TypeVar("T")
MAX_RECIPIENTS = 20
MAX_UNKNOWN_MAILBOXES = 5  # of one connection; then it is closed
MAX_CONNECTIONS = 200
MAX_CONNECTIONS_OF_ONE_ADDRESS = 20
MAX_BYTES_OF_ONE_CONNECTION = 8 * MAX_MAIL_BYTES  # bytes it may send in all
TIMEOUT_SECONDS = 120  # from one command to the next, and for the whole of a mail's text
RETRY_REPLY = "451 4.3.0 Not stored, try again later"
REPLIES = {
    RefusalReason.UNKNOWN: "550 5.1.1 No such mailbox here",
    RefusalReason.OFF: "550 5.7.1 This mailbox takes no mail at present",
    RefusalReason.FULL: "452 4.2.2 This mailbox is full of mail nobody has looked at",
}
_threads = ThreadPoolExecutor(4, "mail")


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """The database is waited for on a thread, so that other conversations go on."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(work, *arguments))


class Mailboxes:
    """What is answered at each step of a conversation."""

    async def handle_EHLO(
        self, _server: SMTP, session: Session, _envelope: Envelope, name: str, replies: list[str]
    ) -> list[str]:
        session.host_name = name
        return [r for r in replies if "AUTH" not in r]  # nobody signs in here

    async def handle_RCPT(
        self, server: "Conversation", _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return "452 4.5.3 Too many recipients"
        try:
            await _in_thread(check_recipient, address)
        except MailRefused as no:
            return self._reply_refusal(server, no)
        except SQLAlchemyError as error:
            return _reply_outage(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    def _reply_refusal(self, server: "Conversation", no: MailRefused) -> str:
        server.unknown += 1
        if server.unknown >= MAX_UNKNOWN_MAILBOXES:
            asyncio.get_running_loop().call_later(0.1, server.hang_up)  # once the reply is on its way
            return "421 4.7.0 Too many unknown mailboxes"
        return REPLIES[no.why]

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        try:
            await _in_thread(store, list(envelope.rcpt_tos), envelope.content)
        except MailRefused as no:
            return REPLIES[no.why]
        except SQLAlchemyError as error:
            return _reply_outage(error)
        return "250 2.0.0 Stored"

    async def handle_exception(self, error: Exception) -> str:
        log.error("inbox: a conversation failed (%s)", type(error).__name__)
        return RETRY_REPLY


def _reply_outage(error: SQLAlchemyError) -> str:
    log.warning("inbox: the database is away or refuses (%s)", type(error).__name__)
    return RETRY_REPLY


class Conversation(SMTP):
    """One connection, with bounds the library does not set: how many, from where, and how much each may send."""

    line_length_limit = 100_000  # real programs send lines far beyond the standard's thousand
    open_from: "Counter[str]" = Counter()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.peer = ""
        self.received = 0
        self.unknown = 0  # mailboxes asked for that do not exist

    async def _handle_client(self) -> None:
        peer = self.session.peer if self.session else None
        self.peer = str(peer[0]) if peer else ""
        self.open_from[self.peer] += 1
        crowded = self.open_from.total() > MAX_CONNECTIONS or self.open_from[self.peer] > MAX_CONNECTIONS_OF_ONE_ADDRESS
        try:
            if crowded:
                await self.push("421 4.7.0 Too many connections, try again later")
                self.hang_up()
                return
            await super()._handle_client()
        finally:
            self.open_from[self.peer] -= 1
            if not self.open_from[self.peer]:
                del self.open_from[self.peer]

    def hang_up(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self.received > MAX_BYTES_OF_ONE_CONNECTION:
            self.hang_up()
            return
        super().data_received(data)


def _tls() -> ssl.SSLContext | None:
    s = settings()
    if not (s.inbound_smtp_tls_cert and s.inbound_smtp_tls_key):
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(s.inbound_smtp_tls_cert, s.inbound_smtp_tls_key)
    return context


def conversation(loop: asyncio.AbstractEventLoop, tls: ssl.SSLContext | None) -> Conversation:
    return Conversation(
        Mailboxes(),
        data_size_limit=MAX_MAIL_BYTES,
        enable_SMTPUTF8=True,
        hostname=settings().inbox_domain or "localhost",
        ident="award-travel inbox",
        tls_context=tls,
        timeout=TIMEOUT_SECONDS,
        auth_exclude_mechanism=["LOGIN", "PLAIN"],
        command_call_limit={"DATA": 50, "*": 500},
        loop=loop,
    )


async def serve(stop: asyncio.Event, port: int) -> None:
    """Listens until told to stop; mail under way is finished, at most for a few seconds."""
    loop = asyncio.get_running_loop()
    new_conversation = partial(conversation, loop, _tls())
    server = await loop.create_server(new_conversation, settings().inbound_smtp_host, port, reuse_address=True)
    async with server:
        await stop.wait()
        server.close()
        until = loop.time() + 5
        while Conversation.open_from and loop.time() < until:
            await asyncio.sleep(0.05)


def run() -> None:
    """Ends the process with status 1 and one line when it is not told where to listen."""
    logging.getLogger("mail.log").setLevel(logging.ERROR)  # it would write down addresses, which are secrets
    s = settings()
    if s.inbound_smtp_port is None or s.inbox_domain is None:
        sys.stderr.write("INBOUND_SMTP_PORT and INBOUND_MAIL_DOMAIN: are not set, so there is nothing to listen for\n")
        sys.exit(1)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_until_signal(s.inbound_smtp_port))


async def _serve_until_signal(port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(stop, port)
