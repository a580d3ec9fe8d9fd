"""The door of the dashboard: a request goes in; the flow behind it gets the signed-in person, or nobody gets in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from auth_server.accounts import accounts, signin
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page, Redirect, problem
from auth_server.web.request_data import RequestData
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

    server: Server
    inc: RequestData
    session: WebSession
    account: Account

    @property
    def plan(self) -> Plan:
        return Plan.of(self.account.plan)

    def csrf(self, path: str) -> str:
        """The token of the form that is sent to this path."""
        return sessions.csrf(self.session, path)

    def page(self, template: str, status: int = 200, /, **shown: Any) -> Page:
        frame = {
            "account": self.account,
            "plan": self.plan,
            "csrf": self.csrf,
            "tabs": TABS,
            "tab": tab(self.inc.path),
            "done": self.inc.query_value("done") or "",
        }
        return Page(template, frame | shown, status)

    def guessed(self, password: str) -> Page | None:
        """None when this is the person's password; else why not to go on. Guesses count as those of sign-in do."""
        guesses = signin.Guesses(self.account.email or "", self.inc.peer)
        if guesses.exhausted():
            return signin.too_many_guesses()
        if accounts.check_password(self.account, password):
            return None
        guesses.failed()
        return problem("The password is wrong", "Nothing was changed. Please go back and try again.", 403)


def tab(path: str) -> str:
    """The tab a page belongs to: the longest that leads there."""
    return max((to for to, _ in TABS if path == to or path.startswith(to + "/")), key=len, default="")


Flow = Callable[[Server, RequestData], FlowResult]
MemberFlow = Callable[[Member], FlowResult]


def page_for_member(flow: MemberFlow) -> Flow:
    """A page: whoever is signed out signs in and comes back to it."""

    def guarded(server: Server, inc: RequestData) -> FlowResult:
        session = sessions.load(server.db, inc.cookie)
        account = sessions.person(server.db, session)
        if session is None or account is None:
            return Redirect(f"/signin?return_to={quote(inc.path)}", status=302)
        return flow(Member(server, inc, session, account))

    return guarded


def form_for_member(flow: Callable[[Member], T]) -> Callable[[Server, RequestData], T | FlowResult]:
    """A page's form, which must carry the token made for the path it is sent to."""

    def guarded(server: Server, inc: RequestData) -> T | FlowResult:
        session = sessions.load(server.db, inc.cookie)
        account = sessions.person(server.db, session)
        if session is None or account is None or not sessions.csrf_holds(session, inc.path, inc.form_value("csrf")):
            return problem("This form has expired", "Please go back and try again.", 403)
        return flow(Member(server, inc, session, account))

    return guarded


def back(to: str, done: str) -> Redirect:
    """To the page the form came from, which says what was done."""
    return Redirect(f"{to}?done={done}")
