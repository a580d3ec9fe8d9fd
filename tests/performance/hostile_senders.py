"""Programs that mean harm to the mail listener, in each state of a conversation (RFC 5321 4.1)."""

import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from tests.performance.hostile_callers import MANY, Request, Target, connect, hang_up

STATES = {
    "connected": (),
    "EHLO": (b"EHLO x",),
    "MAIL": (b"EHLO x", b"MAIL FROM:<a@b.test>"),
    "RCPT": (b"EHLO x", b"MAIL FROM:<a@b.test>", b"RCPT TO:<%s>"),
    "DATA": (b"EHLO x", b"MAIL FROM:<a@b.test>", b"RCPT TO:<%s>", b"DATA"),
}
PAYLOADS = {
    "endless lines": b"\r\n" * 30 * MANY,
    "a line without end": b"a" * 100 * MANY,
    "10,000 recipients": b"RCPT TO:<a@b.test>\r\n" * MANY,
    "10,000 headers": b"X: y\r\n" * MANY + b"\r\nx\r\n.\r\n",
    "hanging up": b"",
}


def reach(line: socket.socket, state: str, mailbox: str) -> None:
    """As far as that state; a listener that turns the connection away answers less."""
    line.recv(4096)
    for command in STATES[state]:
        line.sendall(command.replace(b"%s", mailbox.encode()) + b"\r\n")
        line.recv(4096)


def build_abuses(mailbox: str) -> dict[str, Request]:
    def act(payload: bytes, target: Target) -> int:
        line = connect(target.base)
        line.settimeout(5)
        with suppress(OSError):  # turned away, or cut off
            reach(line, target.path, mailbox)
            line.sendall(payload)
        hang_up(line)
        return 0

    return {name: partial(act, payload) for name, payload in PAYLOADS.items()}


@contextmanager
def hold_silent_lines(base: str, mailbox: str, addresses: int) -> Iterator[dict[socket.socket, float]]:
    """From so many addresses one connection in each state that says nothing more, and since when."""
    lines: dict[socket.socket, float] = {}
    try:
        for _ in range(addresses):
            for state in STATES:
                line = connect(base)
                lines[line] = time.monotonic()
                with suppress(OSError):
                    reach(line, state, mailbox)
        yield lines
    finally:
        for line in lines:
            line.close()


def count_open(lines: dict[socket.socket, float]) -> int:
    """Those that the listener has not closed."""
    poll = select.poll()
    for line in lines:
        poll.register(line, select.POLLRDHUP)
    return len(lines) - len(poll.poll(0))
