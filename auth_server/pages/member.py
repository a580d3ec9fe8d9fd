"""Signed-in members of the dashboard: their request, the frame of their pages, the guards and routes of both."""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode

from sqlalchemy.orm import Session
from starlette.routing import Route

from auth_server.accounts import access, password_guesses, signin, step_up
from auth_server.web import sessions
from auth_server.web.flows import run_counted
from auth_server.web.handlers import handle_form, handle_page
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, PageResult, Redirect, WaitingStep
from auth_server.web.request_data import MAX_BODY_BYTES, MAX_QUERY_CHARACTERS, RequestData
from auth_server.web.tool_server import ToolServer
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.messages import count_unread
from shared.db.oauth import WebSession
from shared.db.profile import find_time_zone
from shared.domain.plans import Plan
from shared.limits import hit
from shared.secrets import digest

T = TypeVar("T")
# The places of the navigation with their icons. On a phone the first five form the bottom bar.
PLACES = (
    ("/dashboard", "Home", "home"),
    ("/dashboard/search", "Search", "search"),
    ("/dashboard/trips", "Trips", "trips"),
    ("/dashboard/balances", "Wallet", "wallet"),
    ("/dashboard/watches", "Watches", "watches"),
    ("/dashboard/notices", "Inbox", "bell"),
    ("/dashboard/clients", "Clients", "clients"),
    ("/connect", "Connect", "connect"),
    ("/dashboard/account", "Account", "account"),
)
_OF_ADVISORS = "/dashboard/clients"
# Pages that belong together are sections of the place whose address the group starts with.
SECTIONS = (
    (
        ("/dashboard/clients", "Clients"),
        ("/dashboard/clients/documents", "Documents"),
    ),
    (
        ("/dashboard/balances", "Balances"),
        ("/dashboard/cards", "Cards"),
        ("/dashboard/statuses", "Statuses"),
        ("/dashboard/vouchers", "Vouchers"),
        ("/dashboard/deadlines", "Deadlines"),
        ("/dashboard/spending", "Spending"),
    ),
    (
        ("/dashboard/trips", "Trips"),
        ("/dashboard/bookings", "Bookings"),
        ("/dashboard/calendar", "Calendar"),
    ),
    (
        ("/dashboard/notices", "Notices"),
        ("/dashboard/inbox", "Forwarded mail"),
    ),
    (
        ("/dashboard/account", "Account"),
        ("/dashboard/profile", "Profile"),
        ("/dashboard/settings", "Settings"),
        ("/dashboard/integrations", "Integrations"),
        ("/dashboard/activity", "Activity"),
        ("/dashboard/security", "Security"),
        ("/dashboard/sign-in-methods", "Sign-in methods"),
        ("/dashboard/keys", "API keys"),
        ("/dashboard/api-apps", "API apps"),
    ),
)


@dataclass(frozen=True)
class Member:
    """One request of one signed-in person."""

    uow: UnitOfWork
    data: RequestData
    session: WebSession
    account: Account
    zone: str | None = None  # of the profile; None = UTC
    unread: int = 0  # notices of the inbox
    tools: ToolServer | None = None  # of a handler that is a coroutine function

    @property
    def db(self) -> Session:
        return self.uow.db

    @property
    def plan(self) -> Plan:
        return Plan.of(self.account.plan)

    @property
    def _sees_clients(self) -> bool:
        """Whether the navigation lists clients: also for former advisors who reach the page by a link."""
        return self.plan >= Plan.PRO or bool(find_address(self.data.path, ((_OF_ADVISORS,),)))

    async def transact(self, work: Callable[[Session], T]) -> T:
        """Runs a coroutine handler's work with rows in its own transaction."""
        return await run_counted(lambda uow, _: work(uow.db), self.data)

    async def run(self, flow: "MemberFlow") -> FlowResult:
        """Runs a further step of the request in its own transaction, after work that must not run in one."""
        return await run_counted(lambda uow, _: cast("FlowResult", flow(replace(self, uow=uow))), self.data)

    def csrf(self, path: str) -> str:
        """The token of the form that is sent to this path."""
        return sessions.make_csrf_token(self.session, path)

    def read_field(self, name: str) -> str:
        """A field of the form, or what was typed into it before the person had to sign in again."""
        return self.data.form_value(name) or step_up.restore_fields(self.data, self.account).get(name, "")

    def show(self, template: str, status: int = 200, /, **context: Any) -> Page:
        path = self.data.path
        group = next((sections for sections in SECTIONS if find_address(path, sections)), ())
        frame = {
            "account": self.account,
            "plan": self.plan,
            "csrf": self.csrf,
            "places": [place for place in PLACES if place[0] != _OF_ADVISORS or self._sees_clients],
            "place": group[0][0] if group else find_address(path, PLACES),
            "sections": group,
            "section": find_address(path, group),
            "path": path,
            "once": secrets.token_hex(16),
            "zone": self.zone,
            "inbox_count": self.unread,
            "done": self.data.query_value("done") or "",
        }
        return Page(template, frame | context, status)

    def take_form_once(self) -> bool:
        """Whether this form was not sent before: a reload must not remake a page that shows a secret."""
        nonce = self.data.form_value("once")
        return not nonce or hit(f"once:{self.account.id}:{digest(nonce)[:32]}", 1, 86400).allowed

    def check_password(self, password: str, show_fault: Callable[[str], FlowResult]) -> FlowResult | None:
        """None when this is the person's password, else the page to show. Failures count as at sign-in."""
        attempts = signin.SignInAttempts(self.account.email or "", self.data.peer)
        if not attempts.begin():
            return signin.show_too_many_attempts()
        email, user_agent = self.account.email or "", self.data.user_agent
        if password_guesses.check_password(self.uow, self.account, email, password, user_agent):
            attempts.take_back()
            return None
        return show_fault("The password is wrong. Nothing was changed.")


def find_address(path: str, pages: Sequence[tuple[str, ...]]) -> str:
    """The address a page belongs to: the longest one that is a prefix of its path, or nothing."""
    return max((to for to, *_ in pages if path == to or path.startswith(to + "/")), key=len, default="")


Flow = Callable[[UnitOfWork, RequestData], PageResult]
MemberFlow = Callable[[Member], PageResult]
MemberHandler = MemberFlow | Callable[[Member], Awaitable[FlowResult]]


def begin(flow: MemberHandler, member: Member) -> PageResult:
    """Starts a coroutine function after the transaction: it may wait for tools, and reads no rows itself."""
    if iscoroutinefunction(flow):
        return WaitingStep(lambda tools: flow(replace(member, tools=tools)))
    return cast("MemberFlow", flow)(member)


def page_for_member(flow: MemberHandler, *, fresh: bool = False) -> Flow:
    """Shows a page; anyone signed out, or with a sign-in that is too old, signs in first and returns."""

    def guarded_flow(uow: UnitOfWork, data: RequestData) -> PageResult:
        session = sessions.load(uow.db, data.cookie)
        account = sessions.find_account(uow.db, session)
        if session is None or account is None:
            if access.is_of_suspended_account(uow, session):
                return access.SUSPENDED
            return Redirect(f"/signin?return_to={quote(write_address(data))}", status=302)
        if fresh and not step_up.is_fresh(session):
            return step_up.ask_for_page(write_address(data))
        zone, unread = find_time_zone(uow.db, account.id), count_unread(uow.db, account.id)
        return begin(flow, Member(uow, data, session, account, zone, unread))

    return guarded_flow


def write_address(data: RequestData) -> str:
    """The requested page with its query, left out if too long for another address."""
    query = urlencode(data.query)
    return f"{data.path}?{query}" if 0 < len(query) <= MAX_QUERY_CHARACTERS else data.path


def form_for_member(
    flow: Callable[[Member], T], *, fresh: bool = False, page: str | None = None
) -> Callable[[UnitOfWork, RequestData], T | FlowResult]:
    """Handles a form, which must have the token made for the path it is sent to.

    With `fresh` a person whose sign-in is too old signs in again and comes back to the form, which is on `page`.
    """

    def guarded_flow(uow: UnitOfWork, data: RequestData) -> T | FlowResult:
        session = sessions.load_for_form(uow.db, data, data.path)
        account = sessions.find_account(uow.db, session)
        if session is None or account is None:
            return access.SUSPENDED if access.is_of_suspended_account(uow, session) else FORM_EXPIRED
        if fresh and not step_up.is_fresh(session):
            return step_up.ask_for_form(data, account, page or data.path)
        return flow(Member(uow, data, session, account, find_time_zone(uow.db, account.id)))

    return guarded_flow


def redirect_back(to: str, done: str) -> Redirect:
    """Redirects to the form's page; `done` names the message to show there."""
    return Redirect(f"{to}?done={done}")


# Routes of pages and forms for members; each page module lists its own as `ROUTES`.


def get_for_member(path: str, flow: MemberHandler, *, fresh: bool = False) -> Route:
    """With `fresh` anyone who signed in more than ten minutes ago signs in again first.

    The query may name things in any language, as people name them.
    """
    return Route(path, handle_page(page_for_member(flow, fresh=fresh), text=True), methods=["GET"])


def post_for_member(
    path: str,
    flow: MemberHandler,
    *,
    hashes: bool = False,
    fresh: bool = False,
    page: str | None = None,
    max_bytes: int = MAX_BODY_BYTES,
) -> Route:
    """`page` is where the form stands, when its address is another than the form's."""
    guarded_flow = form_for_member(partial(begin, flow), fresh=fresh, page=page)
    return Route(path, handle_form(guarded_flow, hashes=hashes, max_bytes=max_bytes), methods=["POST"])
