"""Bodies read before they are passed on, within bounds of size, time, and memory of one address and of all."""

from collections import Counter

from shared.asgi import Message, Receive, Scope, read_body
from shared.limits import address_key

MAX_BYTES = 4 << 20  # as the tool server's own limit
MAX_SECONDS = 15.0
MAX_MAIL_BYTES, MAX_MAIL_SECONDS = 10 << 20, 60.0  # of a mail handed over at /hooks/mail
MAX_BYTES_OF_ONE_ADDRESS, MAX_BYTES_OF_ALL = 32 << 20, 128 << 20  # that have arrived and wait for the rest


class TooManyBodies(Exception):
    """The bodies that wait already hold as much memory as they may."""


class WaitingBodies:
    """Counts the bytes of unfinished bodies, so that slow senders hold memory within bounds and nothing else."""

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises BodyTooLarge, BodyIncomplete or TooManyBodies."""
        address, count = address_key((scope.get("client") or ("",))[0]), 0

        async def receive_counted() -> Message:
            nonlocal count
            message = await receive()
            size = len(message.get("body", b""))
            count += size
            self.held[address] += size
            if self.held[address] > MAX_BYTES_OF_ONE_ADDRESS or self.held.total() > MAX_BYTES_OF_ALL:
                raise TooManyBodies
            return message

        is_mail = scope["path"].startswith("/hooks/mail")
        limits = (MAX_MAIL_BYTES, MAX_MAIL_SECONDS) if is_mail else (MAX_BYTES, MAX_SECONDS)
        try:
            return await read_body(scope, receive_counted, max_bytes=limits[0], max_seconds=limits[1])
        finally:
            self.held[address] -= count
            if not self.held[address]:
                del self.held[address]


def has_body(scope: Scope) -> bool:
    """Whether the head announces a body (RFC 9112 6.3)."""
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
