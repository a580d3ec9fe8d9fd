"""Operators: who may open their pages, the frame of those pages, and the page that asks before something changes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.routing import Route

from auth_server.accounts import step_up
from auth_server.pages.member import (
    Flow,
    Member,
    MemberFlow,
    find_address,
    form_for_member,
    page_for_member,
    write_address,
)
from auth_server.web import sessions
from auth_server.web.error_handlers import describe_missing_page
from auth_server.web.handlers import handle_form, handle_page
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.operator_actions import OperatorAction

PATH = "/operate"
_NAMES = ("users", "jobs", "mail", "providers", "facts", "figures", "settings", "trail")
USERS, JOBS, MAIL, PROVIDERS, FACTS, FIGURES, SETTINGS, TRAIL = (f"{PATH}/{name}" for name in _NAMES)
TABS = ((PATH, "Start"), *((f"{PATH}/{name}", name.title()) for name in _NAMES))
NEEDS_FACTOR = show_problem(
    "Add a second factor first",
    "The pages of operators open with a passkey or an authenticator app besides your password.",
    403,
    links=(("/dashboard/sign-in-methods", "To your sign-in methods"),),
)
MAX_REASON_CHARACTERS = 500
MAX_PAGE = 10**6
MAX_DIGITS = 18
T = TypeVar("T")


@dataclass(frozen=True)
class Question:
    """What a page asks before it acts: `fields` say what it is about, and `back` leads to where it came from."""

    path: str  # of the form, and of the page that asks
    title: str
    text: str
    button: str
    back: tuple[str, str]  # address and words
    fields: dict[str, str] = field(default_factory=dict)


def get_for_operator(path: str, flow: MemberFlow) -> Route:
    return Route(path, handle_page(_guard(page_for_member(flow, fresh=True)), text=True), methods=["GET"])


def post_for_operator(path: str, flow: MemberFlow) -> Route:
    """The form is on the page of the same address."""
    return Route(path, handle_form(_guard(form_for_member(flow, fresh=True))), methods=["POST"])


def build_change_routes(
    path: str,
    find: Callable[[Member], T | None],
    ask_about: Callable[[Member, T, str], FlowResult],
    act: Callable[[Member, T, str], FlowResult],
) -> list[Route]:
    """The page that asks about what `find` finds, and its form, which acts with the reason. Both 404 without it."""

    def show_question(member: Member) -> FlowResult:
        target = find(member)
        return show_nothing() if target is None else ask_about(member, target, "")

    def change(member: Member) -> FlowResult:
        target, reason = find(member), read_reason(member)
        if target is None:
            return show_nothing()
        return ask_about(member, target, REASON_FAULT) if reason is None else act(member, target, reason)

    return [get_for_operator(path, show_question), post_for_operator(path, change)]


def _guard(flow: Flow) -> Flow:
    """Answers 404 to everyone else; tells an administrator without a second factor to add one.

    Anyone who signed in before the first factor was added has not shown one, and signs in again.
    """

    def guarded_flow(uow: UnitOfWork, data: RequestData) -> PageResult:
        session = sessions.load(uow.db, data.cookie)
        account = sessions.find_account(uow.db, session)
        since = step_up.find_factor_age(uow.db, account) if account is not None and account.is_admin else None
        if session is not None and account is not None and account.is_admin and since is None:
            return NEEDS_FACTOR
        if session is None or since is None:
            return show_nothing()
        if not step_up.has_shown_factor(session, since):
            return step_up.ask_for_page(write_address(data))
        return flow(uow, data)

    return guarded_flow


def show_nothing() -> Page:
    """Shows the page for an unknown address."""
    return describe_missing_page()


def show(member: Member, template: str, status: int = 200, /, **context: Any) -> Page:
    tab = find_address(member.data.path, TABS)
    frame = {"place": "", "sections": TABS, "section": tab}
    return member.show(template, status, **frame | context)


def ask(member: Member, question: Question, fault: str = "", **context: Any) -> Page:
    reason, status = member.read_field("reason"), 422 if member.data.method == "POST" else 200
    return show(member, "operate_ask.html", status, question=question, reason=reason, fault=fault, **context)


def read_page(member: Member) -> int:
    """The page of a list that the address asks for, from 1."""
    return max(1, min(read_number(member, "page") or 1, MAX_PAGE))


def read_number(member: Member, name: str) -> int | None:
    """A whole number of the address or the form, within the database's range; None if missing."""
    text = member.data.query_value(name) or member.read_field(name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def read_reason(member: Member) -> str | None:
    """The reason as typed; None when it is missing or too long."""
    reason = member.data.form_value("reason").strip()
    return reason if 0 < len(reason) <= MAX_REASON_CHARACTERS else None


REASON_FAULT = f"Please say why in 1 to {MAX_REASON_CHARACTERS} characters. The trail keeps it; name no address in it."


def name_actor(member: Member) -> str:
    """The operator's name for the trail: no address."""
    return f"admin:{member.account.public_id}"


def write_trail(member: Member, action: str, target: str, detail: str | None, reason: str | None) -> None:
    """Writes it in the transaction of the change itself, so that neither exists without the other."""
    actor = name_actor(member)
    member.db.add(OperatorAction(actor=actor, action=action, target=target, detail=detail, reason=reason))
    member.db.flush()
