"""The calls a running server noted since a test began, also those it has written meanwhile, as it does each second."""

from collections import deque
from typing import Any

from mcp_server.calls.usage import MAX_PENDING, USAGE_LOG
from shared.db.usage import Note


class _Pending(deque[Note]):
    """What waits to be written; `noted` keeps what was ever added."""

    def __init__(self) -> None:
        super().__init__(maxlen=MAX_PENDING)
        self.noted: list[Note] = []

    def append(self, note: Note) -> None:
        self.noted.append(note)
        super().append(note)


def forget_notes() -> None:
    USAGE_LOG.pending = _Pending()
    USAGE_LOG.today.clear()


def list_notes() -> list[Note]:
    """Since `forget_notes`, the earliest first."""
    pending: Any = USAGE_LOG.pending
    return list(pending.noted)
