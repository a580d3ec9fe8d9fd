"""TLS to other hosts: which certificates are trusted, and faults described with the next step."""

import ssl
from collections.abc import Iterator
from functools import lru_cache

from shared.variables import read_variable

# OpenSSL's codes for refused certificates (x509_vfy.h).
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
_FAULTS = {
    9: "its certificate is not valid yet: set the clocks of both machines by NTP, or wait",
    10: "its certificate has expired: renew it",
    62: "its certificate is for another name: use the name that stands in it",
    64: "its certificate is for another name: use the name that stands in it",
}
# OpenSSL's reasons, when the answer is not TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE")


class BundleError(Exception):
    """CA_BUNDLE names no file of certificates; the text says so."""


def find_bundle() -> str | None:
    """The file of CA_BUNDLE. Read separately from the other settings, because client commands have no others."""
    return read_variable("CA_BUNDLE") or None


def build_context(protocol: str) -> ssl.SSLContext:
    """Trusts the public authorities, those of this machine, and those of CA_BUNDLE.

    One context for each protocol, as its users set ALPN on it. Raises BundleError.
    """
    paths = ssl.get_default_verify_paths()  # of this machine, or SSL_CERT_FILE and SSL_CERT_DIR
    return _build_context(protocol, find_bundle(), paths.cafile, paths.capath)


@lru_cache(maxsize=8)
def _build_context(_protocol: str, bundle: str | None, *_system: str | None) -> ssl.SSLContext:
    """Cached: reading the certificate authorities takes tens of milliseconds, which would block the event loop."""
    import httpx

    context = httpx.create_ssl_context(trust_env=False)  # with the public authorities that come with httpx
    context.load_default_certs()
    if bundle:
        _load_bundle(context, bundle)
    return context


def _load_bundle(context: ssl.SSLContext, bundle: str) -> None:
    try:
        context.load_verify_locations(cafile=bundle)
    except (OSError, ValueError):  # ssl.SSLError is an OSError
        raise BundleError(f"{bundle} is no readable file of certificates in PEM form") from None


def check_bundle(bundle: str) -> None:
    """Raises ValueError, like checks of settings."""
    try:
        _load_bundle(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), bundle)
    except BundleError as fault:
        raise ValueError(str(fault)) from None


def explain_tls_fault(error: BaseException) -> str | None:
    """Describes the TLS fault behind an error, or None if there was none."""
    fault = next((e for e in _list_causes(error) if isinstance(e, ssl.SSLError)), None)
    code, reason = getattr(fault, "verify_code", None), getattr(fault, "reason", None) or "no reason"
    if code in _UNKNOWN_AUTHORITY:
        return (
            "its certificate is from an authority that this machine does not trust: name the file of that authority in"
            " CA_BUNDLE"
        )
    if isinstance(fault, ssl.SSLCertVerificationError):
        return _FAULTS.get(code or 0, f"its certificate is refused ({getattr(fault, 'verify_message', reason)})")
    if fault is None or isinstance(fault, ssl.SSLZeroReturnError | ssl.SSLEOFError):  # a connection that was cut
        return None
    if reason in _NO_TLS:
        return "it does not speak TLS there: look at the port, and whether TLS is meant at all"
    return f"it does not agree on TLS ({reason.lower().replace('_', ' ')})"


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what it was raised from, and what task groups hold; a chain of causes may never end."""
    waiting, visited = [error], set[int]()
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in visited:
            continue
        visited.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        waiting += current.exceptions if isinstance(current, BaseExceptionGroup) else []
