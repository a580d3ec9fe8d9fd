"""/facts/report: the page where anyone can report a wrong fact. It works without scripts and cookies."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mcp_server.pages.templates import render_page
from mcp_server.toolkit.report_link import PAGE_PATH
from mcp_server.toolkit.thread_limiter import limiter
from shared.asgi import BodyIncomplete, BodyTooLarge, read_body
from shared.errors import Invalid
from shared.services.operations.fact_reports import (
    FIELDS,
    MAX_BODY_BYTES,
    TooManyReports,
    is_report_name,
    receive_report,
)

MAX_FORM_BYTES = 3 * MAX_BODY_BYTES  # a form encodes each byte of a character as up to three
MAX_FORM_SECONDS = 15.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
}


def _show(
    status: int = 200,
    *,
    fields: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    notice: str | None = None,
    report: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    values: dict[str, Any] = {
        "fields": {name: (fields or {}).get(name, "") for name in FIELDS},
        "limits": FIELDS,
        "faults": faults or {},
        "notice": notice,
        "report": report,
    }
    page = render_page("fact_report.html", **values)
    return HTMLResponse(page, status, {**_HEADERS, **(headers or {})})


async def show_form(request: Request) -> Response:
    """Shows the form, filled in from the link; after a report, its number."""
    report = request.query_params.get("received", "")
    if is_report_name(report):
        return _show(report=report)
    return _show(fields={name: request.query_params.get(name, "")[:most] for name, most in FIELDS.items()})


async def receive_form(request: Request) -> Response:
    """Where something is wrong the input is kept, and each fault is shown at its field."""
    fields: dict[str, str] = {}
    try:
        fields = await _read_form(request)
        peer = request.client.host if request.client else ""
        number = await anyio.to_thread.run_sync(receive_report, fields, peer, limiter=limiter())
    except BodyTooLarge:
        return _show(413, notice="That is too much text for a report.")
    except (BodyIncomplete, ValueError):
        return _show(400, notice="The form did not arrive whole. Send it again.")
    except Invalid as error:
        faults = {fault["field"]: f"It {fault['problem']}: {fault['expected']}." for fault in error.facts["errors"]}
        return _show(422, fields=fields, faults=faults)
    except TooManyReports as error:
        notice = "Too many reports came from your address. Wait an hour; what you typed is kept below."
        return _show(429, fields=fields, notice=notice, headers={"Retry-After": str(error.seconds)})
    except SQLAlchemyError:
        notice = "A part of this service is down. Send it again shortly; what you typed is kept below."
        return _show(503, fields=fields, notice=notice, headers={"Retry-After": "5"})
    return RedirectResponse(f"{PAGE_PATH}?received=R{number}", 303, _HEADERS)


async def _read_form(request: Request) -> dict[str, str]:
    """Reads a form. Raises ValueError if it is none, BodyTooLarge or BodyIncomplete."""
    body = await read_body(request.scope, request.receive, max_bytes=MAX_FORM_BYTES, max_seconds=MAX_FORM_SECONDS)
    form = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=20, errors="replace")
    return {name: values[0].replace("\r\n", "\n") for name, values in form.items() if name in FIELDS}


def routes() -> list[Route]:
    return [
        Route(PAGE_PATH, show_form, methods=["GET"]),
        Route(PAGE_PATH, receive_form, methods=["POST"]),
    ]
