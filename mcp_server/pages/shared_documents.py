"""GET /shared/SECRET: PDFs that an advisor shares with clients by a secret link; all other links get the same 404."""

import re
import unicodedata
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.views.clients import PATH
from shared import clock
from shared.db.base import transaction
from shared.db.clients import open_document
from shared.limits import address_key, hit
from shared.secrets import digest

PER_MINUTE = 120  # requests of one address
_SECRET = re.compile(r"[0-9a-f]{40}")
_PRIVATE_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
    "X-Frame-Options": "DENY",
}
_PREFETCH_HEADERS = ("sec-purpose", "purpose", "x-purpose", "x-moz")
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not available</title>
<body style="font:17px/1.5 system-ui,sans-serif;max-width:32em;margin:15vh auto;padding:0 1em">
<h1 style="font-size:1.5em">{0}</h1><p>{1}</p></body></html>"""
_GONE = _PAGE.format(
    "This document is not available",
    "The link has ended, was taken back, or was not copied whole. Ask the person who sent it for a new one.",
)
_BUSY = _PAGE.format("Too many requests", "Try again in a minute.")
_PAGE_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
# A browser's PDF viewer shows nothing in a sandbox, so the policy only forbids frames.
_PDF_POLICY = {"Content-Security-Policy": "frame-ancestors 'none'"}


async def send_document(request: Request) -> Response:
    """Counts a view for each GET, but neither for HEAD nor for what a browser fetches ahead."""
    peer = address_key(request.client.host if request.client else "")
    verdict = await anyio.to_thread.run_sync(hit, f"shared:{peer}", PER_MINUTE, 60, limiter=limiter())
    if not verdict.allowed:
        return HTMLResponse(_BUSY, 429, {**_PRIVATE_HEADERS, **_PAGE_POLICY, "Retry-After": str(verdict.retry_after)})
    secret = request.path_params["secret"]
    ahead = any("prefetch" in request.headers.get(name, "") for name in _PREFETCH_HEADERS)
    counted = request.method == "GET" and not ahead
    row = await anyio.to_thread.run_sync(_open_document, secret, counted, limiter=limiter())
    if row is None:
        return HTMLResponse(_GONE, 404, {**_PRIVATE_HEADERS, **_PAGE_POLICY})
    title, content = row
    return Response(content, 200, {**_PRIVATE_HEADERS, **_PDF_POLICY, **_name_file(title)}, "application/pdf")


def _open_document(secret: str, counted: bool) -> tuple[str, bytes] | None:
    if not _SECRET.fullmatch(secret):
        return None
    with transaction() as session:
        return open_document(session, digest(secret), clock.now(), counted=counted)


def _name_file(title: str) -> dict[str, str]:
    """The file name (RFC 6266): ASCII letters for old browsers, the whole title for the others."""
    bare = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "-", bare).strip("-")[:80] or "document"
    whole = "".join(c for c in title if c.isprintable() and c not in '/\\:*?"<>|')[:120].strip(" .") or plain
    disposition = f"inline; filename=\"{plain}.pdf\"; filename*=UTF-8''{quote(whole, safe='')}.pdf"
    return {"Content-Disposition": disposition, "Accept-Ranges": "none"}


def routes() -> list[Route]:
    return [Route(f"{PATH}/{{secret}}", send_document, methods=["GET", "HEAD"])]
