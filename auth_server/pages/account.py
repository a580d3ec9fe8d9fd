"""The account itself: password, signed-in browsers, a copy of everything, and the end of it all."""

from pydantic_core import to_json

from auth_server.accounts import accounts
from auth_server.accounts.password_reset import change_password
from auth_server.accounts.signin import enter
from auth_server.accounts.signup import faults
from auth_server.pages import account_deletion, data_export
from auth_server.pages.member import Member, back
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, JsonResponse, Redirect, problem
from shared import clock
from shared.errors import Invalid
from shared.limits import hit

PATH = "/dashboard/account"
COPIES_PER_HOUR = 10


def page(me: Member, status: int = 200, wrong: dict[str, str] | None = None) -> FlowResult:
    found = sessions.of_account(me.server.db, me.account.id)
    return me.page("account.html", status, sessions=found, here=me.session.id_hash, faults=wrong or {})


def password(me: Member) -> FlowResult:
    """All browsers are signed out but this one, which gets a new identifier."""
    try:
        accounts.proper_password(me.inc.form_value("password"))
    except Invalid as no:
        return page(me, 422, faults(no))
    if (refused := me.guessed(me.inc.form_value("current"))) is not None:
        return refused
    change_password(me.server, me.account, accounts.hash_password(me.inc.form_value("password")))
    return enter(me.server, me.inc, me.session, me.account, f"{PATH}?done=password")


def end_session(me: Member) -> FlowResult:
    """One browser, named by the beginning of its row's key."""
    wanted = me.inc.form_value("session")
    for row in sessions.of_account(me.server.db, me.account.id):
        if len(wanted) >= 16 and row.id_hash.startswith(wanted):
            sessions.end(me.server.db, row.id_hash)
    return back(PATH, "signed_out")


def end_sessions(me: Member) -> FlowResult:
    sessions.end_all(me.server.db, me.account.id)
    return Redirect("/signin", session="")


def copy(me: Member) -> FlowResult:
    """A file with everything the account holds."""
    verdict = hit(f"export:{me.account.id}", COPIES_PER_HOUR, 3600)
    if not verdict.allowed:
        return problem("Too many copies", "Please wait a little and try again.", 429, verdict.retry_after)
    name = f"award-travel-{clock.today().isoformat()}.json"
    body = to_json(data_export.everything(me.server.db, me.account.id), indent=2, bytes_mode="base64")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return JsonResponse(200, body, headers)


def leaving(me: Member) -> FlowResult:
    return me.page("account_delete.html")


def leave(me: Member) -> FlowResult:
    if (refused := me.guessed(me.inc.form_value("password"))) is not None:
        return refused
    account_deletion.close(me.server, me.account)
    gone = problem(
        "Your account is deleted", "Everything it held is gone, and no application can use it any more.", 200
    )
    gone.session = ""
    return gone
