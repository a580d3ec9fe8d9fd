"""What programs read before connecting: the server card, the catalogue that names it, the registry's file, skills."""

import hashlib
import ipaddress
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.calls.problem_details import ProblemResponse
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.icons import list_icons
from mcp_server.transport.sdk_server import NAME
from mcp_server.transport.well_known import PUBLIC_HEADERS
from mcp_server.ways_of_working.skills import build_bundle
from shared.domain.mcp_addresses import ADDRESSES, CARD, PARTS, WHOLE, find_address
from shared.limits import address_key, hit
from shared.settings import VERSION, settings

REGISTRY_FILE = "/mcp/server.json"
CATALOGUE, BUNDLE = "/.well-known/ai-catalog.json", "/skills/award-travel.zip"
CARD_TYPE, CATALOGUE_TYPE = "application/mcp-server-card+json", "application/ai-catalog+json"
CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
DESCRIPTION = "Award flights and hotels, transfer bonuses, and your own points, cards, trips and monitors."
READS_PER_MINUTE = 120  # of one address

Document = Mapping[str, Any]


def build_catalogue(origin: str) -> Document:
    """The catalogue of an organisation's servers: here one, by the address of its card."""
    publisher = urlsplit(settings().web_url).hostname
    identifier = f"urn:air:{publisher}:mcp:{NAME}"
    entry = {"identifier": identifier, "type": CARD_TYPE, "url": origin + WHOLE.path + CARD}
    return {"specVersion": "1.0", "entries": [entry]}


def build_registry_file() -> Document:
    """server.json, for an operator to submit to the registry of servers: both hosts, whichever was asked."""
    urls = dict.fromkeys((f"{settings().web_url}{WHOLE.path}", settings().mcp_url))
    remotes = [{"type": "streamable-http", "url": url} for url in urls]
    return {"$schema": REGISTRY_SCHEMA, **_describe_server(), "remotes": remotes}


def _describe_server() -> Document:
    site = settings().web_url
    return {
        "name": f"{_reverse_host(site)}/{NAME}",
        "title": settings().service_name,
        "description": DESCRIPTION,
        "version": VERSION,
        "websiteUrl": site,
        "icons": [icon.model_dump(by_alias=True, exclude_none=True) for icon in list_icons()],
    }


def _reverse_host(site: str) -> str:
    """com.example.travel for https://travel.example.com; an IP address has no domain."""
    host = urlsplit(site).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return ".".join(reversed(host.split(".")))
    return "localhost"


def _serve(build: Callable[[Request], Document], media_type: str) -> Any:
    async def endpoint(request: Request) -> Response:
        return await _answer(request, to_json(build(request)), media_type)

    return endpoint


def _read_card(request: Request) -> Document:
    address = find_address(request.scope["path"].removesuffix(CARD))
    assert address is not None  # the middleware answers for others
    # SEP-2127, of one address on one host (https://host). Tools and prompts are no part of it.
    remote = {
        "type": "streamable-http",
        "url": request.scope["origin"] + address.path,
        "supportedProtocolVersions": list(SUPPORTED_PROTOCOL_VERSIONS),
    }
    return {"$schema": CARD_SCHEMA, **_describe_server(), "remotes": [remote]}


async def _send_bundle(request: Request) -> Response:
    return await _answer(request, build_bundle(), "application/zip")


async def _answer(request: Request, content: bytes, media_type: str) -> Response:
    """Pages of any origin may read it: it has no personal data. Raises ProblemResponse over the limit."""
    peer = address_key(request.client.host if request.client else "")
    verdict = await anyio.to_thread.run_sync(hit, f"discovery:{peer}", READS_PER_MINUTE, 60, limiter=limiter())
    if not verdict.allowed:
        words = f"More than {READS_PER_MINUTE} such requests in a minute."
        raise ProblemResponse("too_many_requests", words, {"Retry-After": str(verdict.retry_after)})
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**PUBLIC_HEADERS, "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, 200, headers, media_type)


def routes() -> list[Route]:
    cards = (*(path + CARD for path in ADDRESSES), PARTS + "{areas}" + CARD)
    return [
        *(Route(path, _serve(_read_card, CARD_TYPE)) for path in cards),
        Route(CATALOGUE, _serve(lambda request: build_catalogue(request.scope["origin"]), CATALOGUE_TYPE)),
        Route(REGISTRY_FILE, _serve(lambda _: build_registry_file(), "application/json")),
        Route(BUNDLE, _send_bundle),
    ]
