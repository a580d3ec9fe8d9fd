"""A forgotten password: an address goes in, a mail with a link goes out; link and new password let the person in."""

from auth_server.accounts import accounts, email_links, signin
from auth_server.accounts.signup import EXPIRED, again, answered, blank, faults, opened, sent, too_many
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.errors import Invalid
from shared.outbox.enqueue import tell


def form(server: Server, inc: RequestData) -> FlowResult:
    return blank(server, inc, "recover")


def submit(server: Server, inc: RequestData) -> FlowResult:
    session = sessions.load(server.db, inc.cookie)
    if session is None or not sessions.csrf_holds(session, "recover", inc.form_value("csrf")):
        return EXPIRED
    if (limited := too_many(inc)) is not None:
        return limited
    try:
        return sent(accounts.normal_email(inc.form_value("email")), _mail)
    except Invalid as no:
        return again(session, inc, "recover", no)


def _mail(server: Server, inc: RequestData) -> None:
    account = accounts.find_account(server.db, inc.form_value("email"))
    if account is None or account.disabled_at is not None or not email_links.may_mail(account.email or ""):
        return
    email_links.send(server, account, "reset_password", signin.safe_return(inc.form_value("return_to")))


def reset_form(server: Server, inc: RequestData) -> FlowResult:
    return opened(server, inc, "reset_password", "reset")


def reset(server: Server, inc: RequestData) -> FlowResult:
    """The link has proved the address, so it also confirms an account that was not."""
    found = answered(server, inc, "reset_password", "reset")
    if isinstance(found, Page):
        return found
    session, link, account = found
    try:
        hashed = accounts.hash_password(inc.form_value("password"))
    except Invalid as no:
        shown = {
            "csrf": sessions.csrf(session, "reset"),
            "token": inc.form_value("token"),
            "email": account.email,
            "faults": faults(no),
        }
        return Page("reset.html", shown, 422)
    return_to = link.return_to
    account.email_confirmed_at = account.email_confirmed_at or clock.now()
    change_password(server, account, hashed)
    signin.Guesses(account.email or "", inc.peer).succeeded()
    return signin.enter(server, inc, session, account, return_to)


def change_password(server: Server, account: Account, hashed: str) -> None:
    """Every browser is signed out, every link is dead, and the person is told."""
    account.password_hash = hashed
    email_links.use_up(server, account)
    sessions.end_all(server.db, account.id)
    tell(server.db, account, "password_changed", {}, dedupe_key=f"password:{account.id}:{clock.now()}", mail=True)
