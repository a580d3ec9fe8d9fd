"""The style sheet: compressed once, and cached for a year at an address that names its content."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

TEMPLATES = Path(__file__).parents[1] / "templates"
STYLESHEET_PATH = "/static/site.css"
_FIVE_MINUTES, _YEAR = 300, 31_536_000


@dataclass(frozen=True)
class StaticFile:
    content: bytes
    compressed: bytes
    digest: str


@lru_cache(maxsize=1)
def read_stylesheet() -> StaticFile:
    content = (TEMPLATES / "site.css").read_bytes()
    compressed = gzip.compress(content, mtime=0)
    return StaticFile(content, compressed, hashlib.sha256(content).hexdigest()[:12])


def build_stylesheet_address() -> str:
    """The address, which differs for every content, so that no browser shows a new page in an old style."""
    return f"{STYLESHEET_PATH}?v={read_stylesheet().digest}"


async def serve_stylesheet(request: Request) -> Response:
    """Cached for a year only under its own digest: two releases side by side may be asked for each other's."""
    file = read_stylesheet()
    is_current = request.query_params.get("v") == file.digest
    headers = {
        "Cache-Control": f"public, max-age={_YEAR}, immutable" if is_current else f"public, max-age={_FIVE_MINUTES}",
        "ETag": f'"{file.digest}"',
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.compressed, 200, headers | {"Content-Encoding": "gzip"}, "text/css")
    return Response(file.content, 200, headers, "text/css")
