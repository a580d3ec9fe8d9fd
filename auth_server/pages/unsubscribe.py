"""The link at the foot of a mail: opening it shows a button, pressing that turns this kind of mail off.

Mail programs press it by themselves with a POST (RFC 8058), so neither a cookie nor a form's token is asked for: the
signed address is the proof.
"""

from sqlalchemy import select

from auth_server.oauth.server import Server
from auth_server.pages.settings import WORDS
from auth_server.web.outcomes import FlowResult, Page, problem
from auth_server.web.request_data import RequestData
from shared.db.accounts import Account, lock
from shared.db.delay_alerts import leave_channel
from shared.db.profile import MAILS, Profile
from shared.outbox.links import unsubscribed

PATH = "/unsubscribe"
DELAYS = "delay_alerts"  # each names its channels itself
_REST = dict.fromkeys(WORDS, "What they find still stands in your inbox") | {
    DELAYS: "Those that go to no phone are paused"
}
_NAMES = {kind: name for kind, (name, _) in WORDS.items()} | {DELAYS: "Delay alerts"}
_DEAD = problem("This link does not work any more", "Sign in and choose on your dashboard which mails you get.", 410)


def _whose(server: Server, inc: RequestData) -> tuple[Account, str] | None:
    found = unsubscribed(inc.query_value("token") or "")
    if found is None or found[1] not in _NAMES:
        return None
    account = server.db.scalar(select(Account).where(Account.public_id == found[0], Account.disabled_at.is_(None)))
    return (account, found[1]) if account is not None else None


def form(server: Server, inc: RequestData) -> FlowResult:
    """Opening the link changes nothing: programs that read mail open links too."""
    found = _whose(server, inc)
    if found is None:
        return _DEAD
    return Page(
        "unsubscribe.html", {"kind": _NAMES[found[1]], "rest": _REST[found[1]], "token": inc.query_value("token")}
    )


def leave(server: Server, inc: RequestData) -> FlowResult:
    found = _whose(server, inc)
    if found is None:
        return _DEAD
    account, kind = found
    lock(server.db, account.id)
    if kind in MAILS:
        row = server.db.get(Profile, account.id) or Profile(account_id=account.id)
        setattr(row, f"mail_{kind}", False)
        server.db.add(row)
    else:
        leave_channel(server.db, account.id, "email")
    return problem("You are unsubscribed", f"{_NAMES[kind]} send you no more mails. {_REST[kind]}.", 200)
