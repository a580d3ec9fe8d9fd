"""Sign-up: an address and a password go in; a mail asks to confirm them, and a confirmed account comes out.

The page says the same whether or not the address has an account. Confirming takes the password again: whoever signs
up with somebody else's address gets nothing from that person's click.
"""

from sqlalchemy import func, select

from auth_server.accounts import accounts, email_links, signin
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page, problem
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.one_time_links import OneTimeLink
from shared.errors import Invalid
from shared.limits import address_key, hit
from shared.outbox.enqueue import write_to
from shared.secrets import digest
from shared.settings import settings

PER_HOUR = 30  # sign-ups and resets one address may ask for
EXPIRED = problem("This form has expired", "Please go back and try again.", 403)
DEAD_LINK = problem(
    "This link does not work any more",
    "It was used already, or is too old. Ask for a new one where you asked for this one.",
    410,
)
FORMS = {"signup": "signup.html", "recover": "recover.html"}


def sent(email: str, afterwards: object) -> Page:
    """What everybody is told, whoever has an account."""
    shown = {"email": email, "files": settings().mail_backend == "outbox"}
    return Page("sent.html", shown, afterwards=afterwards)  # type: ignore[arg-type]


def too_many(inc: RequestData) -> Page | None:
    verdict = hit(f"signup:{address_key(inc.peer)}", PER_HOUR, 3600)
    if verdict.allowed:
        return None
    return problem("Too many requests", "Please wait a little and try again.", 429, verdict.retry_after)


def blank(server: Server, inc: RequestData, purpose: str) -> FlowResult:
    """An empty form of that purpose ("signup", "recover") for somebody who is not signed in."""
    found = signin.visitor(server, inc)
    if isinstance(found, Page):
        return found
    session, cookie = found
    shown = {"csrf": sessions.csrf(session, purpose), "return_to": signin.safe_return(inc.query_value("return_to"))}
    return Page(FORMS[purpose], shown, session=cookie)


def again(session: WebSession, inc: RequestData, purpose: str, no: Invalid) -> Page:
    """The form as it was filled in, with what is wrong under each field."""
    shown = {
        "csrf": sessions.csrf(session, purpose),
        "return_to": signin.safe_return(inc.form_value("return_to")),
        "email": inc.form_value("email"),
        "faults": faults(no),
    }
    return Page(FORMS[purpose], shown, 422)


def form(server: Server, inc: RequestData) -> FlowResult:
    return blank(server, inc, "signup")


def submit(server: Server, inc: RequestData) -> FlowResult:
    session = sessions.load(server.db, inc.cookie)
    if session is None or not sessions.csrf_holds(session, "signup", inc.form_value("csrf")):
        return EXPIRED
    if (limited := too_many(inc)) is not None:
        return limited
    try:
        email = accounts.normal_email(inc.form_value("email"))
        accounts.proper_password(inc.form_value("password"))
    except Invalid as no:
        return again(session, inc, "signup", no)
    return sent(email, _begin)


def faults(no: Invalid) -> dict[str, str]:
    """A sentence under each field that is wrong."""
    return {e["field"]: f"This {e['problem']}: {e['expected']}." for e in no.facts["errors"]}


def _begin(server: Server, inc: RequestData) -> None:
    """The same work for everybody, and after the answer: a new account, a new password for one not yet confirmed, or
    a mail to the person who has an account already."""
    email = accounts.normal_email(inc.form_value("email"))
    hashed = accounts.hash_password(inc.form_value("password"))
    server.db.execute(select(func.pg_advisory_xact_lock(int(digest(email)[:15], 16))))
    account = accounts.find_account(server.db, email)
    if (account is not None and account.disabled_at is not None) or not email_links.may_mail(email):
        return
    if account is None:
        account = accounts.add_account(server.db, email, hashed)
    elif account.email_confirmed_at is not None:
        write_to(server.db, account, "account_exists", {}, dedupe_key=f"exists:{account.id}:{clock.now().isoformat()}")
        return
    else:
        account.password_hash = hashed
    email_links.send(server, account, "confirm_email", signin.safe_return(inc.form_value("return_to")))


def opened(server: Server, inc: RequestData, purpose: str, action: str) -> FlowResult:
    """The form behind a link in a mail. Opening it changes nothing: programs that read mail open links too."""
    found = email_links.find(server, purpose, inc.query_value("token"))
    if found is None:
        return DEAD_LINK
    visit = signin.visitor(server, inc)
    if isinstance(visit, Page):
        return visit
    session, cookie = visit
    shown = {"csrf": sessions.csrf(session, action), "token": inc.query_value("token"), "email": found[1].email}
    return Page(f"{action}.html", shown, session=cookie)


def answered(
    server: Server, inc: RequestData, purpose: str, action: str
) -> tuple[WebSession, OneTimeLink, Account] | Page:
    """That form sent: the session it was shown in, its link and whose it is; or why it counts for nothing."""
    session = sessions.load(server.db, inc.cookie)
    if session is None or not sessions.csrf_holds(session, action, inc.form_value("csrf")):
        return EXPIRED
    found = email_links.find(server, purpose, inc.form_value("token"))
    return DEAD_LINK if found is None else (session, *found)


def confirm_form(server: Server, inc: RequestData) -> FlowResult:
    return opened(server, inc, "confirm_email", "confirm")


def confirm(server: Server, inc: RequestData) -> FlowResult:
    found = answered(server, inc, "confirm_email", "confirm")
    if isinstance(found, Page):
        return found
    session, link, account = found
    guesses = signin.Guesses(account.email or "", inc.peer)
    if guesses.exhausted():
        return signin.too_many_guesses()
    if not accounts.check_password(account, inc.form_value("password")):
        guesses.failed()
        return _wrong(inc, sessions.csrf(session, "confirm"), account)
    return_to = link.return_to
    account.email_confirmed_at = clock.now()
    email_links.use_up(server, account)
    guesses.succeeded()
    return signin.enter(server, inc, session, account, return_to)


def _wrong(inc: RequestData, csrf: str, account: Account) -> Page:
    shown = {"csrf": csrf, "token": inc.form_value("token"), "email": account.email, "wrong": True}
    return Page("confirm.html", shown, 401)
