"""Answers that are kept: of tools for which arguments, day, facts and a few own values decide the whole answer.

To find the 11 ways from Chase points to Avios and write them down as 25 kB takes 0.9 ms, twice the rest of the call.
What is asked is one of few things: a programme or two, and which of the cards that decide a ratio the person has.
"""

import weakref
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

from pydantic_core import to_json

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.registry import Tool

MAX_ANSWERS = 64  # of a process, with at most 0.2 MB each
MAX_ARGUMENT_BYTES = 200  # what is asked again is short
T = TypeVar("T")


def find_key(tool: Tool, call: Call, arguments: dict[str, Any], compact: bool) -> Hashable | None:
    """All that decides the answer, next to day and facts; None where it is not to be kept."""
    own = tool.kept_for(call, arguments) if tool.kept_for else None
    if own is None or len(text := to_json(arguments)) > MAX_ARGUMENT_BYTES:
        return None
    return tool.name, text, compact, own


class KeptAnswers(Generic[T]):
    """The newest answers from one load of the facts on one day; those of another are dropped."""

    def __init__(self) -> None:
        self._basis: tuple[object, ...] = ()
        self._answers: dict[Hashable, T] = {}
        self._lock = Lock()  # calls run on several threads

    def find(self, call: Call, key: Hashable, build: Callable[[], T]) -> T:
        answers = self._list_current(call)
        answer = answers.get(key)
        if answer is None:
            answer = build()
            with self._lock:
                answers[key] = answer
                if len(answers) > MAX_ANSWERS:
                    del answers[next(iter(answers))]
        return answer

    def _list_current(self, call: Call) -> dict[Hashable, T]:
        basis = weakref.ref(call.reference), call.today, call.data_mode, call.settings.web_url
        with self._lock:
            if basis != self._basis:
                self._basis, self._answers = basis, {}
            return self._answers
