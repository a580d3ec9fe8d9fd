"""POST /api/v1/facts/report: anyone can report a wrong fact as JSON, within a limit for the address."""

from typing import Any

import anyio.to_thread
from pydantic_core import from_json
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.calls.problem_details import RETRY_LATER, ProblemResponse
from mcp_server.toolkit.report_link import API_PATH
from mcp_server.toolkit.thread_limiter import limiter
from shared.asgi import BodyIncomplete, BodyTooLarge, read_body
from shared.errors import Invalid
from shared.services.operations.fact_reports import MAX_BODY_BYTES, TooManyReports, receive_report

MAX_BODY_SECONDS = 15.0


async def receive(request: Request) -> Response:
    fields = await _read_fields(request)
    peer = request.client.host if request.client else ""
    try:
        number = await anyio.to_thread.run_sync(receive_report, fields, peer, limiter=limiter())
    except Invalid as error:
        raise ProblemResponse("invalid", error.message, **error.facts) from None
    except TooManyReports as error:
        headers = {"Retry-After": str(error.seconds)}
        raise ProblemResponse("too_many_requests", "Too many reports; wait.", headers) from None
    except SQLAlchemyError:
        raise ProblemResponse("temporarily_unavailable", "Send it again.", {"Retry-After": RETRY_LATER}) from None
    message = "Thank you. Someone will look at it; no fact changes by itself."
    return JSONResponse({"message": message, "report": f"R{number}"}, 201, {"Cache-Control": "no-store"})


async def _read_fields(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise ProblemResponse("unsupported_media_type", "Send the report as application/json.")
    try:
        body = await read_body(request.scope, request.receive, max_bytes=MAX_BODY_BYTES, max_seconds=MAX_BODY_SECONDS)
        fields = from_json(body)
    except BodyTooLarge:
        raise ProblemResponse("too_large", f"A report may have {MAX_BODY_BYTES >> 10} KiB.") from None
    except BodyIncomplete:
        raise ProblemResponse("too_slow", "The body did not arrive in time.") from None
    except ValueError:
        raise ProblemResponse("unreadable", "The body is not JSON.") from None
    if not isinstance(fields, dict):
        raise ProblemResponse("unreadable", "The body must be one JSON object.")
    return fields


def routes() -> list[Route]:
    return [Route(API_PATH, receive, methods=["POST"])]
