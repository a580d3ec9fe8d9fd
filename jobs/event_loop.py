"""The event loop of a job: each question to the outside world is asked on its own loop."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


def ask(query: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Keeps the answer out of the task: closing the loop formats the task as text, an eighth of a quiet check."""
    answers: list[T] = []

    async def run() -> None:
        answers.append(await query(*arguments))

    anyio.run(run, backend_options={"use_uvloop": True})
    return answers[0]
