"""Maintenance mode on the web host: what stays open, who gets past it, and the answer for everybody else."""

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from auth_server.web import sessions
from auth_server.web.error_handlers import respond_maintenance
from auth_server.web.flows import limiter
from shared.db.base import transaction
from shared.db.maintenance import WATCH
from shared.internal_api import session_cookie_name

# Documents that need no database, what pages are drawn with, and the way in for administrators.
_OPEN_FOLDERS = ("/.well-known/", "/static/", "/signin/")
_OPEN_PATHS = frozenset({"/signin", "/signout", "/favicon.ico", "/robots.txt"})


async def find_refusal(scope: Scope) -> Response | None:
    """What is answered instead of the path; None while there is no maintenance, and where it does not reach."""
    maintenance, path = WATCH.current, scope["path"]
    if maintenance is None or path in _OPEN_PATHS or path.startswith(_OPEN_FOLDERS):
        return None
    request = Request(scope)
    cookie = request.cookies.get(session_cookie_name(), "")
    if await anyio.to_thread.run_sync(_is_administrator, cookie, limiter=limiter()):
        return None
    return respond_maintenance(request, maintenance)


def _is_administrator(cookie: str) -> bool:
    """No one is one while the database is down, or has tables this release does not read."""
    try:
        with transaction() as session:
            account = sessions.find_account(session, sessions.load(session, cookie))
            return account is not None and account.is_admin
    except SQLAlchemyError:
        return False
