"""Signed-in members of the dashboard: their request, the frame of their pages, and the guards of pages and forms."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy.orm import Session

from auth_server.accounts import accounts, signin
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.domain.plans import Plan

T = TypeVar("T")
TABS = (
    ("/dashboard", "Overview"),
    ("/dashboard/keys", "API keys"),
    ("/dashboard/api-apps", "API apps"),
    ("/dashboard/spending", "Spending"),
    ("/dashboard/settings", "Settings"),
    ("/dashboard/account", "Account"),
)


@dataclass(frozen=True)
class Member:
    """One request of one signed-in person."""

    uow: UnitOfWork
    data: RequestData
    session: WebSession
    account: Account

    @property
    def db(self) -> Session:
        return self.uow.db

    @property
    def plan(self) -> Plan:
        return Plan.of(self.account.plan)

    def csrf(self, path: str) -> str:
        """The token of the form that is sent to this path."""
        return sessions.make_csrf_token(self.session, path)

    def show(self, template: str, status: int = 200, /, **context: Any) -> Page:
        frame = {
            "account": self.account,
            "plan": self.plan,
            "csrf": self.csrf,
            "tabs": TABS,
            "tab": find_tab(self.data.path),
            "done": self.data.query_value("done") or "",
        }
        return Page(template, frame | context, status)

    def check_password(self, password: str) -> Page | None:
        """None when this is the person's password, else the page to show. Failures count as those of sign-in do."""
        attempts = signin.SignInAttempts(self.account.email or "", self.data.peer)
        if attempts.is_blocked():
            return signin.show_too_many_attempts()
        if accounts.check_password(self.account, password):
            return None
        attempts.record_failure()
        return show_problem("The password is wrong", "Nothing was changed. Please go back and try again.", 403)


def find_tab(path: str) -> str:
    """The tab a page belongs to: the longest matching path."""
    return max((to for to, _ in TABS if path == to or path.startswith(to + "/")), key=len, default="")


Flow = Callable[[UnitOfWork, RequestData], FlowResult]
MemberFlow = Callable[[Member], FlowResult]


def page_for_member(flow: MemberFlow) -> Flow:
    """A page: whoever is signed out signs in and comes back to it."""

    def guarded_flow(uow: UnitOfWork, data: RequestData) -> FlowResult:
        session = sessions.load(uow.db, data.cookie)
        account = sessions.find_account(uow.db, session)
        if session is None or account is None:
            return Redirect(f"/signin?return_to={quote(data.path)}", status=302)
        return flow(Member(uow, data, session, account))

    return guarded_flow


def form_for_member(flow: Callable[[Member], T]) -> Callable[[UnitOfWork, RequestData], T | FlowResult]:
    """A page's form, which must carry the token made for the path it is sent to."""

    def guarded_flow(uow: UnitOfWork, data: RequestData) -> T | FlowResult:
        session = sessions.load_for_form(uow.db, data, data.path)
        account = sessions.find_account(uow.db, session)
        if session is None or account is None:
            return FORM_EXPIRED
        return flow(Member(uow, data, session, account))

    return guarded_flow


def redirect_back(to: str, done: str) -> Redirect:
    """To the page the form came from; `done` names the message it then shows."""
    return Redirect(f"{to}?done={done}")
