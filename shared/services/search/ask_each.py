"""Several questions of one kind: they go to the sources a few at a time, and the readings of each come out in order."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from shared.concurrency import gather_limited
from shared.providers.ask import Ask
from shared.providers.contract import Reading

AT_ONCE = 4  # as many as a source usually takes: more would only queue there until it calls itself busy


async def ask_each(ask: Ask, verb: str, questions: Sequence[Any]) -> list[list[Reading[Any]]]:
    """Within the time budget of `ask`; what it ran out for reads as such."""
    return await gather_limited([partial(ask.all, verb, [question]) for question in questions], AT_ONCE)
