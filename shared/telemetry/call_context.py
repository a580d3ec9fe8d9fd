"""The current call, request or run, and its account, named in every log line."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class CallContext:
    """One piece of work. Its threads share this object, so later log lines have what they learn."""

    id: str
    account: str = ""  # the account's public id; empty while unknown


_current: ContextVar[CallContext | None] = ContextVar("call_context", default=None)


@contextmanager
def label_work(id: str, account: str = "") -> Iterator[CallContext]:
    """Labels log lines written inside with this work."""
    context = CallContext(id, account)
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def new_id() -> str:
    """An unguessable id, short enough to read out."""
    return secrets.token_hex(8)


def get_id() -> str:
    """The id of the current work, or a new one."""
    context = _current.get()
    return context.id if context else new_id()


def get_context() -> CallContext | None:
    return _current.get()


def note_account(public_id: str) -> None:
    """Notes that the current work is for this account."""
    context = _current.get()
    if context is not None:
        context.account = public_id
