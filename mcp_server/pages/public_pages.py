"""Pages of the tool server that are the same for everyone, and the host where people read them."""

import gzip
import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from shared.settings import LOOPBACK, settings

PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
_CACHE_SECONDS = 300


@dataclass(frozen=True)
class PublicPage:
    """A page made beforehand: plain, compressed, and its ETag."""

    content: bytes
    compressed: bytes
    tag: str


def prepare_page(page: str) -> PublicPage:
    content = page.encode()
    return PublicPage(content, gzip.compress(content, mtime=0), f'"{hashlib.sha256(content).hexdigest()[:24]}"')


def send_page(
    request: Request, page: PublicPage, seconds: int = _CACHE_SECONDS, vary: str = "Accept-Encoding"
) -> Response:
    """Sends the page compressed for clients that accept that; 304 for a browser that has it."""
    headers = {**PAGE_HEADERS, "ETag": page.tag, "Cache-Control": f"public, max-age={seconds}", "Vary": vary}
    if page.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(page.compressed, 200, {**headers, "Content-Encoding": "gzip"}, "text/html")
    return Response(page.content, 200, headers, "text/html")


def redirect_to_site(request: Request) -> Response | None:
    """Redirects to the same page of the web host, which has its style sheet, if another host was asked; else None."""
    origin, site = urlsplit(request.scope["origin"]), urlsplit(settings().web_url)
    is_loopback = origin.hostname in LOOPBACK and site.hostname in LOOPBACK
    if origin.port == site.port and (is_loopback or origin.hostname == site.hostname):
        return None
    query = f"?{request.url.query}" if request.url.query else ""
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return RedirectResponse(f"{settings().web_url}{request.url.path}{query}", 303, headers)
