"""Sign-up: an account is created unconfirmed, and confirmed by a link in a mail.

The page says the same whether or not the address has an account. Confirming takes the password again: whoever signs
up with somebody else's address gains nothing when that person follows the link.
"""

from sqlalchemy import func, select

from auth_server.accounts import accounts, email_links, signin
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.one_time_links import OneTimeLink
from shared.errors import Invalid
from shared.limits import address_key, hit
from shared.outbox.enqueue import write_to
from shared.secrets import digest
from shared.settings import settings

PER_HOUR = 30  # sign-ups and resets of one address
DEAD_LINK = show_problem(
    "This link does not work any more",
    "It was used already, or is too old. Ask for a new one where you asked for this one.",
    410,
)
FORMS = {"signup": "signup.html", "recover": "recover.html"}


def show_mail_sent(email: str, afterwards: object) -> Page:
    """The same page for everybody, whether or not the address has an account."""
    context = {"email": email, "files": settings().mail_backend == "outbox"}
    return Page("sent.html", context, afterwards=afterwards)  # type: ignore[arg-type]


def check_rate_limit(data: RequestData) -> Page | None:
    verdict = hit(f"signup:{address_key(data.peer)}", PER_HOUR, 3600)
    if verdict.allowed:
        return None
    return show_problem("Too many requests", "Please wait a little and try again.", 429, verdict.retry_after)


def show_empty_form(uow: UnitOfWork, data: RequestData, purpose: str) -> FlowResult:
    """An empty form of that purpose ("signup", "recover") for somebody who is not signed in."""
    opened = signin.load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    context = {
        "csrf": sessions.make_csrf_token(session, purpose),
        "return_to": signin.safe_return_path(data.query_value("return_to")),
    }
    return Page(FORMS[purpose], context, session_cookie=cookie)


def show_again(session: WebSession, data: RequestData, purpose: str, error: Invalid) -> Page:
    """The form as it was filled in, with what is wrong under each field."""
    context = {
        "csrf": sessions.make_csrf_token(session, purpose),
        "return_to": signin.safe_return_path(data.form_value("return_to")),
        "email": data.form_value("email"),
        "faults": describe_faults(error),
    }
    return Page(FORMS[purpose], context, 422)


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_empty_form(uow, data, "signup")


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signup")
    if session is None:
        return FORM_EXPIRED
    if (refusal := check_rate_limit(data)) is not None:
        return refusal
    try:
        email = accounts.normalize_email(data.form_value("email"))
        accounts.validate_password(data.form_value("password"))
    except Invalid as error:
        return show_again(session, data, "signup", error)
    return show_mail_sent(email, _start_signup)


def describe_faults(error: Invalid) -> dict[str, str]:
    """A sentence under each field that is wrong."""
    return {e["field"]: f"This {e['problem']}: {e['expected']}." for e in error.facts["errors"]}


def _start_signup(uow: UnitOfWork, data: RequestData) -> None:
    """Runs after the response, so that its duration does not tell who has an account.

    It stores a new account, a new password for one not yet confirmed, or a mail to the person who has an account.
    """
    email = accounts.normalize_email(data.form_value("email"))
    password_hash = accounts.hash_password(data.form_value("password"))
    uow.db.execute(select(func.pg_advisory_xact_lock(int(digest(email)[:15], 16))))
    account = accounts.find_account(uow.db, email)
    if (account is not None and account.disabled_at is not None) or not email_links.can_mail(email):
        return
    if account is None:
        account = accounts.add_account(uow.db, email, password_hash)
    elif account.email_confirmed_at is not None:
        write_to(uow.db, account, "account_exists", {}, dedupe_key=f"exists:{account.id}:{clock.now().isoformat()}")
        return
    else:
        account.password_hash = password_hash
    email_links.send(uow, account, "confirm_email", signin.safe_return_path(data.form_value("return_to")))


def show_link_form(uow: UnitOfWork, data: RequestData, purpose: str, action: str) -> FlowResult:
    """The form behind a link in a mail. Opening it changes nothing: programs that read mail open links too."""
    match = email_links.find(uow, purpose, data.query_value("token"))
    if match is None:
        return DEAD_LINK
    opened = signin.load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    csrf = sessions.make_csrf_token(session, action)
    context = {"csrf": csrf, "token": data.query_value("token"), "email": match[1].email}
    return Page(f"{action}.html", context, session_cookie=cookie)


def check_link_form(
    uow: UnitOfWork, data: RequestData, purpose: str, action: str
) -> tuple[WebSession, OneTimeLink, Account] | Page:
    """That form when it is sent: its session, link and account, or the page that refuses it."""
    session = sessions.load_for_form(uow.db, data, action)
    if session is None:
        return FORM_EXPIRED
    match = email_links.find(uow, purpose, data.form_value("token"))
    return DEAD_LINK if match is None else (session, *match)


def show_confirm_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_link_form(uow, data, "confirm_email", "confirm")


def confirm(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = check_link_form(uow, data, "confirm_email", "confirm")
    if isinstance(checked, Page):
        return checked
    session, link, account = checked
    attempts = signin.SignInAttempts(account.email or "", data.peer)
    if attempts.is_blocked():
        return signin.show_too_many_attempts()
    if not accounts.check_password(account, data.form_value("password")):
        attempts.record_failure()
        return _show_wrong_password(data, sessions.make_csrf_token(session, "confirm"), account)
    return_to = link.return_to
    account.email_confirmed_at = clock.now()
    email_links.delete_all(uow, account)
    attempts.record_success()
    return signin.sign_in(uow, data, session, account, return_to)


def _show_wrong_password(data: RequestData, csrf: str, account: Account) -> Page:
    context = {"csrf": csrf, "token": data.form_value("token"), "email": account.email, "wrong": True}
    return Page("confirm.html", context, 401)
