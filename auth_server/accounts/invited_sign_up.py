"""The page behind an invitation: the invited person chooses a password and is signed in."""

from auth_server.accounts import accounts, email_links, invitations, signin, signup
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.errors import Invalid
from shared.settings import settings

ACTION = "invitation"


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    if settings().signup_rule == "closed":
        return signup.DEAD_LINK
    return signup.show_link_form(uow, data, invitations.PURPOSE, ACTION)


def accept(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Sets the password; the link has proved the address."""
    checked = signup.check_link_form(uow, data, invitations.PURPOSE, ACTION)
    if isinstance(checked, Page):
        return checked
    if settings().signup_rule == "closed":
        return signup.DEAD_LINK
    session, _, account = checked
    try:
        account.password_hash = accounts.hash_password(data.form_value("password"), account.email or "")
    except Invalid as error:
        csrf = sessions.make_csrf_token(session, ACTION)
        context = {"csrf": csrf, "token": data.form_value("token"), "email": account.email}
        return Page("invitation.html", context | {"faults": signup.describe_faults(error)}, 422)
    account.email_confirmed_at = clock.now()
    email_links.delete_all(uow, account)
    return signin.continue_sign_in(uow, data, session, account, None)
