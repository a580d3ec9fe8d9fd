"""Several questions of one kind: they go to the sources a few at a time, and the readings of each come out in order."""

from collections.abc import Sequence
from typing import Any

import anyio

from shared.providers.ask import Ask
from shared.providers.contract import Reading

AT_ONCE = 4  # as many as a source usually takes: more would only queue there until it calls itself busy


async def ask_each(ask: Ask, verb: str, questions: Sequence[Any]) -> list[list[Reading[Any]]]:
    """Within the time budget of `ask`; what it ran out for reads as such."""
    answers: list[list[Reading[Any]]] = [[] for _ in questions]
    places = anyio.CapacityLimiter(AT_ONCE)

    async def put(at: int) -> None:
        async with places:
            answers[at] = await ask.all(verb, [questions[at]])

    async with anyio.create_task_group() as tasks:
        for at in range(len(questions)):
            tasks.start_soon(put, at)
    return answers
