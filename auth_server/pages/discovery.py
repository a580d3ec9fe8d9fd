"""Files of the site for search engines and assistants: robots.txt, the list of public pages, and llms.txt."""

from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from shared.domain.mcp_addresses import LEAN, READONLY, WHOLE
from shared.domain.tool_profiles import AREAS
from shared.settings import settings

_CACHE_HEADERS = {"Cache-Control": "public, max-age=3600"}
# Pages that say the same to everybody and that someone could look for.
PUBLIC_PAGES = ("/", "/connect", "/plans", "/problems", "/privacy", "/terms", "/support")
PASSED_PAGES = ("/tools", "/tools/by-plan", *(f"/tools/{area}" for area in AREAS))  # which the tool server makes
# No one looks for these: they belong to one person, hold a secret in their address, or are for programs.
_KEPT_OUT = (
    "/dashboard",
    "/oauth/",
    "/internal/",
    "/signin",
    "/signup",
    "/confirm",
    "/connect/",
    "/recover",
    "/reset",
    "/invitation",
    "/unsubscribe",
    "/claim/",
    "/integrations/",
    "/feeds/",
    "/shared/",
    "/facts/",
    "/mcp",
    "/api/",
)


async def serve_robots(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    """/robots.txt (RFC 9309)."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _KEPT_OUT), "", f"Sitemap: {_site()}/sitemap.xml"]
    return PlainTextResponse("\n".join(lines) + "\n", headers=_CACHE_HEADERS)


async def serve_sitemap(request: Request) -> Response:  # noqa: ARG001
    """/sitemap.xml (sitemaps.org, protocol 0.9)."""
    places = "".join(f"<url><loc>{escape(_site() + path)}</loc></url>\n" for path in (*PUBLIC_PAGES, *PASSED_PAGES))
    opening = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return Response(f"{opening}{places}</urlset>\n", headers=_CACHE_HEADERS, media_type="application/xml")


async def serve_llms_text(request: Request) -> Response:  # noqa: ARG001
    """/llms.txt (llmstxt.org): the site as an assistant reads it."""
    return PlainTextResponse(_write_llms_text(), headers=_CACHE_HEADERS, media_type="text/markdown")


def _site() -> str:
    return settings().web_url


def _write_llms_text() -> str:
    site, config, count = _site(), settings(), sum(AREAS.values())
    invented = "Seats and prices here are invented: this installation is for trying out.\n\n"
    return f"""# {config.service_name}

> {count} tools over MCP and REST for points and miles: award seats, fares, hotel nights, ways to transfer points, and a
> person's own balances, cards, bookings, trips and watches. It never books and never moves points.

{invented if config.data_mode == "sandbox" else ""}## Connect

- [{site}{WHOLE.path}]({site}{WHOLE.path}): {count} tools, MCP over Streamable HTTP, sign-in by OAuth 2.1
- [{site}{LEAN.path}]({site}{LEAN.path}): {LEAN.about}, for hosts that take few tools
- [{site}{READONLY.path}]({site}{READONLY.path}): {READONLY.about}

## Reference

- [Tools]({site}/tools): each with its plan, arguments and calls over MCP, REST and the command line
- [OpenAPI]({site}/.well-known/openapi.yaml): every tool over REST, with an API key
- [Skills]({site}/skills/award-travel.zip): ways of working, step by step
- [Problems]({site}/problems): what failures mean

## Site

- [Connect]({site}/connect): buttons and commands for each assistant
- [Plans]({site}/plans): limits and prices
- [Privacy]({site}/privacy): what is kept, and for how long
- [Support]({site}/support): whom to write to
- [Status]({site}/status): what works right now, as JSON too
"""
