"""Forms whose fields are the arguments of a tool: what was typed, what of it is a change, and the pages after it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.tool_calls import NO_ANSWER, Answer, prepare_change, read_faults, show_when_answered
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem
from auth_server.web.request_data import MAX_NUMBER_DIGITS
from shared.secrets import digest

BEFORE = "was_"  # begins the name of a hidden field: what the visible one held when the page was made
_MAX_MARK = 60  # characters; a longer value is known again by its digest, so that a form is not sent twice as long
_GONE = "It may have been deleted in the meantime; the others are as they were."


def show_away(what: str) -> Page:
    """Without an answer: `what` names it as the beginning of a sentence."""
    return show_problem("Back in a moment", f"{what} could not be read right now. Please try again.", 503, 5)


def show_gone(noun: str, path: str, words: str) -> Page:
    """`path` leads to the others of its kind, in these words."""
    return show_problem(f"There is no such {noun}", _GONE, 404, links=((path, words),))


def read_number(text: str | None) -> int | None:
    """The number of a row; None for what cannot be one."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS
    return int(text) if is_number and text else None


def read_page(member: Member) -> int:
    return read_number(member.data.query_value("page")) or 1


def read_typed(member: Member, names: Iterable[str], before: str = "") -> dict[str, str]:
    """What stands in each field; with BEFORE what stood there when the page was made."""
    return {name: member.data.form_value(before + name).strip() for name in names}


def write_values(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """The values of a row as a form shows them: an amount without zeros that say nothing."""
    return {name: _write_value(row.get(name)) for name in names}


def _write_value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".removesuffix(".00")
    return "" if value is None else str(value)


def mark_values(values: Mapping[str, str]) -> dict[str, str]:
    """What the hidden fields of a form hold of the values it begins with."""
    return {name: _mark(value) for name, value in values.items()}


def _mark(value: str) -> str:
    return value if len(value) <= _MAX_MARK and "\n" not in value else digest(value)[:32]


def drop_marks(number: str) -> str:
    """`4,000` and `4 000` without the marks between thousands."""
    return number.replace(",", "").replace(" ", "")


def pick_changes(
    typed: Mapping[str, str], before: Mapping[str, str], numbers: Iterable[str] = (), clearable: Iterable[str] = ()
) -> dict[str, Any]:
    """The arguments that change something: only what differs from what the form began with is sent.

    What is emptied goes into `clear` where the tool takes it there, and is sent as empty text elsewhere.
    """
    changed = {name: value for name, value in typed.items() if _mark(value) != before.get(name, "")}
    cleared = [name for name in clearable if name in changed and not changed[name]]
    values = {
        name: drop_marks(value) if name in numbers else value for name, value in changed.items() if name not in cleared
    }
    return values | ({"clear": cleared} if cleared else {})


def name_faults(answer: Answer, labels: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, by field; other fields it speaks of are called as the form calls them."""
    faults = read_faults(answer)
    for field, label in labels.items():
        faults = {at: text.replace(field, f"“{label}”") if "_" in field else text for at, text in faults.items()}
    return faults


def delete_by(member: Member, tool: str, path: str, gone: Page, /, **which: Any) -> PageResult:
    """Deletes, and goes back to the list, which says so."""
    return show_when_answered({"deleted": prepare_change(member, tool, **which)}, _finish_deleting(path, gone))


def _finish_deleting(path: str, gone: Page) -> Callable[[Mapping[str, Answer]], FlowResult]:
    def finish(answers: Mapping[str, Answer]) -> FlowResult:
        deleted = answers["deleted"]
        if not deleted:
            return show_problem("Back in a moment", NO_ANSWER, 503, 5)
        return redirect_back(path, "deleted") if deleted.is_good else gone

    return finish
