"""RFC 8707: the resources a request names go in, the one canonical audience of the token comes out."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error

from shared.settings import settings


class InvalidTarget(OAuth2Error):
    error = "invalid_target"


def _canonical(value: str) -> str | None:
    """Case of scheme and host, a trailing slash and the query make no difference; the bare origin means /mcp."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "#" in value or "@" in parts.netloc:
        return None
    default = 443 if parts.scheme.lower() == "https" else 80
    netloc = parts.hostname if port in (None, default) else f"{parts.hostname}:{port}"
    return f"{parts.scheme.lower()}://{netloc}{parts.path.rstrip('/') or '/mcp'}"


def resolve(named: Sequence[str], within: str | None = None) -> str:
    """The audience; `within` is what was authorized before. Raises InvalidTarget."""
    ours = {_canonical(r): r for r in settings().resources}
    found = [ours.get(_canonical(value)) for value in named]
    if None in found:
        raise InvalidTarget("The resource is not served here.")
    if within is not None:
        if any(r != within for r in found):
            raise InvalidTarget("The resource was not part of the authorization.")
        return within
    if len(set(found)) > 1:
        raise InvalidTarget("One resource per token.")
    return found[0] if found and found[0] else settings().resources[0]
