"""Second factor of a sign-in: its page, codes and recovery codes with their limits, and sign-in with a passkey."""

from auth_server.accounts import access, one_time_codes, passkeys, pending_sign_ins, recovery_codes, signin
from auth_server.accounts.factors import list_factors
from auth_server.accounts.security_events import record_event
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, NO_STORE, FlowResult, JsonResponse, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account, lock
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import PendingSignIn
from shared.errors import Invalid
from shared.limits import address_key, hit, peek

PER_ACCOUNT_AND_ADDRESS, PER_ADDRESS, PER_ACCOUNT, PER_DAY = 5, 100, 10, 50
DAY_SECONDS = 24 * 3600
TOLD_AFTER = 10  # wrong codes in a day after the right password: then the owner gets a mail
LATE = "Please enter your password again. The second step has to follow within ten minutes."
WRONG_CODE = "The code is wrong. Please enter the one your app shows now."
USED_CODE = "This code has been used. Please wait for the next one, which comes within thirty seconds."
WRONG_RECOVERY_CODE = "This is none of your unused recovery codes."
BLOCKED = "Too many wrong codes were entered. Use another way below, or wait fifteen minutes."
NO_PASSKEY = "The passkey did not open an account. Please try once more, or sign in another way."


class CodeAttempts:
    """Wrong codes of one kind ("app", "recovery"), counted like wrong passwords; each kind blocks only itself.

    Anyone who gets here knows the password. Owners get in from addresses they used before, however much others guess.
    """

    def __init__(self, kind: str, account: Account, peer: str) -> None:
        name, address, window = f"{kind}:{account.id}", address_key(peer), signin.WINDOW_SECONDS
        self.here = [
            (f"second:{name}:{address}", PER_ACCOUNT_AND_ADDRESS, window),
            (f"second:from:{address}", PER_ADDRESS, window),
        ]
        self.anywhere = [(f"second:{name}", PER_ACCOUNT, window), (f"second:day:{name}", PER_DAY, DAY_SECONDS)]
        self.known = f"second:known:{account.id}:{address}"

    def is_blocked(self) -> bool:
        if not all(peek(*limit).allowed for limit in self.here):
            return True
        is_new = peek(self.known, 1, signin.KNOWN_DAYS * DAY_SECONDS).count == 0
        return is_new and not all(peek(*limit).allowed for limit in self.anywhere)

    def record_failure(self) -> int:
        """Counts one more; returns today's count."""
        return [hit(*limit).count for limit in (*self.here, *self.anywhere)][-1]

    def record_success(self) -> None:
        hit(self.known, 1, signin.KNOWN_DAYS * DAY_SECONDS)


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load(uow.db, data.cookie)
    step = pending_sign_ins.find(uow.db, session)
    if session is None or step is None:
        return signin.show_form_again(uow, data, LATE)
    return _show(uow, session, step)


def _show(
    uow: UnitOfWork,
    session: WebSession,
    step: tuple[PendingSignIn, Account],
    faults: dict[str, str] | None = None,
    status: int = 200,
) -> Page:
    pending, account = step
    context = {
        "csrf": sessions.make_csrf_token(session, "signin"),
        "return_to": pending.return_to,
        "email": account.email,
        "factors": list_factors(uow.db, account.id),
        "faults": faults or {},
        "party": passkeys.find_relying_party(),
    }
    return Page("second_factor.html", context, status)


def submit_code(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return _submit(uow, data, "app")


def submit_recovery_code(uow: UnitOfWork, data: RequestData) -> FlowResult:
    return _submit(uow, data, "recovery")


def _submit(uow: UnitOfWork, data: RequestData, kind: str) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signin")
    if session is None:
        return FORM_EXPIRED
    step = pending_sign_ins.find(uow.db, session)
    if step is None:
        return signin.show_form_again(uow, data, LATE)
    pending, account = step
    lock(uow.db, account.id)  # concurrent guesses wait for each other, so that each sees the others' count
    attempts = CodeAttempts(kind, account, data.peer)
    if attempts.is_blocked():
        return _show(uow, session, step, {kind: BLOCKED}, 429)
    fault = _find_fault(uow, data, account, kind)
    if fault is not None:
        if attempts.record_failure() == TOLD_AFTER:
            record_event(uow, account, "code_guesses", user_agent=data.user_agent)
        return _show(uow, session, step, {kind: fault}, 401)
    attempts.record_success()
    return signin.sign_in(uow, data, session, account, pending.return_to)


def _find_fault(uow: UnitOfWork, data: RequestData, account: Account, kind: str) -> str | None:
    """The fault of the code; None if it was right, which uses it up."""
    code = data.form_value("code")
    if kind == "app":
        return {"right": None, "used": USED_CODE, "wrong": WRONG_CODE}[one_time_codes.use_code(uow.db, account, code)]
    if not recovery_codes.use_code(uow.db, account, code):
        return WRONG_RECOVERY_CODE
    record_event(uow, account, "recovery_code_used", user_agent=data.user_agent)
    return None


def make_passkey_options(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Options for the script of the sign-in pages. Which passkeys an account has is shown only after the password."""
    session = sessions.load_for_form(uow.db, data, "signin")
    if session is None:
        return FORM_EXPIRED
    step = pending_sign_ins.find(uow.db, session)
    account = step[1] if step is not None and data.form_value("step") == "second" else None
    try:
        options = passkeys.make_sign_in_options(uow.db, session, account)
    except Invalid as error:
        return JsonResponse(422, {"error": error.message}, NO_STORE)
    return JsonResponse(200, options.encode(), NO_STORE)


def submit_passkey(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """A passkey that has verified the person is both factors at once (NIST SP 800-63B-4 3.1.7)."""
    session = sessions.load_for_form(uow.db, data, "signin")
    if session is None:
        return FORM_EXPIRED
    limit = (f"passkeys:from:{address_key(data.peer)}", PER_ADDRESS, signin.WINDOW_SECONDS)
    if not peek(*limit).allowed:
        return signin.show_too_many_attempts()
    account = passkeys.authenticate(uow.db, session, data.form_value("credential"))
    if account is not None and account.disabled_at is not None:
        return access.SUSPENDED  # said only to the holder of the passkey
    if account is not None:
        return signin.sign_in(uow, data, session, account, data.form_value("return_to"))
    hit(*limit)
    step = pending_sign_ins.find(uow.db, session)
    if step is not None and data.form_value("step") == "second":
        return _show(uow, session, step, {"passkey": NO_PASSKEY}, 401)
    return signin.show_form_again(uow, data, NO_PASSKEY)
