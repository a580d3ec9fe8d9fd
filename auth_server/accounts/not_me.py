"""The page behind "this was not me" of a security mail: one button ends every access and asks for a new password."""

from auth_server.accounts import access, address_change, email_links, factors, linked_identities
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import check_link_form, show_link_form
from auth_server.web.outcomes import FlowResult, Page, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.forwarding_addresses import remove_since
from shared.db.known_browsers import forget_browsers
from shared.db.one_time_links import OneTimeLink
from shared.settings import settings


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_link_form(uow, data, "not_me", "not-me", _describe_address)


def _describe_address(_uow: UnitOfWork, link: OneTimeLink, account: Account) -> dict[str, str]:
    """The address the account goes back to, if it changed after the mail."""
    return {"address": link.address} if link.address and link.address != account.email else {}


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Ends all access and the old password, so anyone who knows it stays out until a new one is chosen by mail."""
    checked = check_link_form(uow, data, "not_me", "not-me")
    if isinstance(checked, Page):
        return checked
    _, link, account = checked
    uow.db.delete(link)
    uow.db.flush()
    account.password_hash = None
    address_change.give_back(uow, account, link.address)
    forget_browsers(uow.db, account.id)
    access.end_all(uow, account, "not_me")
    factors.remove_suspects(uow.db, account)
    linked_identities.remove_since(uow.db, account.id, clock.now() - factors.SUSPECT_AGE)
    remove_since(uow.db, account.id, clock.now() - factors.SUSPECT_AGE)
    email_links.delete_all(uow, account)
    record_event(uow, account, "everything_ended", user_agent=data.user_agent)
    way_in = _open_way_in(uow, account)
    page = show_problem(
        "Every access is ended",
        "All browsers, applications and keys are signed out, and the old password no longer works."
        " Passkeys, authenticator apps, recovery codes and sign-ins of other providers that were added in the last 30"
        " days do not work any longer, and addresses allowed to forward bookings in these days are removed."
        f" {way_in}",
        200,
    )
    page.session_cookie = ""
    return page


def _open_way_in(uow: UnitOfWork, account: Account) -> str:
    """Says in a sentence how the owner gets in again."""
    if not settings().password_sign_in:
        return "Sign in again with a provider of the sign-in page; it asks for a mail to your address once more."
    email_links.send(uow, account, "reset_password", "/dashboard/security")
    return f"A mail to {account.email} holds a link to choose a new password."
