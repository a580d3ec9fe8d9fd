"""Pages common to all kinds of watches: making, changing, pausing and ending one through its tools."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.routing import Route

from auth_server.pages.forms import Form, ToolForm, mark_values, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look, read_usual
from auth_server.pages.watch_lines import Row, WatchLine
from auth_server.web.outcomes import FlowResult, Page, show_problem
from shared.domain.watch_kinds import WatchKind
from shared.outbox.links import WATCHES_PAGE


@dataclass(frozen=True)
class Listing:
    """One kind on the page of all watches: its words, the tool that lists it, and where the answer holds its rows.

    `name` is that of its page number in the query: `?routes=2`.
    """

    name: str
    title: str
    words: str  # of the link to the form for a new one
    empty: str
    tool: str
    rows: str
    drawing: str = "watches"  # of icons.html
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """The pages of one kind of watch: its names, its tools and their argument for one watch."""

    watch: WatchKind
    noun: str
    number: str
    listing: Listing
    form: ToolForm
    look: str
    end: str
    pick: Callable[[Answer], dict[str, Any]]  # the watch in an answer that shows or made it
    show: Callable[["Kind", Member, Answer], Awaitable[FlowResult]]  # the page of one watch, from the answer of a look
    describe: Callable[[Row], WatchLine]
    verb: str  # Stop or Delete
    end_words: str  # its effect, on the page that asks first
    look_arguments: Mapping[str, str] = field(default_factory=dict)
    is_kept: bool = False  # an ended one stays visible
    is_pausable: bool = True
    added: Mapping[str, Any] = field(default_factory=dict)  # arguments of a new one besides its form
    settle: Callable[[dict[str, str], Mapping[str, str]], dict[str, str]] = lambda typed, _: typed

    @property
    def path(self) -> str:
        return self.watch.path

    @property
    def subject(self) -> Subject:
        return Subject(self.noun, WATCHES_PAGE, "Your watches")

    def name_watch(self, member: Member) -> dict[str, Any]:
        """The argument that names the watch of the path."""
        return {self.number: member.data.path_number("number") or 0}

    def find_page(self, member: Member) -> str:
        return f"{self.path}/{member.data.path_number('number') or 0}"

    async def look_at(self, member: Member) -> Answer:
        """Fetches the watch of the path."""
        which = self.name_watch(member)
        if not which[self.number]:
            return Answer(status="not_found")
        return await look(member, self.look, **which, **self.look_arguments)


def pick_alert(answer: Answer) -> dict[str, Any]:
    """An answer has a new alert by itself, and a shown one as a list of one."""
    alert: dict[str, Any] = answer["alert"] if "alert" in answer else answer["alerts"][0]
    return alert


def explain_limit(answer: Answer) -> str:
    """Explains a plan's limit without naming tools, as tool messages do. Empty for other answers."""
    if answer.status == "paywall":
        return f"This needs the {str(answer['required_tier']).title()} plan. What is there continues as it was."
    if answer.status != "limit_reached":
        return ""
    if answer.get("resets_at"):
        return "It ran by hand within the last hour. Once an hour is possible."
    return f"Your plan runs {answer['cap']} of these at once. Pause or end another one first, or take a larger plan."


def refuse(kind: Kind, answer: Answer) -> Page:
    words = explain_limit(answer)
    links = ((WATCHES_PAGE, kind.subject.words), ("/plans", "Plans"))
    return show_problem("That did not work", words, 409, links=links) if words else kind.subject.refuse(answer)


async def show_one(kind: Kind, member: Member) -> FlowResult:
    answer = await kind.look_at(member)
    return await kind.show(kind, member, answer) if answer.is_good else refuse(kind, answer)


async def show_new(kind: Kind, member: Member) -> FlowResult:
    """Fills the form from the link, or from the profile if the link fills no field."""
    form, usual = await gather(kind.form.load(member, is_new=True), read_usual(member))
    linked = {
        input.name: (member.data.query_value(input.name) or "")[: input.attributes.get("maxlength", 60)]
        for input in form
    }
    return _show(kind, member, form, form.begin(**linked if any(linked.values()) else usual), {})


def _show(
    kind: Kind,
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    saved: Answer | None = None,
) -> FlowResult:
    words = explain_limit(saved) if saved is not None else ""
    return show_form(
        member,
        form,
        typed,
        before,
        title=f"New {kind.noun}" if form.is_new else f"Change this {kind.noun}",
        heading="What to run" if kind.noun == "standing order" else "What to watch",
        back=(WATCHES_PAGE, "Watches") if form.is_new else (kind.find_page(member), f"Back to the {kind.noun}"),
        answer=saved,
        faults={"": words} if words else None,
        button="Start" if form.is_new else "Save",
        note="" if form.is_new else "Changed terms start afresh: what is open then counts as new.",
    )


async def save_new(kind: Kind, member: Member) -> FlowResult:
    form = await kind.form.load(member, is_new=True)
    typed = form.read(member)
    saved = await change(member, kind.form.add, **form.list_filled(kind.settle(typed, {})), **kind.added)
    if not saved.is_good:
        return _show(kind, member, form, typed, {}, saved)
    return redirect_back(f"{kind.path}/{kind.pick(saved)[kind.number]}", "created")


async def show_change(kind: Kind, member: Member) -> FlowResult:
    form, answer = await gather(kind.form.load(member, is_new=False), kind.look_at(member))
    if not answer.is_good:
        return refuse(kind, answer)
    typed = form.write(kind.pick(answer))
    return _show(kind, member, form, typed, mark_values(typed))


async def save_change(kind: Kind, member: Member) -> FlowResult:
    form = await kind.form.load(member, is_new=False)
    typed, before = form.read(member), form.read_before(member)
    changes = form.list_changes(kind.settle(typed, before), before)
    saved = await change(member, kind.form.change, **kind.name_watch(member), **changes)
    if saved.is_good:
        return redirect_back(kind.find_page(member), "changed")
    if saved.status == "not_found":
        return kind.subject.show_gone()
    return _show(kind, member, form, typed, before, saved)


async def switch(kind: Kind, active: bool, member: Member) -> FlowResult:
    """Pauses or resumes at once: the next page offers to undo it."""
    switched = await change(member, kind.form.change, **kind.name_watch(member), active=active)
    if not switched.is_good:
        return refuse(kind, switched)
    return redirect_back(kind.find_page(member), "resumed" if active else "paused")


async def ask_end(kind: Kind, member: Member) -> FlowResult:
    answer = await kind.look_at(member)
    if not answer.is_good:
        return refuse(kind, answer)
    return member.show("watch_stop.html", kind=kind, line=kind.describe(kind.pick(answer)))


async def end(kind: Kind, member: Member) -> FlowResult:
    ended = await change(member, kind.end, **kind.name_watch(member))
    if not ended.is_good:
        return refuse(kind, ended)
    return redirect_back(kind.find_page(member), "stopped") if kind.is_kept else redirect_back(WATCHES_PAGE, "deleted")


def list_routes(kind: Kind) -> list[Route]:
    one = f"{kind.path}/{{number}}"
    routes = [
        get_for_member(f"{kind.path}/new", partial(show_new, kind)),
        post_for_member(f"{kind.path}/new", partial(save_new, kind)),
        get_for_member(one, partial(show_one, kind)),
        get_for_member(f"{one}/change", partial(show_change, kind)),
        post_for_member(f"{one}/change", partial(save_change, kind)),
        get_for_member(f"{one}/end", partial(ask_end, kind)),
        post_for_member(f"{one}/end", partial(end, kind)),
    ]
    if kind.is_pausable:
        routes.append(post_for_member(f"{one}/pause", partial(switch, kind, False)))
        routes.append(post_for_member(f"{one}/resume", partial(switch, kind, True)))
    return routes
