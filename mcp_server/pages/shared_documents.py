"""GET /shared/SECRET: PDFs that an advisor shares with clients by a secret link; all other links get the same 404."""

import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.pages.error_pages import show_error
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.views.clients import PATH
from shared import clock
from shared.db.base import transaction
from shared.db.clients import open_document
from shared.limits import address_key, hit
from shared.secrets import digest

PER_MINUTE = 120  # requests of one address
_SECRET = re.compile(r"[0-9a-f]{40}")
PRIVATE_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
    "X-Frame-Options": "DENY",
}
_PREFETCH_HEADERS = ("sec-purpose", "purpose", "x-purpose", "x-moz")
# A browser's PDF viewer shows nothing in a sandbox, so the policy only forbids frames.
_PDF_POLICY = {"Content-Security-Policy": "frame-ancestors 'none'"}


async def send_document(request: Request) -> Response:
    """Counts a view for each GET, but not for HEAD or a browser's prefetch."""
    if wait := await find_wait(request):
        return refuse(request, 429, {"Retry-After": str(wait)})
    secret = request.path_params["secret"]
    ahead = any("prefetch" in request.headers.get(name, "") for name in _PREFETCH_HEADERS)
    counts_view = request.method == "GET" and not ahead
    row = await anyio.to_thread.run_sync(_open_document, secret, counts_view, limiter=limiter())
    if row is None:
        return refuse(request, 404)
    title, content = row
    # The file name (RFC 6266): ASCII letters for old browsers, the whole title for the others.
    bare = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "-", bare).strip("-")[:80] or "document"
    whole = "".join(c for c in title if c.isprintable() and c not in '/\\:*?"<>|')[:120].strip(" .") or plain
    disposition = f"inline; filename=\"{plain}.pdf\"; filename*=UTF-8''{quote(whole, safe='')}.pdf"
    file_name = {"Content-Disposition": disposition, "Accept-Ranges": "none"}
    return Response(content, 200, {**PRIVATE_HEADERS, **_PDF_POLICY, **file_name}, "application/pdf")


async def find_wait(request: Request) -> int:
    """The seconds that an address must wait after opening too many shared links, or 0."""
    peer = address_key(request.client.host if request.client else "")
    verdict = await anyio.to_thread.run_sync(hit, f"shared:{peer}", PER_MINUTE, 60, limiter=limiter())
    return 0 if verdict.allowed else max(1, verdict.retry_after)


def refuse(request: Request, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Refuses with a page, also for programs: only people follow these links."""
    return show_error(request, status, {**PRIVATE_HEADERS, **(headers or {})})


def _open_document(secret: str, counted: bool) -> tuple[str, bytes] | None:
    if not _SECRET.fullmatch(secret):
        return None
    with transaction() as session:
        return open_document(session, digest(secret), clock.now(), counted=counted)


def routes() -> list[Route]:
    return [Route(f"{PATH}/{{secret}}", send_document, methods=["GET", "HEAD"])]
