"""The call, request or run that is worked on, and the account it is for, as every log line names them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class CallContext:
    """One piece of work. A thread that works on it shares this object, so what it learns all later lines have."""

    id: str
    account: str = ""  # the account's public id; empty while no one is known


_current: ContextVar[CallContext | None] = ContextVar("call_context", default=None)


@contextmanager
def label_work(id: str, account: str = "") -> Iterator[CallContext]:
    """Log lines written inside name this work."""
    context = CallContext(id, account)
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def new_id() -> str:
    """An id no one can guess, short enough to be read out."""
    return secrets.token_hex(8)


def get_id() -> str:
    """The id of the work under way; outside of any a new one."""
    context = _current.get()
    return context.id if context else new_id()


def get_context() -> CallContext | None:
    return _current.get()


def note_account(public_id: str) -> None:
    """The work under way is for this account."""
    context = _current.get()
    if context is not None:
        context.account = public_id
