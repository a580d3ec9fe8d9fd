"""Several questions of one verb, a few at a time."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from shared.limits.concurrency import gather_limited
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import Reading

MAX_PARALLEL = 4  # most providers take no more at once; further requests would take the places of other people


async def ask_each(ask: Ask, verb: str, questions: Sequence[Any]) -> list[list[Reading[Any]]]:
    """The readings of each question, in order. What the time budget of `ask` does not reach is `down: timeout`.

    Sources that take lists of airports get all questions at once, since few calls answer them.
    """
    sources = registry.providers_of(verb)
    if sources and all(source.page_rows for source in sources):
        readings = await ask.all(verb, questions)
        return [readings[at : at + len(sources)] for at in range(0, len(readings), len(sources))]
    return await gather_limited([partial(ask.all, verb, [question]) for question in questions], MAX_PARALLEL)
