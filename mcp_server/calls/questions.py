"""Questions a call puts to the person behind it: which of several names is meant, and whether something may be done.

A tool does not know of them. It refuses with `candidates` or `confirmation_required`, as if no one could be
asked; the answer then becomes the argument that the model would have sent in its second call.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from shared.domain.names import normalize_name
from shared.errors import Candidates, Choice, ConfirmationRequired, Refusal

MAX_QUESTIONS = 3  # of one call
MAX_CHOICES, MAX_SHOWN = 30, 80  # more names, or longer ones, do not fit a form
CONFIRM = "confirm"  # the argument of every tool that needs a confirmation
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Question:
    """One question, the argument its answer goes into, and its choices; without any: yes or no."""

    message: str
    path: Path
    choices: Sequence[Choice] = ()


@dataclass(frozen=True)
class Reply:
    """The person's answer. `cancel`: none in time; `value` is one of the choices, or whether they agree."""

    action: Literal["accept", "decline", "cancel"]
    value: Any = None


class Person(Protocol):
    """Anyone who can be asked during a call."""

    async def ask(self, question: Question) -> Reply: ...


class QuestionSent(Exception):
    """The answer of this request is a question: `result`, in the transport's form.

    Nothing was changed or counted; the call will come again with the reply.
    """

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result: Any = result


def find_question(refusal: Refusal, arguments: Mapping[str, Any]) -> Question | None:
    """The question that lets the call continue; None if its answer could not fill one argument."""
    if isinstance(refusal, ConfirmationRequired):
        return None if arguments.get(CONFIRM) else Question(refusal.question, (CONFIRM,))
    if not isinstance(refusal, Candidates):
        return None
    ambiguity = refusal.ambiguity
    paths = list(_find_paths(arguments, normalize_name(ambiguity.text) or ambiguity.text))
    if len(paths) != 1 or not 1 < len(ambiguity.choices) <= MAX_CHOICES:
        return None
    name = " ".join(ambiguity.text.split())[:MAX_SHOWN]
    return Question(f"Which {ambiguity.what} is meant by “{name}”?", paths[0], tuple(ambiguity.choices))


def _find_paths(part: Any, form: str, path: Path = ()) -> Iterator[Path]:
    """The paths at which the arguments hold a loose name."""
    if isinstance(part, str) and (normalize_name(part) or part) == form:
        yield path
    elif isinstance(part, Mapping):
        for key, inner in part.items():
            yield from _find_paths(inner, form, (*path, key))
    elif isinstance(part, list):
        for number, inner in enumerate(part):
            yield from _find_paths(inner, form, (*path, number))


def insert_held(
    question: Question, held: Collection[str], arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]] | None:
    """The arguments with the programme of several that the person holds points in, and its name; None where in doubt.

    Where the argument is a list, all that are held stand in it.
    """
    meant = [choice for choice in question.choices if choice.value in held]
    values = [choice.value for choice in meant]
    *path, at = question.path
    inner: Any = arguments
    for key in path:
        inner = inner[key]
    if not meant or (len(meant) > 1 and not isinstance(inner, list)):
        return None
    changed = _replace(arguments, question.path, values[0])
    if isinstance(inner, list) and isinstance(at, int):
        changed = _replace(arguments, tuple(path), [*inner[:at], *values, *inner[at + 1 :]])
    return dict(changed), [choice.title for choice in meant]


def insert_reply(question: Question, reply: Reply, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of the second call; None without an answer, or with one that was not offered."""
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
    """The refusal, which says if the person was asked and said no, so that no one asks again at once."""
    says_no = reply.action == "decline" or (reply.action == "accept" and reply.value is False)
    if says_no and question.choices:
        refusal.message = f"The user was asked and chose none of these. {refusal.message}"
    elif says_no:
        refusal.message = "The user was asked and said no, so nothing was changed."
    return refusal
