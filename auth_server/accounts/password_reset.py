"""Password reset: a link by mail, and a form behind it for the new password."""

from auth_server.accounts import accounts, email_links, signin
from auth_server.accounts.signup import (
    check_link_form,
    check_rate_limit,
    describe_faults,
    show_again,
    show_empty_form,
    show_link_form,
    show_mail_sent,
)
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.errors import Invalid
from shared.outbox.enqueue import tell


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_empty_form(uow, data, "recover")


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "recover")
    if session is None:
        return FORM_EXPIRED
    if (refusal := check_rate_limit(data)) is not None:
        return refusal
    try:
        return show_mail_sent(accounts.normalize_email(data.form_value("email")), _send_link)
    except Invalid as error:
        return show_again(session, data, "recover", error)


def _send_link(uow: UnitOfWork, data: RequestData) -> None:
    account = accounts.find_account(uow.db, data.form_value("email"))
    if account is None or account.disabled_at is not None or not email_links.can_mail(account.email or ""):
        return
    email_links.send(uow, account, "reset_password", signin.safe_return_path(data.form_value("return_to")))


def show_reset_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_link_form(uow, data, "reset_password", "reset")


def reset(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """The link has proved the address, so it also confirms an account that was not."""
    checked = check_link_form(uow, data, "reset_password", "reset")
    if isinstance(checked, Page):
        return checked
    session, link, account = checked
    try:
        password_hash = accounts.hash_password(data.form_value("password"))
    except Invalid as error:
        context = {
            "csrf": sessions.make_csrf_token(session, "reset"),
            "token": data.form_value("token"),
            "email": account.email,
            "faults": describe_faults(error),
        }
        return Page("reset.html", context, 422)
    return_to = link.return_to
    account.email_confirmed_at = account.email_confirmed_at or clock.now()
    change_password(uow, account, password_hash)
    signin.SignInAttempts(account.email or "", data.peer).record_success()
    return signin.sign_in(uow, data, session, account, return_to)


def change_password(uow: UnitOfWork, account: Account, password_hash: str) -> None:
    """Every browser is signed out, every link is ended, and the person is told by mail."""
    account.password_hash = password_hash
    email_links.delete_all(uow, account)
    sessions.end_all(uow.db, account.id)
    tell(uow.db, account, "password_changed", {}, dedupe_key=f"password:{account.id}:{clock.now()}", mail=True)
