"""Sign-up: an account is created unconfirmed, and confirmed by a link in a mail.

The page says the same whether or not the address has an account. Confirming takes the password again: anyone who signs
up with someone else's address gains nothing when that person follows the link.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from auth_server.accounts import accounts, email_links, invitations, password_guesses, signin
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.one_time_links import OneTimeLink
from shared.errors import Fault, Invalid
from shared.limits import address_key, hit
from shared.outbox.enqueue import write_to
from shared.secrets import digest
from shared.settings import settings

PER_HOUR = 30  # sign-ups and resets of one address
_DEAD_TITLE, _DEAD_TEXT = "This link does not work any longer", "It was used already, or is too old."
DEAD_LINK = show_problem(
    _DEAD_TITLE,
    f"{_DEAD_TEXT} Ask for a new one where you asked for this one.",
    410,
    links=(("/dashboard", "To your dashboard"), ("/", "To the start page")),
)
# By the form behind the link: what the person wanted, and the shortest way there.
_DEAD_LINKS = {
    "confirm": show_problem(
        _DEAD_TITLE,
        f"{_DEAD_TEXT} If you confirmed your address with it, you can sign in. If not, sign up again for a new link.",
        410,
        links=(("/signin", "Sign in"), ("/signup", "Ask for a new link")),
    ),
    "reset": show_problem(
        _DEAD_TITLE,
        f"{_DEAD_TEXT} If you set a new password with it, you can sign in. If not, ask for a new link.",
        410,
        links=(("/signin", "Sign in"), ("/recover", "Ask for a new link")),
    ),
}
_SUBJECTS = {"password": "This password"}
FORMS = {"signup": "signup.html", "recover": "recover.html"}
LINK_FORMS = {
    "confirm": "confirm.html",
    "reset": "reset.html",
    "not-me": "not-me.html",
    "invitation": "invitation.html",
    "new-address": "confirm_address.html",
    "old-address": "confirm_address.html",
    "forwarding-address": "confirm_forwarding.html",
}


def show_mail_sent(email: str, afterwards: object) -> Page:
    """The same page for everybody, whether or not the address has an account."""
    context = {"email": email, "files": settings().mail_backend == "outbox"}
    return Page("sent.html", context, afterwards=afterwards)  # type: ignore[arg-type]


def signup_allows(db: Session, address: str) -> bool:
    """Whether someone with this address may make an account, in any way."""
    rule = settings().signup_rule
    return (
        rule == "open" or _is_of_allowed_domain(address) or (rule != "closed" and invitations.is_invited(db, address))
    )


def _is_of_allowed_domain(address: str) -> bool:
    return settings().signup_rule == "domains" and address.rpartition("@")[2] in settings().allowed_mail_domains


def check_rate_limit(data: RequestData) -> Page | None:
    verdict = hit(f"signup:{address_key(data.peer)}", PER_HOUR, 3600)
    if verdict.allowed:
        return None
    return show_problem("Too many requests", "Please wait a little and try again.", 429, verdict.retry_after)


def show_empty_form(uow: UnitOfWork, data: RequestData, purpose: str) -> FlowResult:
    """An empty form of that purpose ("signup", "recover") for someone who is not signed in."""
    opened = signin.load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    context = {
        "csrf": sessions.make_csrf_token(session, purpose),
        "return_to": signin.safe_return_path(data.query_value("return_to")),
    }
    return Page(FORMS[purpose], context, session_cookie=cookie)


def show_again(session: WebSession, data: RequestData, purpose: str, faults: dict[str, str]) -> Page:
    """Shows the form as filled in, with the faults under their fields."""
    context = {
        "csrf": sessions.make_csrf_token(session, purpose),
        "return_to": signin.safe_return_path(data.form_value("return_to")),
        "email": data.form_value("email"),
        "faults": faults,
    }
    return Page(FORMS[purpose], context, 422)


def show_expired_form(uow: UnitOfWork, data: RequestData, purpose: str) -> FlowResult:
    """The form with its input, after its session has ended or the browser kept no cookie."""
    opened = signin.load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    page = show_again(opened[0], data, purpose, {"form": "This form was open for too long. Please send it again."})
    page.status, page.session_cookie = 403, opened[1]
    return page


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    if not settings().takes_signup_forms:
        return _show_no_form()
    return show_empty_form(uow, data, "signup")


def _show_no_form() -> Page:
    """The same page for everyone, invited or not."""
    if settings().signup_rule == "invite":
        text = "New accounts are made by invitation here. If you were invited, open the link in the mail."
        return show_problem("By invitation", f"{text} The support page says whom to ask.", 403)
    text = "This installation takes no new accounts. The support page says whom to ask."
    return show_problem("No new accounts", text, 403)


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    if not settings().takes_signup_forms:
        return _show_no_form()
    session = sessions.load_for_form(uow.db, data, "signup")
    if session is None:
        return show_expired_form(uow, data, "signup")
    if (refusal := check_rate_limit(data)) is not None:
        return refusal
    faults = _find_faults(data)
    if faults:
        return show_again(session, data, "signup", faults)
    return show_mail_sent(accounts.normalize_email(data.form_value("email")), _start_signup)


def _find_faults(data: RequestData) -> dict[str, str]:
    """The fault of each field; both are checked, so that no one fixes one and then learns of the other."""
    email = data.form_value("email")
    faults: dict[str, str] = {}
    try:
        address = accounts.normalize_email(email)
        accounts.check_reachable(address)
        if settings().signup_rule == "domains" and not _is_of_allowed_domain(address):
            expected = f"an address that ends in {settings().allowed_endings}"
            raise Invalid(Fault("email", "cannot be used here", expected))
    except Invalid as error:
        faults |= describe_faults(error)
    try:
        accounts.validate_password(data.form_value("password"), email)
    except Invalid as error:
        faults |= describe_faults(error)
    return faults


def describe_faults(error: Invalid) -> dict[str, str]:
    """A sentence for each wrong field."""
    sentence = "{subject} {problem}: {expected}."
    return {e["field"]: sentence.format(subject=_SUBJECTS.get(e["field"], "This"), **e) for e in error.facts["errors"]}


def _start_signup(uow: UnitOfWork, data: RequestData) -> None:
    """Runs after the response, so that its duration does not tell who has an account.

    It stores a new account, a new password for one not yet confirmed, or a mail to the person who has an account.
    """
    email = accounts.normalize_email(data.form_value("email"))
    password_hash = accounts.hash_password(data.form_value("password"), email)
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


def show_link_form(
    uow: UnitOfWork,
    data: RequestData,
    purpose: str,
    action: str,
    describe: Callable[[UnitOfWork, OneTimeLink, Account], dict[str, Any]] = lambda *_: {},
) -> FlowResult:
    """The form behind a link in a mail, with what `describe` adds for the account.

    Opening it changes nothing: programs that read mail open links too.
    """
    match = email_links.find(uow, purpose, data.query_value("token"))
    if match is None:
        return _DEAD_LINKS.get(action, DEAD_LINK)
    opened = signin.load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    csrf = sessions.make_csrf_token(session, action)
    context = {"csrf": csrf, "token": data.query_value("token"), "email": match[1].email}
    context |= describe(uow, *match)
    return Page(LINK_FORMS[action], context, session_cookie=cookie)


def check_link_form(
    uow: UnitOfWork, data: RequestData, purpose: str, action: str
) -> tuple[WebSession, OneTimeLink, Account] | Page:
    """Checks the submitted form: returns its session, link and account, or the page that refuses it."""
    session = sessions.load_for_form(uow.db, data, action)
    if session is None:
        return FORM_EXPIRED
    match = email_links.find(uow, purpose, data.form_value("token"))
    return _DEAD_LINKS.get(action, DEAD_LINK) if match is None else (session, *match)


def show_confirm_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return show_link_form(uow, data, "confirm_email", "confirm")


def confirm(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = check_link_form(uow, data, "confirm_email", "confirm")
    if isinstance(checked, Page):
        return checked
    session, link, account = checked
    attempts = signin.SignInAttempts(account.email or "", data.peer)
    if not attempts.begin():
        return signin.show_too_many_attempts()
    password = data.form_value("password")
    if not password_guesses.check_password(uow, account, account.email or "", password, data.user_agent):
        csrf = sessions.make_csrf_token(session, "confirm")
        context = {"csrf": csrf, "token": data.form_value("token"), "email": account.email, "wrong": True}
        return Page("confirm.html", context, 401)
    return_to = link.return_to
    account.email_confirmed_at = clock.now()
    email_links.delete_all(uow, account)
    attempts.take_back()
    return signin.continue_sign_in(uow, data, session, account, return_to)
