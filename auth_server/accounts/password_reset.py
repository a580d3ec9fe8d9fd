"""Password reset: a link by mail, and a form behind it for the new password and for what stays signed in.

Anyone who needs a new password may have lost the old one to a thief, so applications and keys end with it. Those to
keep are ticked in the same form: one transaction changes the password and ends the rest, with no waiting for an
answer.
"""

from typing import Any

from auth_server.accounts import access, accounts, address_change, api_keys, authorizations, email_links, signin
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import (
    check_link_form,
    check_rate_limit,
    describe_faults,
    show_again,
    show_empty_form,
    show_expired_form,
    show_link_form,
    show_mail_sent,
    signup_allows,
)
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.one_time_links import OneTimeLink
from shared.db.password_guesses import clear_guesses
from shared.domain.dates import format_weekday
from shared.errors import Invalid

MAX_KEYS_LISTED = 12  # that fit into the form next to the applications; claimed agents may add more keys
KEEP_APPLICATION, KEEP_KEY = "keep_application_", "keep_key_"  # and the id, in the names of the fields


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_empty_form(uow, data, "recover")


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "recover")
    if session is None:
        return show_expired_form(uow, data, "recover")
    if (refusal := check_rate_limit(data)) is not None:
        return refusal
    try:
        return show_mail_sent(accounts.normalize_email(data.form_value("email")), _send_link)
    except Invalid as error:
        return show_again(session, data, "recover", describe_faults(error))


def _send_link(uow: UnitOfWork, data: RequestData) -> None:
    account = accounts.find_account(uow.db, data.form_value("email"))
    if account is None or account.disabled_at is not None or not email_links.can_mail(account.email or ""):
        return
    if account.email_confirmed_at is None and not signup_allows(uow.db, account.email or ""):
        return  # an invitation that has expired is not renewed by asking for a password
    email_links.send(uow, account, "reset_password", signin.safe_return_path(data.form_value("return_to")))


def show_reset_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_link_form(uow, data, "reset_password", "reset", _describe_access)


def _describe_access(uow: UnitOfWork, _link: OneTimeLink, account: Account) -> dict[str, Any]:
    return {
        "applications": authorizations.list_active(uow.db, account.id),
        "keys": api_keys.list_active(uow.db, account.id)[:MAX_KEYS_LISTED],
        "day": lambda moment: format_weekday(moment.date()),
    }


def _read_ticked(data: RequestData, prefix: str) -> set[str]:
    """The ids ticked to keep: each field's name without the prefix."""
    ticked = (name for name, value in data.form if value == "on")
    return {name.removeprefix(prefix) for name in ticked if name.startswith(prefix)}


def reset(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Sets the password; the link has proved the address, so this also confirms the account."""
    checked = check_link_form(uow, data, "reset_password", "reset")
    if isinstance(checked, Page):
        return checked
    session, link, account = checked
    try:
        password_hash = accounts.hash_password(data.form_value("password"), account.email or "")
    except Invalid as error:
        context = {
            "csrf": sessions.make_csrf_token(session, "reset"),
            "token": data.form_value("token"),
            "email": account.email,
            "faults": describe_faults(error),
            "ticked": _read_ticked(data, ""),
        }
        return Page("reset.html", context | _describe_access(uow, link, account), 422)
    return_to = link.return_to
    account.email_confirmed_at = account.email_confirmed_at or clock.now()
    change_password(uow, account, password_hash)
    access.end_applications(uow, account, "password_reset", keep=_read_ticked(data, KEEP_APPLICATION))
    access.end_keys(uow, account, keep=[int(id[:18]) for id in _read_ticked(data, KEEP_KEY) if id.isdecimal()])
    record_event(uow, account, "password_reset", user_agent=data.user_agent)
    return signin.continue_sign_in(uow, data, session, account, return_to)


def change_password(uow: UnitOfWork, account: Account, password_hash: str) -> None:
    """Sets it; signs out every browser, ends every link that lets someone in, and resets wrong guesses.

    A pending change of address is withdrawn: a thief may have asked for it.
    """
    account.password_hash = password_hash
    clear_guesses(uow.db, account.id)
    address_change.withdraw(uow, account)
    email_links.delete_all(uow, account)
    sessions.end_all(uow, account.id)
