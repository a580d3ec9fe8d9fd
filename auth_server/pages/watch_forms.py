"""Forms of watches: what is typed becomes the arguments of a tool, and what is wrong comes back to its field."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from starlette.routing import Route

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import (
    NO_ANSWER,
    Answer,
    ToolCall,
    prepare_change,
    prepare_look,
    read_faults,
    show_when_answered,
)
from auth_server.pages.watch_lines import Row, WatchLine
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem

LIST = "/dashboard/watches"
BEFORE = "was_"  # begins the name of a hidden field: what the visible one held when the page was made
_LINKS = ((LIST, "Your watches"), ("/plans", "Plans"))
_NUMBER = re.compile(r"\d{1,15}(\.\d{1,6})?", re.ASCII)


@dataclass(frozen=True)
class Field:
    """One field: `kind` is text, long, code, date, number, flag, list or several; with options it is a choice.

    A `clearable` one may be emptied again; a `fixed` one stands on the form of a new watch alone.
    """

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    options: Sequence[tuple[str, str]] = ()
    required: bool = False
    clearable: bool = False
    fixed: bool = False
    hidden: bool = False  # what is stored is not shown
    half: bool = False
    length: int = 60


@dataclass(frozen=True)
class Kind:
    """One kind of watch: how it is called, where its pages are, which tools it has and how they call one of them."""

    noun: str
    path: str
    number: str
    tools: Mapping[str, str]  # create, look, change and end
    pick: Callable[[Answer], dict[str, Any]]  # the watch in the answer of a look
    pick_new: Callable[[Answer], dict[str, Any]]  # the watch in the answer of the tool that creates one
    fields: tuple[Field, ...]
    describe: Callable[[Row], WatchLine]
    verb: str  # Stop or Delete
    end_words: str  # what that does, on the page that asks first
    look: Mapping[str, str] = field(default_factory=dict)  # what else the tool that shows one is sent
    defaults: Mapping[str, str] = field(default_factory=dict)
    is_kept: bool = False  # one that is ended stays to be looked at
    is_pausable: bool = True
    settle: Callable[[dict[str, str], Mapping[str, str]], dict[str, str]] = lambda typed, _: typed

    def change(self, member: Member, **values: Any) -> ToolCall:
        number = member.data.path_number("number") or 0
        return prepare_change(member, self.tools["change"], **{self.number: number}, **values)

    def find_page(self, member: Member) -> str:
        return f"{self.path}/{member.data.path_number('number') or 0}"


def show_refusal(kind: Kind, answer: Answer) -> Page:
    """Why a tool did not do it, to a person who sees a page and not a tool."""
    if not answer:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=_LINKS[:1])
    if answer.status == "not_found":
        gone = "It may have been deleted or stopped in the meantime; the others are as they were."
        return show_problem(f"There is no such {kind.noun}", gone, 404, links=_LINKS[:1])
    return show_problem("That did not work", _explain(answer), 409, links=_LINKS)


def _explain(answer: Answer) -> str:
    """Messages of tools name tools: what limits a plan is said without them."""
    if answer.status == "paywall":
        return f"This needs the {str(answer['required_tier']).title()} plan. What is there continues as it was."
    if answer.status == "limit_reached" and answer.get("resets_at"):
        return "It ran by hand within the last hour. Once an hour is possible."
    if answer.status == "limit_reached":
        return (
            f"Your plan runs {answer['cap']} of these at once. Pause or end another one first, or take a larger plan."
        )
    return " ".join(read_faults(answer).values())


def _name_faults(answer: Answer) -> dict[str, str]:
    """By field; what is wrong with one entry of a list stands at the list."""
    if answer.status in ("paywall", "limit_reached"):
        return {"": _explain(answer)}
    return {re.split(r"[.\[]", name)[0]: fault for name, fault in reversed(read_faults(answer).items())}


def read_typed(member: Member, fields: Sequence[Field], before: str = "") -> dict[str, str]:
    """What stands in each field; with BEFORE what stood there when the page was made. Several ticks are one text."""
    return {f.name: _read_field(member, f, before) for f in fields}


def _read_field(member: Member, f: Field, before: str) -> str:
    read = member.data.form_value
    if f.kind == "several" and not before:
        return ",".join(value for value, _ in f.options if read(f"{f.name}_{value}"))
    text = read(before + f.name).replace("\r\n", "\n").strip()
    return text.upper() if f.kind == "code" else text


def write_values(fields: Sequence[Field], row: Mapping[str, Any]) -> dict[str, str]:
    """The values of a stored watch as the form shows them."""
    return {f.name: "" if f.hidden else _write_value(f, row.get(f.name)) for f in fields}


def _write_value(f: Field, value: Any) -> str:
    if isinstance(value, list):
        return ("," if f.kind == "several" else ", ").join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.2f}".removesuffix(".00")
    return "" if value is None else str(value)


def to_arguments(fields: Sequence[Field], typed: Mapping[str, str]) -> dict[str, Any]:
    """What was typed as the tool takes it; what is no number goes as it is, and the tool says what is wrong."""
    return {f.name: _to_argument(f, typed[f.name]) for f in fields if f.name in typed}


def _to_argument(f: Field, text: str) -> Any:
    match f.kind:
        case "flag":
            return bool(text)
        case "list" | "several":
            return [part for name in text.split(",") if (part := name.strip())]
        case "number":
            plain = text.replace(",", "").replace(" ", "")
            if not _NUMBER.fullmatch(plain):
                return text
            return float(plain) if "." in plain else int(plain)
    return text


def pick_changes(fields: Sequence[Field], typed: Mapping[str, str], before: Mapping[str, str]) -> dict[str, Any]:
    """The arguments that change something; what is emptied goes into `clear` where the tool takes it there."""
    changed = {f.name: typed[f.name] for f in fields if typed[f.name] != before[f.name]}
    cleared = [f.name for f in fields if f.clearable and f.name in changed and not changed[f.name]]
    filled = {name: text for name, text in changed.items() if name not in cleared}
    return to_arguments(fields, filled) | ({"clear": cleared} if cleared else {})


def _show_fields(
    kind: Kind,
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str] | None = None,
    answer: Answer | None = None,
) -> FlowResult:
    """`before` is None for a new watch."""
    fields = kind.fields if before is None else [f for f in kind.fields if not f.fixed]
    faults = {} if answer is None else _name_faults(answer)
    return member.show(
        "watch_form.html",
        422 if faults else 200,
        kind=kind,
        back=LIST if before is None else kind.find_page(member),
        groups=[list(group) for _, group in groupby(fields, key=lambda f: f.half)],
        names=[f.name for f in fields],
        typed=typed,
        before=before,
        faults=faults,
        needs_plan=answer is not None and answer.status in ("paywall", "limit_reached"),
    )


def show_new(kind: Kind, member: Member) -> FlowResult:
    """What a link says of the watch stands in the form already."""
    linked = {f.name: (member.data.query_value(f.name) or "")[: f.length] for f in kind.fields}
    return _show_fields(kind, member, {name: value or kind.defaults.get(name, "") for name, value in linked.items()})


def save_new(kind: Kind, member: Member) -> PageResult:
    typed = read_typed(member, kind.fields)
    arguments = {name: text for name, text in kind.settle(typed, {}).items() if text}
    call = prepare_change(member, kind.tools["create"], **to_arguments(kind.fields, arguments))
    return show_when_answered({"saved": call}, partial(_finish_new, kind, member, typed))


def _finish_new(kind: Kind, member: Member, typed: Mapping[str, str], answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["saved"]
    if not answer.is_good:
        return _show_fields(kind, member, typed, answer=answer)
    return redirect_back(f"{kind.path}/{kind.pick_new(answer)[kind.number]}", "created")


def show_one(kind: Kind, show: Callable[[Member, Answer], FlowResult], member: Member) -> PageResult:
    """`show` gets the answer that holds the watch the path names."""
    number = member.data.path_number("number")
    if not number:
        return show_refusal(kind, Answer(status="not_found"))

    def show_answer(answers: Mapping[str, Answer]) -> FlowResult:
        answer = answers["watch"]
        return show(member, answer) if answer.is_good else show_refusal(kind, answer)

    call = prepare_look(member, kind.tools["look"], **{kind.number: number}, **kind.look)
    return show_when_answered({"watch": call}, show_answer)


def _show_change(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    values = write_values(kind.fields, kind.pick(answer))
    return _show_fields(kind, member, values, values)


def _ask_end(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    line = kind.describe(kind.pick(answer))
    return member.show("watch_stop.html", kind=kind, line=line)


def save_change(kind: Kind, member: Member) -> PageResult:
    fields = [f for f in kind.fields if not f.fixed]
    typed, before = read_typed(member, fields), read_typed(member, fields, BEFORE)
    call = kind.change(member, **pick_changes(fields, kind.settle(typed, before), before))
    return show_when_answered({"saved": call}, partial(_finish_change, kind, member, typed, before))


def _finish_change(
    kind: Kind, member: Member, typed: Mapping[str, str], before: Mapping[str, str], answers: Mapping[str, Answer]
) -> FlowResult:
    answer = answers["saved"]
    if answer.is_good:
        return redirect_back(kind.find_page(member), "changed")
    if answer.status == "not_found":
        return show_refusal(kind, answer)
    return _show_fields(kind, member, typed, before, answer)


def switch(kind: Kind, active: bool, member: Member) -> PageResult:
    """Pauses or resumes at once: the page that follows offers the way back."""
    call = kind.change(member, active=active)
    return show_when_answered({"switched": call}, partial(_finish_switching, kind, active, member))


def _finish_switching(kind: Kind, active: bool, member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["switched"]
    if not answer.is_good:
        return show_refusal(kind, answer)
    return redirect_back(kind.find_page(member), "resumed" if active else "paused")


def end(kind: Kind, member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    call = prepare_change(member, kind.tools["end"], **{kind.number: number})
    return show_when_answered({"ended": call}, partial(_finish_ending, kind, member))


def _finish_ending(kind: Kind, member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["ended"].is_good:
        return show_refusal(kind, answers["ended"])
    return redirect_back(kind.find_page(member), "stopped") if kind.is_kept else redirect_back(LIST, "deleted")


def build_routes(kind: Kind) -> list[Route]:
    """The routes all kinds have besides the page of one watch."""
    one = f"{kind.path}/{{number}}"
    routes = [
        get_for_member(f"{kind.path}/new", partial(show_new, kind)),
        post_for_member(f"{kind.path}/new", partial(save_new, kind)),
        get_for_member(f"{one}/change", partial(show_one, kind, partial(_show_change, kind))),
        post_for_member(f"{one}/change", partial(save_change, kind)),
        get_for_member(f"{one}/end", partial(show_one, kind, partial(_ask_end, kind))),
        post_for_member(f"{one}/end", partial(end, kind)),
    ]
    if kind.is_pausable:
        routes.append(post_for_member(f"{one}/pause", partial(switch, kind, False)))
        routes.append(post_for_member(f"{one}/resume", partial(switch, kind, True)))
    return routes
