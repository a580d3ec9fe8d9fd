"""One-click unsubscribe (RFC 8058): the link at the foot of a mail, and the button behind it.

Mail programs send the POST by themselves, so it needs neither a cookie nor a CSRF token: the signed address is the
proof.
"""

from sqlalchemy import select

from auth_server.pages.settings import MAIL_KINDS
from auth_server.web.outcomes import FlowResult, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account, lock
from shared.db.delay_alerts import leave_channel
from shared.db.profile import MAILS, Profile, find_addressee
from shared.domain.watch_kinds import DELAY_ALERT
from shared.outbox.links import read_unsubscribe_token

PATH = "/unsubscribe"
UNDO_PATH = "/unsubscribe/undo"
# Delay alerts are no switch of the profile: each alert names its channels.
_CONSEQUENCES = dict.fromkeys(MAIL_KINDS, "What they find still stands in your inbox") | {
    DELAY_ALERT.mails: "Those that go to no phone are paused"
}
_NAMES = {kind: name for kind, (name, _) in MAIL_KINDS.items()} | {DELAY_ALERT.mails: DELAY_ALERT.mail_words[0]}
_DEAD_LINK = show_problem(
    "This link does not work any longer",
    "Sign in and choose on your dashboard which mails you get.",
    410,
    links=(("/dashboard/settings", "Choose your mails"), ("/support", "Support")),
)


def _find_recipient(uow: UnitOfWork, data: RequestData) -> tuple[Account, str] | None:
    link = read_unsubscribe_token(data.query_value("token") or "")
    if link is None or link[1] not in _NAMES:
        return None
    public_id, kind = link
    account = uow.db.scalar(select(Account).where(Account.public_id == public_id, Account.disabled_at.is_(None)))
    return (account, kind) if account is not None else None


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Opening the link changes nothing: programs that read mail open links too."""
    recipient = _find_recipient(uow, data)
    if recipient is None:
        return _DEAD_LINK
    account, kind = recipient
    switches = find_addressee(uow.db, account.id).mail_switches
    return _show(kind, data, is_off=not switches.get(kind, True))


def _show(kind: str, data: RequestData, *, is_off: bool) -> FlowResult:
    """Delay alerts have no common switch, so that page offers no way back: each alert does."""
    words = {"kind": _NAMES[kind], "rest": _CONSEQUENCES[kind], "token": data.query_value("token")}
    return Page("unsubscribe.html", words | {"is_off": is_off, "can_undo": kind in MAILS})


def unsubscribe(uow: UnitOfWork, data: RequestData) -> FlowResult:
    recipient = _find_recipient(uow, data)
    if recipient is None:
        return _DEAD_LINK
    account, kind = recipient
    lock(uow.db, account.id)
    if kind in MAILS:
        _switch(uow, account, kind, on=False)
    else:
        leave_channel(uow.db, account.id, "email")
    return _show(kind, data, is_off=True)


def subscribe_again(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Undoes it for someone who, or whose mail program, pressed the button by mistake."""
    recipient = _find_recipient(uow, data)
    if recipient is None or recipient[1] not in MAILS:
        return _DEAD_LINK
    account, kind = recipient
    lock(uow.db, account.id)
    _switch(uow, account, kind, on=True)
    return Redirect(f"{PATH}?token={data.query_value('token')}")


def _switch(uow: UnitOfWork, account: Account, kind: str, *, on: bool) -> None:
    row = uow.db.get(Profile, account.id) or Profile(account_id=account.id)
    setattr(row, f"mail_{kind}", on)
    uow.db.add(row)
