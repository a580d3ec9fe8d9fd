"""What our other programs ask the vault: a form from our own client goes in, facts or a short token come out."""

import re
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from authlib.oauth2 import OAuth2Error
from sqlalchemy import select, update
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from auth_server.accounts import api_keys
from auth_server.oauth import first_party_tokens
from auth_server.oauth.introspection import form_from_ours
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.flows import run
from auth_server.web.handlers import Handler
from auth_server.web.outcomes import failed
from auth_server.web.rendering import write
from auth_server.web.request_data import RequestData, invalid
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Family
from shared.secrets import digest
from shared.settings import SCOPE

RUN_LIFE = timedelta(minutes=15)
STANDING_ORDERS = ("award-travel-standing-orders", "Standing order")
_RUN_ID = re.compile(r"[A-Za-z0-9-]{1,40}", re.ASCII)
_NO_STORE = {"Cache-Control": "no-store"}
Question = Callable[[Server, dict[str, str]], dict[str, Any]]


def answering(question: Question) -> Handler:
    """Only the service's own confidential client is answered, as at introspection."""

    async def handler(request: Request) -> Response:
        def flow(server: Server, inc: RequestData) -> dict[str, Any]:
            return question(server, dict(inc.form))

        try:
            form = await form_from_ours(request)
            told = await run(flow, RequestData(request.method, request.url.path, "", form=form))
        except OAuth2Error as error:
            return write(failed(error))
        return JSONResponse(told, headers=_NO_STORE)

    return handler


def _given(form: dict[str, str], name: str) -> str:
    return form.get(name) or invalid(f"Missing '{name}'.")


def api_key(server: Server, form: dict[str, str]) -> dict[str, Any]:
    return api_keys.described(server.db, _given(form, "token"))


def session(server: Server, form: dict[str, str]) -> dict[str, Any]:
    """Who is signed in with a browser's cookie: for pages other programs serve on the web host."""
    row = sessions.load(server.db, _given(form, "cookie"))
    account = sessions.person(server.db, row)
    if row is None or account is None or row.authenticated_at is None:
        return {"active": False}
    return {"active": True, "sub": account.public_id, "auth_time": int(row.authenticated_at.timestamp())}


def run_token(server: Server, form: dict[str, str]) -> dict[str, Any]:
    """An access token for one run of a standing order: short, read-only, and the only one of its run."""
    run_id = _given(form, "run_id")
    whose = (Account.public_id == _given(form, "account"), Account.disabled_at.is_(None))
    account = server.db.scalar(select(Account).where(*whose))
    if account is None or not _RUN_ID.fullmatch(run_id):
        invalid("There is no such account or run.")
    _end_earlier(server, account, run_id)
    family_id = f"run:{run_id}:{secrets.token_hex(8)}"
    token = first_party_tokens.issue(server, account, STANDING_ORDERS, family_id, RUN_LIFE, read_only=True)
    return {"access_token": token, "token_type": "Bearer", "expires_in": int(RUN_LIFE.total_seconds()), "scope": SCOPE}


def run_end(server: Server, form: dict[str, str]) -> dict[str, Any]:
    """The run is over, so is its token; that of a later attempt goes on."""
    row = server.db.get(AccessToken, digest(_given(form, "token")))
    if row is not None and row.family_id.startswith("run:"):
        server.revoke_family(row.family_id, "run_ended")
    return {}


def _end_earlier(server: Server, account: Account, run_id: str) -> None:
    """A run that is tried again gets a new token; the one of the earlier attempt dies."""
    same = (Family.account_id == account.id, Family.id.startswith(f"run:{run_id}:"), Family.revoked_at.is_(None))
    ended = update(Family).where(*same).values(revoked_at=clock.now(), reason="run_again").returning(Family.id)
    server.events += [{"family": family_id} for family_id in server.db.scalars(ended)]
