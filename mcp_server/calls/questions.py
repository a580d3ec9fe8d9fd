"""Questions a call puts to the person behind it: which of several names is meant, and whether something may be done.

A tool knows nothing of them. It refuses with `candidates` or `confirmation_required`, as it does where no one can be
asked; the answer then goes into the very argument that the model would have sent with its second call.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from shared.domain.names import normalize_name
from shared.errors import Candidates, Choice, ConfirmationRequired, Refusal

MAX_QUESTIONS = 3  # of one call
MAX_CHOICES, MAX_SHOWN = 30, 80  # more names, or longer ones, fit no form
CONFIRM = "confirm"  # the argument of every tool that wants to be confirmed
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Question:
    """One question, the argument its answer goes into, and the values it may have; no choices: yes or no."""

    message: str
    path: Path
    choices: Sequence[Choice] = ()


@dataclass(frozen=True)
class Reply:
    """What the person did. `cancel`: nothing, in time; `value` is one of the choices, or whether they agree."""

    action: Literal["accept", "decline", "cancel"]
    value: Any = None


class Person(Protocol):
    """Anyone who can be asked during a call."""

    async def ask(self, question: Question) -> Reply: ...


class QuestionSent(Exception):
    """The answer of this request is a question: `result`, as the transport words it.

    Nothing was changed or counted; the call comes again with the reply.
    """

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result: Any = result


def find_question(refusal: Refusal, arguments: Mapping[str, Any]) -> Question | None:
    """What to ask so that the call can go on; None where the answer could not be put into one argument."""
    if isinstance(refusal, ConfirmationRequired):
        return None if arguments.get(CONFIRM) else Question(refusal.question, (CONFIRM,))
    if not isinstance(refusal, Candidates):
        return None
    which = refusal.ambiguity
    paths = list(_find_paths(arguments, normalize_name(which.text) or which.text))
    if len(paths) != 1 or not 1 < len(which.choices) <= MAX_CHOICES:
        return None
    name = " ".join(which.text.split())[:MAX_SHOWN]
    return Question(f"Which {which.what} is meant by “{name}”?", paths[0], tuple(which.choices))


def _find_paths(part: Any, form: str, path: Path = ()) -> Iterator[Path]:
    """Where among the arguments a loose name stands."""
    if isinstance(part, str) and (normalize_name(part) or part) == form:
        yield path
    elif isinstance(part, Mapping):
        for key, inner in part.items():
            yield from _find_paths(inner, form, (*path, key))
    elif isinstance(part, list):
        for number, inner in enumerate(part):
            yield from _find_paths(inner, form, (*path, number))


def insert_reply(question: Question, reply: Reply, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of the second call; None where the person did not answer, or with what was not offered."""
    offered = [choice.value for choice in question.choices]
    is_answered = reply.value in offered if offered else reply.value is True
    if reply.action != "accept" or not is_answered:
        return None
    return dict(_replace(arguments, question.path, reply.value))


def _replace(part: Any, path: Path, value: Any) -> Any:
    changed: Any = list(part) if isinstance(part, list) else dict(part)
    first, rest = path[0], path[1:]
    changed[first] = _replace(changed[first], rest, value) if rest else value
    return changed


def describe_refused(refusal: Refusal, question: Question, reply: Reply) -> Refusal:
    """The refusal, which says so where the person was asked and said no: no one should ask again at once."""
    says_no = reply.action == "decline" or (reply.action == "accept" and reply.value is False)
    if says_no and question.choices:
        refusal.message = f"The user was asked and chose none of these. {refusal.message}"
    elif says_no:
        refusal.message = "The user was asked and said no, so nothing was changed."
    return refusal
