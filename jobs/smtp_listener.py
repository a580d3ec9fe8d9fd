"""The SMTP listener (RFC 5321) for forwarded mail: a mail is answered with 250 once it is stored and committed.

No relay: it takes mail for the private addresses of accounts and for nothing else.
"""

import asyncio
import contextlib
import logging
import os
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, AnyStr, TypeVar, cast

from aiosmtpd.smtp import SMTP, Envelope, Session
from sqlalchemy.exc import SQLAlchemyError

from shared.db.maintenance import WATCH
from shared.limits import address_key
from shared.services.bookings.inbound_mail import MAX_MAIL_BYTES, MailRefused, RefusalReason, check_recipient, store
from shared.settings import settings
from shared.telemetry.metrics import INBOUND_MAILS, count

log = logging.getLogger(__name__)
T = TypeVar("T")
MAX_RECIPIENTS = 20
MAX_UNKNOWN_MAILBOXES = 5  # of one connection; then it is closed
MAX_CONNECTIONS = 200
MAX_CONNECTIONS_OF_ONE_ADDRESS = 20
MAX_BYTES_OF_ONE_CONNECTION = 8 * MAX_MAIL_BYTES  # bytes it may send in all
MAX_BYTES_OF_ALL = 16 * MAX_MAIL_BYTES  # of mails that have not been answered yet
MAX_MISTAKES = 50  # of one connection
MAX_SHORT_LINES = 5000  # of one connection; each takes as long to read as a whole one
BYTES_OF_A_LINE = 8  # on average, below which a line counts as short: mails have 30 and more
LINES_IN_A_ROW = 10
GOODBYE_SECONDS = 5
TIMEOUT_SECONDS = 120  # from one command to the next, and for all of a mail's text
RETRY_REPLY = "451 4.3.0 Try again later"
MAINTENANCE_REPLY = "451 4.3.2 Under maintenance, try again later"  # 4.3.2: takes no mail right now (RFC 3463)
REPLIES = {
    RefusalReason.UNKNOWN: "550 5.1.1 No such mailbox here",
    RefusalReason.OFF: "550 5.7.1 This mailbox takes no mail at present",
    RefusalReason.FULL: "452 4.2.2 This mailbox is full of mail no one has looked at",
    RefusalReason.NO_ROOM: "452 4.3.1 No room for mail here at present, try again later",
}
_threads = ThreadPoolExecutor(4, "mail")


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Waits for the database on a thread, so that other conversations continue."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(work, *arguments))


class Mailboxes:
    """The replies at each step of a conversation."""

    async def handle_EHLO(
        self, _server: SMTP, session: Session, _envelope: Envelope, name: str, replies: list[str]
    ) -> list[str]:
        session.host_name = name
        return [r for r in replies if "AUTH" not in r]  # no one signs in here

    async def handle_RCPT(
        self, server: "Conversation", _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return "452 4.5.3 Too many recipients"
        if await _in_thread(WATCH.read):
            return MAINTENANCE_REPLY
        try:
            await _in_thread(check_recipient, address)
        except MailRefused as no:
            return self._reply_refusal(server, no)
        except SQLAlchemyError as error:
            return _reply_outage(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    def _reply_refusal(self, server: "Conversation", no: MailRefused) -> str:
        server.unknown += no.why is RefusalReason.UNKNOWN  # a relay that forwards for many comes to closed ones too
        if server.unknown >= MAX_UNKNOWN_MAILBOXES:
            asyncio.get_running_loop().call_later(0.1, server.hang_up)  # once the reply is on its way
            return "421 4.7.0 Too many unknown mailboxes"
        return REPLIES[no.why]

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        if await _in_thread(WATCH.read):
            count(INBOUND_MAILS, "unavailable")
            return MAINTENANCE_REPLY
        try:
            await _in_thread(store, list(envelope.rcpt_tos), envelope.content)
        except MailRefused as no:
            count(INBOUND_MAILS, "refused")
            return REPLIES[no.why]
        except SQLAlchemyError as error:
            count(INBOUND_MAILS, "unavailable")
            return _reply_outage(error)
        count(INBOUND_MAILS, "stored")
        return "250 2.0.0 Stored"

    async def handle_exception(self, error: Exception) -> str:
        log.error("inbox: a conversation failed (%s)", type(error).__name__)
        return RETRY_REPLY


def _reply_outage(error: SQLAlchemyError) -> str:
    log.warning("inbox: the database is down or refuses (%s)", type(error).__name__)
    return RETRY_REPLY


class FairReader(asyncio.StreamReader):
    """Reads lines, letting other conversations run in between, because buffered lines would never wait."""

    _lines = 0

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        self._lines += 1
        if self._lines % LINES_IN_A_ROW == 0:
            await asyncio.sleep(0)
        return await super().readuntil(separator)

    async def read(self, n: int = -1) -> bytes:
        """Used by the library only for lines that are too long, which it keeps although it refuses them."""
        await super().read(n)
        return b""


class Conversation(SMTP):
    """One connection, with bounds the library does not set: how many, from where, and how much each may send."""

    line_length_limit = 100_000  # real programs send lines far beyond the standard's thousand
    open_from: "Counter[str]" = Counter()
    under_way: "set[Conversation]" = set()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        reader = FairReader(limit=self.line_length_limit, loop=self.loop)  # the library makes another one
        asyncio.StreamReaderProtocol.__init__(self, reader, self._cb_client_connected, self.loop)
        self.peer = ""
        self.received = self.lines = 0
        self.waiting_bytes = 0  # since the last mail was answered
        self.mistakes = 0  # permanent refusals
        self.heard_at = self.loop.time()  # when the last command was understood
        self.unknown = 0  # mailboxes asked for that do not exist

    async def _handle_client(self) -> None:
        peer = self.session.peer if self.session else None
        self.peer = address_key(str(peer[0])) if peer else ""
        self.open_from[self.peer] += 1
        self.under_way.add(self)
        try:
            if not self._find_room():
                self.hang_up(b"421 4.7.0 Too many connections, try again later")
                return
            with contextlib.suppress(ConnectionResetError):
                await super()._handle_client()
        finally:
            self.under_way.discard(self)
            self.open_from[self.peer] -= 1
            if not self.open_from[self.peer]:
                del self.open_from[self.peer]

    def _find_room(self) -> bool:
        """Whether there is room; if need be, ends the longest silent connection of the most crowded address."""
        if self.open_from[self.peer] > MAX_CONNECTIONS_OF_ONE_ADDRESS:
            return False
        if len(self.under_way) <= MAX_CONNECTIONS:
            return True
        crowd = max(self.open_from.values())
        if self.open_from[self.peer] == crowd > 1:
            return False
        others = [c for c in self.under_way if c is not self and self.open_from[c.peer] == crowd]
        min(others, key=lambda c: c.heard_at).hang_up(b"421 4.7.0 Others are waiting, try again later")
        return True

    def hang_up(self, reply: bytes = b"") -> None:
        if self.transport is None:
            return
        transport = cast("asyncio.Transport", self.transport)
        if reply:
            transport.write(reply + b"\r\n")
        transport.close()
        self.loop.call_later(GOODBYE_SECONDS, transport.abort)  # if the other side does not read

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        self.waiting_bytes += len(data)
        self.lines += data.count(b"\n")
        if self.received > MAX_BYTES_OF_ONE_CONNECTION:
            self.hang_up()
            return
        if self.lines > MAX_SHORT_LINES + self.received // BYTES_OF_A_LINE:
            self.hang_up(b"421 4.7.0 Too many short lines")
            return
        if sum(c.waiting_bytes for c in self.under_way) > MAX_BYTES_OF_ALL:
            largest = max(self.under_way, key=lambda c: c.waiting_bytes)
            largest.hang_up(b"421 4.3.1 Too much mail at once, try again later")
        super().data_received(data)

    async def push(self, status: AnyStr) -> None:
        self.mistakes += (status if isinstance(status, bytes) else status.encode()).startswith(b"5")
        if self.mistakes > MAX_MISTAKES:
            self.hang_up(b"421 4.7.0 Too many mistakes")
            raise ConnectionResetError
        await super().push(status)

    def _reset_timeout(self, duration: float | None = None) -> None:
        self.heard_at = self.loop.time()
        super()._reset_timeout(duration)

    def _timeout_cb(self) -> None:
        self.hang_up()

    def _set_post_data_state(self) -> None:
        self.waiting_bytes = 0
        super()._set_post_data_state()  # type: ignore[no-untyped-call]


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
    """Listens until told to stop; current mails get a few seconds to finish."""
    loop = asyncio.get_running_loop()
    new_conversation, host = partial(conversation, loop, _tls()), settings().inbound_smtp_host
    try:
        server = await loop.create_server(new_conversation, host, port, reuse_address=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        sys.exit(f"{host}:{port} cannot be listened at ({reason}): see INBOUND_SMTP_HOST and INBOUND_SMTP_PORT")
    async with server:
        await stop.wait()
        server.close()
        until = loop.time() + 5
        while Conversation.open_from and loop.time() < until:
            await asyncio.sleep(0.05)


def run() -> None:
    """Runs it; without an address to listen on ends with status 1 and one line."""
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
