"""The event loop of a job: each question to the outside world is asked on a loop of its own."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


def ask(query: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    return anyio.run(query, *arguments, backend_options={"use_uvloop": True})
