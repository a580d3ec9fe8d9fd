"""Several questions of one verb, a few at a time."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from shared.concurrency import gather_limited
from shared.providers.ask import Ask
from shared.providers.contract import Reading

MAX_PARALLEL = 4  # most providers take no more at once; further requests would queue there and fail as `busy`


async def ask_each(ask: Ask, verb: str, questions: Sequence[Any]) -> list[list[Reading[Any]]]:
    """The readings of each question, in order. What the time budget of `ask` does not reach is `down: timeout`."""
    return await gather_limited([partial(ask.all, verb, [question]) for question in questions], MAX_PARALLEL)
