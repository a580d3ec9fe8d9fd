"""Account page of the dashboard: plan, applications, claim, password, address, a copy of all data, and deletion."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from anyio import to_thread
from pydantic_core import to_json
from sqlalchemy import ColumnElement, Table, select
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - registers every table
from auth_server.accounts import access, accounts, address_change, step_up
from auth_server.accounts.password_reset import change_password
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import describe_faults
from auth_server.pages import account_deletion
from auth_server.pages.connected_applications import draw_calls, list_connections, list_usage
from auth_server.pages.member import Member, redirect_back
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, JsonResponse, PageResult, Redirect, WaitingStep, show_problem
from shared import clock
from shared.db.accounts import Account
from shared.db.base import Base
from shared.db.sign_in_methods import has_second_factor
from shared.errors import Invalid
from shared.limits import hit
from shared.limits.heavy_work import take_place
from shared.settings import settings

# Export of an account: every row that belongs to it, in every table, without secrets.

# Useless to the person, useful to a thief of the copy. `facts` of a message contain what its link derives from.
_SECRET = re.compile(r"hash|secret|sealed|token|password|nonce|csrf|challenge|^facts$|^ending$|^traceparent$")
_ACCOUNTS = Account.__table__


def export_account(db: Session, account_id: int) -> dict[str, Any]:
    """Returns rows by table, of both data modes: the session's guards do not apply to tables."""
    tables: dict[str, Any] = {"exported_at": clock.now()}
    for table, owned in _list_owned_tables(account_id).items():
        columns = [column for column in table.columns if not _SECRET.search(column.name)]
        rows = db.execute(select(*columns).where(owned).order_by(*table.primary_key.columns)).mappings()
        tables[table.name] = [dict(row) for row in rows]
    return tables


def _list_owned_tables(account_id: int) -> dict[Table, ColumnElement[bool]]:
    """Each table with rows of accounts, directly or through another table, and this account's rows."""
    conditions: dict[Table, ColumnElement[bool]] = {}
    for table in Base.metadata.sorted_tables:
        if (owned := _find_owner_condition(table, account_id, conditions)) is not None:
            conditions[table] = owned
    return conditions


def _find_owner_condition(
    table: Table, account_id: int, conditions: dict[Table, ColumnElement[bool]]
) -> ColumnElement[bool] | None:
    """For a table that refers to the account, only that reference: its other keys may lead to someone else's rows."""
    if table is _ACCOUNTS:
        return table.c.id == account_id
    keys = [key for key in table.foreign_keys if key.column.table is not table]
    for key in keys:
        if key.column.table is _ACCOUNTS:
            return key.parent == account_id
    for key in keys:
        if key.column.table in conditions:
            return key.parent.in_(select(key.column).where(conditions[key.column.table]))
    return None


PATH = "/dashboard/account"
COPIES_PER_HOUR = 10
ADDRESSES_PER_DAY = 5


def show(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    ticked = {name for name, value in member.data.form if value == "on"}
    change = address_change.find_pending(member.uow, member.account)
    connected, use = list_connections(member), list_usage(member)
    has_factor = member.account.is_admin and has_second_factor(member.db, member.account.id)
    context = {"ticked": ticked, "change": change, "connected": connected, "use": use, "has_factor": has_factor}
    return member.show("account.html", status, faults=faults or {}, calls=draw_calls(member), **context)


def save_password(member: Member) -> FlowResult:
    """Signs out all browsers but this one, which gets a new identifier; ends applications and keys if ticked."""
    try:
        accounts.validate_password(member.data.form_value("password"), member.account.email or "")
    except Invalid as error:
        return show(member, 422, describe_faults(error))
    if member.account.password_hash is None and not step_up.is_fresh(member.session):
        return step_up.ask_for_form(member.data, member.account, PATH)
    if (refusal := _check_present_password(member, "current", show)) is not None:
        return refusal
    signed_in_at = member.session.authenticated_at
    password_hash = accounts.hash_password(member.data.form_value("password"), member.account.email or "")
    change_password(member.uow, member.account, password_hash)
    if member.data.form_value("end_applications") == "on":
        access.end_applications(member.uow, member.account, "password_changed")
    if member.data.form_value("end_keys") == "on":
        access.end_keys(member.uow, member.account)
    record_event(member.uow, member.account, "password_changed", user_agent=member.data.user_agent)
    session, cookie = sessions.open_session(member.db, member.account.id, member.data.user_agent)
    session.authenticated_at = signed_in_at  # the password may be only one factor of two
    return Redirect(f"{PATH}?done=password", session_cookie=cookie)


def _check_present_password(
    member: Member, field: str, show_form: Callable[[Member, int, dict[str, str]], FlowResult]
) -> FlowResult | None:
    """Also None for an account without a password, or with passwords off: then the fresh sign-in counts."""
    if member.account.password_hash is None or not settings().password_sign_in:
        return None
    return member.check_password(member.data.form_value(field), lambda fault: show_form(member, 403, {field: fault}))


def show_address(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    return member.show("account_address.html", status, faults=faults or {}, email=member.read_field("email"))


def request_address(member: Member) -> FlowResult:
    """Answers the same whether or not the new address has an account."""
    account, data = member.account, member.data
    verdict = hit(f"address:{account.id}", ADDRESSES_PER_DAY, 86400)
    if not verdict.allowed:
        return show_problem("Too many changes", "Please wait a day and try again.", 429, verdict.retry_after)
    try:
        change = address_change.request_change(member.uow, data, account, data.form_value("email"))
    except Invalid as error:
        return show_address(member, 422, describe_faults(error))
    page = member.show("account_address_sent.html", change=change)
    page.afterwards = partial(address_change.write_to_new_address, account_id=account.id, address=change.new_email)
    return page


def withdraw_address(member: Member) -> FlowResult:
    address_change.withdraw(member.uow, member.account)
    return redirect_back(PATH, "address_withdrawn")


def export(member: Member) -> PageResult:
    """Exports everything in the account as a file; an account makes one at a time."""
    verdict = hit(f"export:{member.account.id}", COPIES_PER_HOUR, 3600)
    if not verdict.allowed:
        return show_problem("Too many copies", "Please wait a little and try again.", 429, verdict.retry_after)
    return WaitingStep(lambda _tools: _write_copy(member))


async def _write_copy(member: Member) -> FlowResult:
    async with take_place() as places:
        rows = await member.transact(lambda db: export_account(db, member.account.id))
        write = partial(to_json, rows, indent=2, bytes_mode="base64")
        body = await to_thread.run_sync(write, limiter=places.threads)
    name = f"award-travel-{clock.today().isoformat()}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return await member.run(partial(_record_copy, JsonResponse(200, body, headers)))


def _record_copy(copy: JsonResponse, member: Member) -> FlowResult:
    record_event(member.uow, member.account, "data_exported", user_agent=member.data.user_agent)
    return copy


def show_delete(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    return member.show("account_delete.html", status, faults=faults or {})


def delete(member: Member) -> FlowResult:
    """Deletes the account; needs a fresh sign-in, and the password if there is one."""
    if (refusal := _check_present_password(member, "password", show_delete)) is not None:
        return refusal
    account_deletion.delete_account(member.uow, member.account)
    page = show_problem(
        "Your account is deleted", "Everything it held is gone, and no application can use it any longer.", 200
    )
    page.session_cookie = ""
    return page
