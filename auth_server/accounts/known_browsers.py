"""Known browsers: a sign-in with one that the account was not signed in with before is told to its owner."""

import secrets
from datetime import timedelta

from auth_server.accounts.security_events import record_event
from auth_server.web import sessions
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db import known_browsers
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.secrets import digest

MAX_BROWSERS = 50  # of one account


def recognize(uow: UnitOfWork, data: RequestData, session: WebSession, account: Account) -> str:
    """The cookie the browser gets at this sign-in. Its owner is told of a new one, unless it is the first ever.

    The cookie is another each time: one that someone planted makes no browser of theirs known to this account.
    """
    cookie, now = secrets.token_urlsafe(32), clock.now()
    id_hash = digest(cookie)
    if data.browser_cookie:
        known_browsers.rename_browser(uow.db, digest(data.browser_cookie), id_hash)
    since = now - timedelta(seconds=sessions.BROWSER_COOKIE_SECONDS)
    is_known = session.owner_id == account.id or known_browsers.is_known(uow.db, account.id, id_hash, since)
    if not is_known and _was_signed_in_before(uow, account):
        record_event(uow, account, "new_browser", user_agent=data.user_agent)
    known_browsers.remember_browser(uow.db, account.id, id_hash, now, MAX_BROWSERS)
    return cookie


def _was_signed_in_before(uow: UnitOfWork, account: Account) -> bool:
    return known_browsers.has_known_browsers(uow.db, account.id) or bool(sessions.list_active(uow.db, account.id))
