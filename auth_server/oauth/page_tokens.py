"""Access tokens of this host's own pages: signed by the service and valid for minutes in one browser session.

A page that calls tools for the person who looks at it needs no authorization and stores none. The same token is made
for two minutes at a time, so that a tool server, which caches it, looks the session up once, not at every view.
"""

import re
from dataclasses import dataclass

from auth_server.web.sessions import name_token_family
from shared import clock
from shared.db.oauth import WebSession
from shared.internal_api import PAGE_TOKEN
from shared.secrets import is_same_secret, sign
from shared.settings import SCOPE, settings

CLIENT_ID, CLIENT_NAME = "award-travel-dashboard", "Dashboard"
WINDOW_SECONDS = 120  # a token ends with the window after the one it was made in
_FORM = re.compile(rf"{PAGE_TOKEN}([0-9a-f]{{64}})([0-9a-f]{{10}})([rw])([0-9a-f]{{64}})", re.ASCII)


@dataclass(frozen=True)
class PageToken:
    """What a token says. The session may have ended in the meantime."""

    session_hash: str
    issued_at: int  # seconds, the beginning of its window
    expires_at: int
    read_only: bool


def _sign(material: str, body: str) -> str:
    return sign(material, f"page token\0{body}")


def issue(session: WebSession, *, read_only: bool) -> str:
    ends = (int(clock.now().timestamp()) // WINDOW_SECONDS + 2) * WINDOW_SECONDS
    body = f"{PAGE_TOKEN}{session.id_hash}{ends:010x}{'r' if read_only else 'w'}"
    return body + _sign(settings().encryption_keys[0], body)


def read(text: str) -> PageToken | None:
    """Reads a token; None for a text that is no token, is not signed by us, or has expired."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    session_hash, ends, access, signature = match.groups()
    body, expires_at = text[: -len(signature)], int(ends, 16)
    signed = any(is_same_secret(signature, _sign(material, body)) for material in settings().encryption_keys)
    if not signed or expires_at <= clock.now().timestamp():
        return None
    return PageToken(session_hash, expires_at - 2 * WINDOW_SECONDS, expires_at, access == "r")


def describe(token: PageToken, public_id: str) -> dict[str, object]:
    """The claims of introspection (RFC 7662 2.2). `page`: the tool server does not count views of a page as calls."""
    claims = {
        "active": True,
        "iss": settings().web_url,
        "sub": public_id,
        "aud": settings().mcp_url,
        "client_id": CLIENT_ID,
        "client_name": CLIENT_NAME,
        "scope": SCOPE,
        "token_type": "Bearer",
        "iat": token.issued_at,
        "exp": token.expires_at,
        "family": name_token_family(token.session_hash),
        "page": True,
    }
    return claims | ({"read_only": True} if token.read_only else {})
