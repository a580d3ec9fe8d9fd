"""Resource indicators (RFC 8707): from the resources a request names to the one audience of the token."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error

from shared.settings import settings


class InvalidTarget(OAuth2Error):
    error = "invalid_target"


def _canonicalize(value: str) -> str | None:
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


def resolve(resources: Sequence[str], within: str | None = None) -> str:
    """The audience; `within` is the resource authorized before. Raises InvalidTarget."""
    served = {_canonicalize(r): r for r in settings().resources}
    audiences = [served.get(_canonicalize(value)) for value in resources]
    if None in audiences:
        raise InvalidTarget("The resource is not served here.")
    if within is not None:
        if any(audience != within for audience in audiences):
            raise InvalidTarget("The resource was not part of the authorization.")
        return within
    if len(set(audiences)) > 1:
        raise InvalidTarget("One resource per token.")
    return audiences[0] if audiences and audiences[0] else settings().resources[0]
