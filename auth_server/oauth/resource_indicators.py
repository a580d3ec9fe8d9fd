"""Resource indicators (RFC 8707): from the resources a request names to the one audience of the token."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error

from shared.domain.mcp_addresses import WHOLE, find_address
from shared.settings import settings


class InvalidTarget(OAuth2Error):
    error = "invalid_target"


def _canonicalize(value: str) -> str | None:
    """Drops differences of case in scheme and host, a trailing slash and the query; the bare origin means /mcp."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "#" in value or "@" in parts.netloc:
        return None
    default = 443 if parts.scheme.lower() == "https" else 80
    path = parts.path.replace("%2C", ",").replace("%2c", ",")  # the same in a path, and some clients write it so
    netloc = parts.hostname if port in (None, default) else f"{parts.hostname}:{port}"
    return f"{parts.scheme.lower()}://{netloc}{path.rstrip('/') or '/mcp'}"


def _find_audience(value: str) -> str | None:
    """The identifier of a resource in its normal form, with areas from A to Z."""
    canonical = _canonicalize(value) or ""
    for whole in settings().resources:
        origin = (_canonicalize(whole) or "").removesuffix(WHOLE.path)
        address = find_address(canonical.removeprefix(origin))
        if address is not None:
            return whole.removesuffix(WHOLE.path) + address.path
    return None


def resolve(resources: Sequence[str], within: str | None = None) -> str:
    """The audience; `within` is the resource authorized before. Raises InvalidTarget."""
    audiences = [_find_audience(value) for value in resources]
    if None in audiences:
        raise InvalidTarget("The resource is not served here.")
    if within is not None:
        if any(audience != within for audience in audiences):
            raise InvalidTarget("The resource was not part of the authorization.")
        return within
    if len(set(audiences)) > 1:
        raise InvalidTarget("One resource per token.")
    return audiences[0] if audiences and audiences[0] else settings().resources[0]
