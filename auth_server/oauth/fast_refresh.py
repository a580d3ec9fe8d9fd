"""The token endpoint: an ordinary refresh goes through one statement shared with others, all else through authlib.

Ordinary is a public client's live refresh token with nothing wrong or unusual about the request. The statement checks
that and rotates, or does nothing; whatever it left alone (a retry, a replay, a wrong client, a locked row) takes the
careful way through `grants.RefreshGrant`, which knows what each case means.
"""

from collections.abc import Sequence

import anyio.to_thread
from authlib.oauth2 import OAuth2Error
from starlette.requests import Request
from starlette.responses import Response

from auth_server.oauth import resource_indicators, token_endpoint, tokens
from auth_server.web import rate_limit
from auth_server.web.flows import limiter, run
from auth_server.web.handlers import program
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, failed
from auth_server.web.rendering import write
from auth_server.web.request_data import RequestData
from shared import clock
from shared.concurrency import Batcher
from shared.db.oauth import Rotation, rotate
from shared.secrets import digest, seal, well_formed

FIELDS = {"grant_type", "client_id", "refresh_token", "scope", "resource"}
Rotations = Batcher[Rotation, str | None]


def rotations() -> Rotations:
    """The rotations of one application; each finds the scope of its line."""
    return Batcher(_rotated)


def _rotated(asked: Sequence[Rotation]) -> list[str | None]:
    now = clock.now()
    scopes = rotate(list(asked), now, now + tokens.ACCESS_LIFE)
    return [scopes.get(one.refresh) for one in asked]


async def token(request: Request) -> Response:
    try:
        inc = await program(request)
    except OAuth2Error as error:
        return write(failed(error))
    if not _looks_ordinary(inc):
        return write(await run(token_endpoint.token, inc))
    if rate_limit.limit(inc.peer) is not None:
        await anyio.to_thread.run_sync(rate_limit.count, inc.peer, limiter=limiter())
    done: FlowResult | None = await _refreshed(request.app.state.rotations, inc)
    return write(done if done is not None else await run(token_endpoint.token, inc, counted=True))


def _looks_ordinary(inc: RequestData) -> bool:
    return (
        inc.authorization is None
        and inc.form_value("grant_type") == "refresh_token"
        and FIELDS.issuperset(name for name, _ in inc.form)
        and well_formed(inc.form_value("refresh_token"), tokens.REFRESH)
        and tokens.SCOPE_SYNTAX.fullmatch(inc.form_value("scope")) is not None
    )


async def _refreshed(rotations: Rotations, inc: RequestData) -> JsonResponse | None:
    named = [value for name, value in inc.form if name == "resource"]
    try:
        resource = resource_indicators.resolve(named) if named else None
    except resource_indicators.InvalidTarget:
        return None
    old, access, refresh = inc.form_value("refresh_token"), tokens.access_token(), tokens.refresh_token()
    asked = Rotation(
        digest(old), inc.form_value("client_id"), resource, seal(old, refresh), digest(access), digest(refresh)
    )
    scope = await rotations(asked)
    if scope is None:
        return None
    given = {"access_token": access, "expires_in": tokens.ACCESS_SECONDS, "refresh_token": refresh, "scope": scope}
    return JsonResponse(200, {"token_type": "Bearer"} | given, dict(NO_STORE))
