"""How many of the questions that one call puts to providers are answered, for anyone who waits for the call."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Standing(NamedTuple):
    """Where one question stands in the line before a provider, and in how many seconds it will probably be put."""

    ahead: int
    seconds: float


@dataclass
class QuestionProgress:
    """Both numbers only grow; they are equal whenever no question is open."""

    questions: int = 0
    answers: int = 0
    in_line: dict[str, Standing] = field(default_factory=dict)  # of each question that waits, by its ticket

    @property
    def standing(self) -> Standing | None:
        """How many others are ahead of this call, and when the last of its questions will be put."""
        waiting = list(self.in_line.values())
        if not waiting:
            return None
        return Standing(min(one.ahead for one in waiting), max(one.seconds for one in waiting))


# The gate sets it for a call whose caller wants to hear of it; tasks and threads of the call inherit it.
current: ContextVar[QuestionProgress | None] = ContextVar("progress", default=None)
