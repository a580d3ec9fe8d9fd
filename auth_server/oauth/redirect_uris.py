"""Redirect URIs (RFC 6749 3.1.2): which may be registered, and how a requested one is compared and extended."""

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from shared.settings import settings

OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"  # the code is shown on a page, for applications a person made by hand
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_URI = re.compile(r"(?=.{1,2048}\Z)([A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
_DOTS = re.compile(
    r"/(\.|%2e){1,2}(/|\Z)", re.IGNORECASE
)  # browsers remove these segments, which makes another address
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_EDITOR = re.compile(r"([a-z][a-z0-9+.\-]*://[a-z0-9.\-]+)(?:[/?].*)?")
_BLANKS = {"tenant": _LABEL, "region": r"[a-z]{2}(-[a-z]{2,12}){1,3}-\d{1,2}", "id": r"[A-Za-z0-9._~\-]{1,200}"}
_LOCAL = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9]\d{0,4}))?([/?].*)?", re.ASCII)
_RESPONSE_PARAMETERS = {
    "code",
    "state",
    "iss",
    "error",
    "error_description",
    "error_uri",
    "id_token",
    "access_token",
    "response",
}
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")


class BadRedirect(ValueError):
    """The text says what is wrong, and what to do where that is not obvious; it never repeats the URI."""


@lru_cache(maxsize=1)
def _load_lists() -> dict[str, frozenset[str]]:
    data = tomllib.loads(Path(__file__).with_name("redirects.toml").read_text("utf-8"))
    return {name: frozenset(values) for name, values in data.items()}


@lru_cache(maxsize=1)
def _build_tenant_pattern() -> re.Pattern[str]:
    """Matches what follows `https://` in the address of a tenant."""
    whole = "|".join(re.escape(template) for template in sorted(_load_lists()["tenants"]))
    for name, pattern in _BLANKS.items():
        whole = whole.replace(re.escape("{" + name + "}"), f"(?:{pattern})")
    return re.compile(whole)


def _read_configured_hosts() -> frozenset[str]:
    configured = settings().oauth_dcr_redirect_host_allowlist.lower().split(",")
    return frozenset(host.strip() for host in configured if host.strip())


def list_known_hosts() -> frozenset[str]:
    """The hosts of client metadata documents that this service, or its operator, knows."""
    return _load_lists()["documents"] | _read_configured_hosts()


def is_host_name(host: str) -> bool:
    """Whether it is a full public DNS name: not an IP address in any notation, nor a single label."""
    return _HOST.fullmatch(host) is not None and re.search(r"\.([a-z]{2,}|xn--[a-z0-9-]+)\Z", host) is not None


def _split_uri(uri: str) -> SplitResult:
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        raise BadRedirect("not a valid URI") from None
    if _DOTS.search(parts.path):
        raise BadRedirect("dot segments are not allowed")
    if parts.netloc.endswith(":") or (port is not None and port == 0):
        raise BadRedirect("the port is not valid")
    if "@" in parts.netloc or "%" in parts.netloc:
        raise BadRedirect("user information and encoded hosts are not allowed")
    if _RESPONSE_PARAMETERS & {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}:
        raise BadRedirect("the query must not hold parameters of an authorization response")
    return parts


def check_registration(uri: object, *, anywhere: bool = False, own_host: str = "") -> str:
    """The URI, if a client that registers itself may have it; raises BadRedirect otherwise.

    `own_host` is the host whose document describes the client: it proves that redirects may go there.
    """
    if not isinstance(uri, str) or not _URI.fullmatch(uri) or "*" in uri:
        raise BadRedirect("must be a URI of printable characters, without wildcard or fragment")
    parts = _split_uri(uri)
    host, editor = parts.hostname or "", _EDITOR.fullmatch(uri)
    # Not by `host`: urlsplit reads an address in brackets whatever comes before and after them.
    if _LOCAL.fullmatch(uri) or (editor and editor[1] in _load_lists()["editors"]):
        return uri
    if not uri.startswith("https://"):
        raise BadRedirect(
            "must be https, or http on this computer's own loopback address (127.0.0.1, any port), or the address of an"
            " editor that is known here"
        )
    if _build_tenant_pattern().fullmatch(uri.removeprefix("https://")):
        return uri
    is_listed = host in _load_lists()["hosts"] | _read_configured_hosts() or (host == own_host and is_host_name(host))
    if not _HOST.fullmatch(host) or not (anywhere or is_listed):
        raise BadRedirect(
            "the host is not on the allowlist of this service. The operator adds hosts with"
            " OAUTH_DCR_REDIRECT_HOST_ALLOWLIST; or a person makes the application at"
            f" {settings().web_url}/dashboard/api-apps/new; or it has a callback on a loopback address"
        )
    if parts.netloc.lower() not in (host, f"{host}:443"):
        raise BadRedirect("the port is not allowed: https is taken without one")
    return uri


def check_manual(uri: str) -> str:
    """The same for an application a person makes: any https host is allowed, and the code may be shown on a page."""
    return uri if uri == OUT_OF_BAND else check_registration(uri, anywhere=True)


def matches(requested: str, registered: str) -> bool:
    """Compares the whole string; for loopback http only the port may differ (RFC 8252 section 7.3)."""
    if requested == registered:
        return True
    old, new = _LOCAL.fullmatch(registered), _LOCAL.fullmatch(requested)
    if old is None or new is None or not _URI.fullmatch(requested) or int(new[2] or 80) > 65_535:
        return False
    return (old[1], old[3]) == (new[1], new[3])


def host_of(uri: str) -> str:
    """The host to show, which a remembered consent is bound to."""
    if uri == OUT_OF_BAND:
        return "shown for copying"
    parts = urlsplit(uri)
    return (parts.hostname or "") if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def is_local(uri: str) -> bool:
    """True when the code goes to a program on the person's own computer, which any program there could be."""
    parts = urlsplit(uri)
    return parts.scheme not in ("http", "https") or parts.hostname in LOOPBACK


def append_parameters(uri: str, params: list[tuple[str, str]]) -> str:
    """Appends parameters and leaves the registered part unchanged, byte for byte."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(params)}"
