"""Agents: accounts that programs register for themselves, and that a person may claim later with a code."""

import secrets
from collections.abc import Callable
from typing import Any

from authlib.oauth2 import OAuth2Error
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import shared.db.migrations  # noqa: F401 - registers every table, so that a claim moves the rows of all of them
from auth_server.accounts import api_keys
from auth_server.web.flows import run
from auth_server.web.outcomes import JsonResponse
from auth_server.web.request_data import RequestData, get_peer, parse_json, read_json
from auth_server.web.unit_of_work import UnitOfWork
from shared.asgi import BodyIncomplete, BodyTooLarge
from shared.db.accounts import Account, absorb
from shared.db.oauth import ApiKey
from shared.domain.display_names import MAX_CHARACTERS
from shared.domain.plans import LIMITS, Plan
from shared.errors import Fault, Invalid, problem
from shared.limits import address_key, hit
from shared.outbox.plan_change import change_plan
from shared.secrets import digest, mint, well_formed
from shared.settings import STATUS, VERSION, settings

PATH = "/api/v1/agent/register"
CLAIM_PREFIX = "awt_cl_"
_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}


def _to_problem(kind: str, detail: str, *, retry_after: int | None = None, **facts: Any) -> JsonResponse:
    headers = {"Content-Type": "application/problem+json", "Cache-Control": "no-store"}
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    body = problem(settings().web_url, kind, detail, **facts)
    return JsonResponse(body["status"], body, headers)


async def register(request: Request) -> Response:
    result = await _register(request)
    return JSONResponse(result.body, result.status, result.headers, media_type=result.headers["Content-Type"])


async def _register(request: Request) -> JsonResponse:
    try:
        body = await read_json(request)
    except BodyTooLarge:
        return _to_problem("too_large", "The body is larger than 16 KiB.")
    except BodyIncomplete:
        return _to_problem("too_slow", "The body did not arrive in time.")
    except OAuth2Error:
        return _to_problem("unsupported_media_type", "The body must be application/json.")
    return await run(register_agent(body), RequestData(request.method, request.url.path, get_peer(request)))


def register_agent(body: bytes) -> Callable[[UnitOfWork, RequestData], JsonResponse]:
    def flow(uow: UnitOfWork, data: RequestData) -> JsonResponse:
        if not settings().agents_may_register:
            text = "Programs make no accounts here; a person with an account can make an API key at /dashboard/keys."
            return _to_problem("registration_closed", text)
        verdict = hit(f"agents:{address_key(data.peer)}", settings().agents_per_hour, 3600)
        if not verdict.allowed:
            text = "Too many agents were registered from this address; wait as long as Retry-After says."
            return _to_problem("too_many_requests", text, retry_after=verdict.retry_after)
        try:
            fields = parse_json(body)
        except OAuth2Error:
            return _to_problem("unreadable", "The body is not JSON.")
        if not isinstance(fields, dict):
            return _to_problem("unreadable", "The body must be one JSON object.")
        try:
            return _create_account(uow, api_keys.validate_name(fields.get("agent_name"), "agent_name", for_others=True))
        except Invalid as error:
            return _to_problem("invalid", error.message, **error.facts)

    return flow


def _create_account(uow: UnitOfWork, name: str) -> JsonResponse:
    account = Account(public_id=f"acc_{secrets.token_hex(16)}", plan=Plan.FREE.slug)
    uow.db.add(account)
    uow.db.flush()
    claim_code, site = mint(CLAIM_PREFIX), settings().web_url
    _, key = api_keys.issue(uow.db, account.id, name, claim_hash=digest(claim_code))
    body = {
        "message": "Keep the key: it is shown this once. Give the claim_url to the person who should own the account.",
        "account_id": account.public_id,
        "agent_name": name,
        "api_key": key,
        "plan": account.plan,
        "api_calls_per_month": LIMITS[Plan.FREE].api_calls_per_month,
        "claim_code": claim_code,
        "claim_url": f"{site}/claim/{claim_code}",
        "tools_url": f"{site}/api/v1/tools",
        "openapi_url": f"{site}/.well-known/openapi.yaml",
    }
    return JsonResponse(201, body, {"Content-Type": "application/json", "Cache-Control": "no-store"})


def find_unclaimed(uow: UnitOfWork, code: str) -> ApiKey:
    """The key of the agent whose claim code this is, locked, so that the second of two claims finds none.

    Raises Invalid.
    """
    key = None
    if well_formed(code.strip(), CLAIM_PREFIX):
        key = uow.db.scalar(select(ApiKey).where(ApiKey.claim_hash == digest(code.strip())).with_for_update())
    if key is None:
        raise Invalid(Fault("claim_code", "fits no agent", "the unused claim code the agent was given"))
    return key


def claim(uow: UnitOfWork, account: Account, code: str, *, keep_key: bool) -> str:
    """The agent's records become the signed-in person's, once, and its own account ends; the result is its name.

    Its key ends too unless the person keeps it: anyone who holds it would see and change everything of that person.
    Records beyond the person's plan are paused, as after a change of plan. Raises Invalid, or LimitReached.
    """
    key = find_unclaimed(uow, code)
    name = key.name
    if keep_key:
        api_keys.check_room(uow.db, account.id)
    else:
        api_keys.end(uow, key)
    key.claim_hash = None
    agent = uow.db.get_one(Account, key.account_id, with_for_update=True)
    uow.db.flush()
    uow.events.append({"account": agent.public_id})
    absorb(uow.db, agent.id, account.id)
    uow.db.expire_all()
    change_plan(uow.db, account, Plan.of(account.plan), account.api_calls_per_month)
    return name


async def serve_document(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    """/.well-known/agent.json: how a program gets an account by itself, and what it can do then."""
    site = settings().web_url
    description = {
        "name": settings().service_name,
        "description": "Award flights and hotels, points prices, transfer routes, and an account's own records.",
        "version": VERSION,
        "status": STATUS,
        "data_mode": settings().data_mode,
        "url": site,
        "registration": _describe_registration(site),
        "rest": {
            "tools": f"{site}/api/v1/tools",
            "openapi": f"{site}/.well-known/openapi.yaml",
            "authentication": ["Authorization: Bearer API_KEY", "X-API-Key: API_KEY"],
            "key_prefix": api_keys.PREFIX,
            "calls_per_month": {plan.slug: limits.api_calls_per_month for plan, limits in LIMITS.items()},
        },
        "mcp": {
            "url": settings().mcp_url,
            "transport": "streamable-http",
            "authentication": "OAuth 2.1 with PKCE; API keys are not accepted there",
            "authorization_server": f"{site}/.well-known/oauth-authorization-server",
        },
    }
    return JSONResponse(description, headers=_CACHE_HEADERS)


def _describe_registration(site: str) -> dict[str, object]:
    """Says how to register, or what to do where the operator does not allow it."""
    if not settings().agents_may_register:
        return {"open": False, "instead": f"A person with an account makes an API key at {site}/dashboard/keys."}
    return {
        "open": True,
        "endpoint": site + PATH,
        "method": "POST",
        "content_type": "application/json",
        "body": {"agent_name": f"text of 1 to {MAX_CHARACTERS} visible characters"},
        "gives": ["api_key", "claim_code"],
        "plan": Plan.FREE.slug,
        "limit_per_address_and_hour": settings().agents_per_hour,
        "claim": "The person who opens the claim_url can take the account over once."
        " The person decides whether the key keeps working.",
    }
