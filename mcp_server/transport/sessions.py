"""Session ids of clients that declare forms: the id itself carries the declaration, so no process keeps a session.

Revisions before 2026-07-28 declare capabilities once, at `initialize`. Anyone who declares none that we use gets no id.
"""

import secrets
from functools import lru_cache
from typing import Any

from mcp_types import ClientCapabilities
from pydantic import ValidationError

from mcp_server.toolkit.context import Caller
from mcp_server.transport.elicitation import accepts_forms
from shared.asgi import Headers
from shared.secrets import is_same_secret, sign
from shared.settings import settings

HEADER = b"mcp-session-id"
_KIND = "forms"
_MAC_LENGTH = 32


def list_session_headers(message: dict[str, Any], caller: Caller) -> Headers:
    """The headers of the answer to this `initialize`."""
    try:
        declared = ClientCapabilities.model_validate((message.get("params") or {}).get("capabilities"), by_name=False)
    except ValidationError:
        return []
    if not accepts_forms(declared):
        return []
    nonce = secrets.token_urlsafe(12)
    mac = _sign(settings().encryption_keys[0], nonce, caller.public_id, caller.client_id)
    return [(HEADER, f"{_KIND}.{nonce}.{mac}".encode())]


def has_declared_forms(session_id: bytes | None, caller: Caller) -> bool:
    """Whether this application of this account declared forms. An id that is not ours is none, and no error."""
    if not session_id:
        return False
    return _is_ours(session_id.decode("latin-1"), caller.public_id, caller.client_id, *settings().encryption_keys)


@lru_cache(maxsize=4096)
def _is_ours(session_id: str, account: str, client: str, *materials: str) -> bool:
    kind, _, rest = session_id.partition(".")
    nonce, _, mac = rest.partition(".")
    return kind == _KIND and any(is_same_secret(_sign(key, nonce, account, client), mac) for key in materials)


def _sign(material: str, nonce: str, account: str, client: str) -> str:
    return sign(material, f"mcp session\0{_KIND}\0{nonce}\0{account}\0{client}")[:_MAC_LENGTH]
