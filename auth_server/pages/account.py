"""Account page of the dashboard: password, browser sessions, a copy of all data, and deletion."""

from pydantic_core import to_json

from auth_server.accounts import accounts
from auth_server.accounts.password_reset import change_password
from auth_server.accounts.signin import sign_in
from auth_server.accounts.signup import describe_faults
from auth_server.pages import account_deletion, data_export
from auth_server.pages.member import Member, redirect_back
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, JsonResponse, Redirect, show_problem
from shared import clock
from shared.errors import Invalid
from shared.limits import hit

PATH = "/dashboard/account"
COPIES_PER_HOUR = 10


def show(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    active = sessions.list_active(member.db, member.account.id)
    return member.show("account.html", status, sessions=active, here=member.session.id_hash, faults=faults or {})


def save_password(member: Member) -> FlowResult:
    """All browsers are signed out but this one, which gets a new identifier."""
    try:
        accounts.validate_password(member.data.form_value("password"))
    except Invalid as error:
        return show(member, 422, describe_faults(error))
    if (refusal := member.check_password(member.data.form_value("current"))) is not None:
        return refusal
    change_password(member.uow, member.account, accounts.hash_password(member.data.form_value("password")))
    return sign_in(member.uow, member.data, member.session, member.account, f"{PATH}?done=password")


def end_session(member: Member) -> FlowResult:
    """Ends one session, given by the first characters of its hash."""
    prefix = member.data.form_value("session")
    for row in sessions.list_active(member.db, member.account.id):
        if len(prefix) >= 16 and row.id_hash.startswith(prefix):
            sessions.end(member.db, row.id_hash)
    return redirect_back(PATH, "signed_out")


def end_sessions(member: Member) -> FlowResult:
    sessions.end_all(member.db, member.account.id)
    return Redirect("/signin", session_cookie="")


def export(member: Member) -> FlowResult:
    """A file with everything the account holds."""
    verdict = hit(f"export:{member.account.id}", COPIES_PER_HOUR, 3600)
    if not verdict.allowed:
        return show_problem("Too many copies", "Please wait a little and try again.", 429, verdict.retry_after)
    name = f"award-travel-{clock.today().isoformat()}.json"
    body = to_json(data_export.export_account(member.db, member.account.id), indent=2, bytes_mode="base64")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return JsonResponse(200, body, headers)


def show_delete(member: Member) -> FlowResult:
    return member.show("account_delete.html")


def delete(member: Member) -> FlowResult:
    if (refusal := member.check_password(member.data.form_value("password"))) is not None:
        return refusal
    account_deletion.delete_account(member.uow, member.account)
    page = show_problem(
        "Your account is deleted", "Everything it held is gone, and no application can use it any more.", 200
    )
    page.session_cookie = ""
    return page
