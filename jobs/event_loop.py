"""The way of jobs to the outside world: an async question and its arguments go in, its answer comes out.

Runs that are worked on together share one event loop, so a provider's limit on concurrent calls holds over all of them.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")
_open: list[BlockingPortal] = []


@contextmanager
def one_loop() -> Iterator[None]:
    """While this lasts, questions of all threads are asked on one loop."""
    with start_blocking_portal(backend_options={"use_uvloop": True}) as portal:
        _open.append(portal)
        try:
            yield
        finally:
            _open.remove(portal)


def ask(look: Callable[..., Awaitable[T]], *given: Any) -> T:
    return _open[-1].call(look, *given) if _open else anyio.run(look, *given)
