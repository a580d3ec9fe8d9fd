"""Internal endpoints for the service's other programs: API keys, browser sessions, tokens of standing order runs."""

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
from auth_server.oauth import tokens
from auth_server.oauth.introspection import read_service_form
from auth_server.oauth.responses import to_error_response
from auth_server.web import sessions
from auth_server.web.flows import run
from auth_server.web.handlers import Handler
from auth_server.web.rendering import to_response
from auth_server.web.request_data import RequestData, reject_request
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Family, service_client
from shared.secrets import digest, mint
from shared.settings import SCOPE, settings

# Short-lived access tokens for the service's own programs, each for one task of one account.


def issue(
    uow: UnitOfWork, account: Account, program: tuple[str, str], family_id: str, life: timedelta, *, read_only: bool
) -> str:
    """Issues the only token of its family, without a refresh token; `program` is its client's id and name."""
    client_id, now = service_client(uow.db, *program), clock.now()
    uow.db.add(Family(id=family_id, account_id=account.id, client_id=client_id, created_at=now))
    uow.db.flush()
    token = mint(tokens.ACCESS)
    uow.db.add(
        AccessToken(
            token_hash=digest(token),
            family_id=family_id,
            client_id=client_id,
            scope=SCOPE,
            resource=settings().mcp_url,
            issued_at=now,
            expires_at=now + life,
            read_only=read_only,
        )
    )
    return token


RUN_LIFE = timedelta(minutes=15)
STANDING_ORDERS = ("award-travel-standing-orders", "Standing order")
_RUN_ID = re.compile(r"[A-Za-z0-9-]{1,40}", re.ASCII)
_NO_STORE = {"Cache-Control": "no-store"}
Respond = Callable[[UnitOfWork, dict[str, str]], dict[str, Any]]


def handle_service_request(respond: Respond) -> Handler:
    """Answers only the service's own confidential client, as introspection does."""

    async def handler(request: Request) -> Response:
        def flow(uow: UnitOfWork, data: RequestData) -> dict[str, Any]:
            return respond(uow, dict(data.form))

        try:
            form = await read_service_form(request)
            facts = await run(flow, RequestData(request.method, request.url.path, "", form=form))
        except OAuth2Error as error:
            return to_response(to_error_response(error))
        return JSONResponse(facts, headers=_NO_STORE)

    return handler


def _require(form: dict[str, str], name: str) -> str:
    return form.get(name) or reject_request(f"Missing '{name}'.")


def describe_api_key(uow: UnitOfWork, form: dict[str, str]) -> dict[str, Any]:
    return api_keys.describe(uow.db, _require(form, "token"))


def describe_session(uow: UnitOfWork, form: dict[str, str]) -> dict[str, Any]:
    """Describes who is signed in with a browser's cookie, for pages that other programs serve on the web host."""
    row = sessions.load(uow.db, _require(form, "cookie"))
    account = sessions.find_account(uow.db, row)
    if row is None or account is None or row.authenticated_at is None:
        return {"active": False}
    return {"active": True, "sub": account.public_id, "auth_time": int(row.authenticated_at.timestamp())}


def issue_run_token(uow: UnitOfWork, form: dict[str, str]) -> dict[str, Any]:
    """An access token for one run of a standing order: short, read-only, and the only one of its run."""
    run_id = _require(form, "run_id")
    owner = (Account.public_id == _require(form, "account"), Account.disabled_at.is_(None))
    account = uow.db.scalar(select(Account).where(*owner))
    if account is None or not _RUN_ID.fullmatch(run_id):
        reject_request("There is no such account or run.")
    _revoke_earlier_attempts(uow, account, run_id)
    family_id = f"run:{run_id}:{secrets.token_hex(8)}"
    token = issue(uow, account, STANDING_ORDERS, family_id, RUN_LIFE, read_only=True)
    return {"access_token": token, "token_type": "Bearer", "expires_in": int(RUN_LIFE.total_seconds()), "scope": SCOPE}


def end_run(uow: UnitOfWork, form: dict[str, str]) -> dict[str, Any]:
    """Ends the run and revokes its token; a later attempt's token stays."""
    row = uow.db.get(AccessToken, digest(_require(form, "token")))
    if row is not None and row.family_id.startswith("run:"):
        uow.revoke_family(row.family_id, "run_ended")
    return {}


def _revoke_earlier_attempts(uow: UnitOfWork, account: Account, run_id: str) -> None:
    """Revokes earlier attempts' tokens: a retried run gets a new one."""
    same_run = (Family.account_id == account.id, Family.id.startswith(f"run:{run_id}:"), Family.revoked_at.is_(None))
    revocation = update(Family).where(*same_run).values(revoked_at=clock.now(), reason="run_again")
    uow.events += [{"family": family_id} for family_id in uow.db.scalars(revocation.returning(Family.id))]
