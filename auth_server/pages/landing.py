"""Public pages: start, privacy, terms, support, the list of problem types, and icons."""

import json
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from auth_server.pages.connecting import list_connectables
from auth_server.pages.plans import describe_plans, find_plan
from auth_server.pages.search import list_months
from auth_server.web.rendering import render_page
from auth_server.web.static_files import TEMPLATES
from shared import clock
from shared.domain.plans import Plan
from shared.errors import PROBLEMS, Fault, Invalid, problem
from shared.settings import STATUS, settings

SECURITY_CONTACT_LIFETIME = timedelta(days=180)  # RFC 9116 2.5.5 advises less than a year
_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}

_ANSWER = TEMPLATES / "landing_answer.json"
_CABINS = ("economy", "business", "first")
_SHADES = ((1.15, "c1"), (1.6, "c2"), (2.2, "c3"))  # of a price, by how far it is above the cheapest of its cabin


async def serve_landing(request: Request) -> Response:
    return render_page("landing.html", build_context(await find_plan(request)))


def build_context(plan: Plan | None) -> dict[str, Any]:
    """The content of the start page for a stranger, or for someone with a plan."""
    config = settings()
    return {
        "site": config.web_url,
        "mcp_url": f"{config.web_url}/mcp",
        "assistants": list_connectables(),
        "plan": plan,
        "plans": describe_plans(),
        "answer": read_answer(),
        "months": list_months(),
        "sandbox": config.data_mode == "sandbox",
        "public": config.secure,
        "agents": config.agents_may_register,
        "status": STATUS,
    }


@lru_cache(maxsize=1)
def read_answer() -> dict[str, Any]:
    """Reads a sandbox answer, with its days as rows of cabins: points in thousands and their shade."""
    answer: dict[str, Any] = json.loads(_ANSWER.read_text(encoding="utf-8"))
    days = answer["month"]["days"]
    lowest = {cabin: min(day[cabin] for day in days.values() if cabin in day) for cabin in _CABINS}
    rows = [(cabin, [_describe_cell(day.get(cabin), lowest[cabin]) for day in days.values()]) for cabin in _CABINS]
    award = answer["plan"]["award"]
    leaves, arrives = (datetime.fromisoformat(award[name]) for name in ("departs_at", "arrives_at"))
    nights = (arrives.date() - leaves.date()).days
    times = f"{leaves:%H:%M} to {arrives:%H:%M}{f' +{nights}' if nights else ''}"
    return answer | {
        "days": [date.fromisoformat(day) for day in days],
        "rows": rows,
        "times": times,
        "day": leaves.date(),
    }


def _describe_cell(points: int | None, lowest: int) -> tuple[str, str]:
    if points is None:
        return "\u2013", "c0"
    shade = next((name for most, name in _SHADES if points <= most * lowest), "c4")
    return str((points + 500) // 1000), shade


def serve_legal_page(name: str) -> Callable[[Request], Awaitable[Response]]:
    """Serves a text page that names the operator."""

    async def endpoint(request: Request) -> Response:  # noqa: ARG001
        config = settings()
        context = {
            "operator": config.operator_name,
            "contact": config.operator_email,
            "site": config.web_url,
            "sandbox": config.data_mode == "sandbox",
            "settings": config,
            "model_host": urlsplit(config.standing_order_model_url).hostname,
        }
        return render_page(name, context)

    return endpoint


def serve_picture(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(TEMPLATES / name, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return endpoint


async def serve_challenge(request: Request) -> Response:  # noqa: ARG001
    """Proof of the domain for OpenAI's plugin portal, when the operator has set one."""
    text = settings().openai_apps_challenge
    return PlainTextResponse(text, headers=_CACHE_HEADERS) if text else Response(status_code=404)


async def serve_security_contact(request: Request) -> Response:  # noqa: ARG001
    """/.well-known/security.txt (RFC 9116): whom to tell about a fault that endangers people."""
    config = settings()
    if not config.operator_email:
        return Response(status_code=404)
    expires = clock.now().replace(microsecond=0) + SECURITY_CONTACT_LIFETIME
    lines = [
        f"Contact: mailto:{config.operator_email}",
        f"Expires: {expires.isoformat().replace('+00:00', 'Z')}",
        f"Canonical: {config.web_url}/.well-known/security.txt",
        f"Policy: {config.web_url}/support#security",
        "Preferred-Languages: en",
    ]
    return PlainTextResponse("\n".join(lines) + "\n", headers=_CACHE_HEADERS)


async def serve_problems(request: Request) -> Response:  # noqa: ARG001
    """Serves the page that the `type` of a problem document links to."""
    kinds = sorted(PROBLEMS.items(), key=lambda item: item[1].status)
    return render_page("problems.html", {"kinds": kinds, "example": _write_example()})


def _write_example() -> str:
    """The head and body of a refusal, as programs receive them."""
    fault = Fault("month", "does not have the expected form", "a month YYYY-MM")
    refusal = Invalid(fault)
    body = problem(settings().web_url, refusal.status, refusal.message, **refusal.facts)
    head = f"HTTP/1.1 {body['status']}\nContent-Type: application/problem+json\n\n"
    return head + json.dumps(body, indent=2)
