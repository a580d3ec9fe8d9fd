"""How many of the questions that one call puts to providers are answered, for whoever waits for the call."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class QuestionProgress:
    """Both numbers only grow; they are equal whenever no question is open."""

    questions: int = 0
    answers: int = 0


# The gate sets it for a call whose caller wants to hear of it; tasks and threads of the call inherit it.
current: ContextVar[QuestionProgress | None] = ContextVar("progress", default=None)
