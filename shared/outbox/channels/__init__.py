"""The channels by which messages are sent, and what they share: a letter, and NotSent."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from shared.outbox.wording.messages import Message

Begin = Callable[[], None]


class NotSent(Exception):
    """It definitely did not go out. Any other failure once the hand-over has begun leaves that unknown.

    `unwanted`: anyone who has this address told the carrier that they want no more.
    """

    def __init__(self, reason: str, *, permanent: bool = False, unwanted: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent or unwanted
        self.unwanted = unwanted


@dataclass(frozen=True)
class Letter:
    """One message to one address; its id stays the same on every attempt."""

    id: str
    recipient: str
    message: Message
    written_at: datetime
