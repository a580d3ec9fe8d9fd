"""The client's side of OAuth 2: what to ask a token endpoint goes in; a grant or one word of fault comes out."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

from shared import http
from shared.providers.connectors import Declined, Grant, Start
from shared.providers.contract import Unanswered

MOST_BYTES = 64 * 1024
MOST_TOKEN = 8192
GONE = ("invalid_grant", "invalid_token", "access_denied")
OURS = ("invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope")


def verifier() -> tuple[str, str]:
    """A PKCE verifier and its S256 challenge."""
    secret = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).rstrip(b"=").decode()
    return secret, challenge


def onward(authorize_url: str, query: Mapping[str, str], *, pkce: bool) -> Start:
    """The provider's own page of consent."""
    kept: dict[str, str] = {}
    asked = dict(query)
    if pkce:
        kept["verifier"], asked["code_challenge"] = verifier()
        asked["code_challenge_method"] = "S256"
    joint = "&" if "?" in authorize_url else "?"
    return Start(f"{authorize_url}{joint}{urlencode(asked)}", kept)


def application(client_id: str | None, secret: SecretStr | None) -> dict[str, str]:
    """The operator's application as it proves itself."""
    return {"client_id": client_id or "", "client_secret": secret.get_secret_value() if secret else ""}


def exchange(own: Mapping[str, str], query: Mapping[str, str], redirect_uri: str, **more: str) -> dict[str, str]:
    """What a token endpoint is sent when a person comes back. Raises Declined when they did not allow it."""
    code = _code(query)
    return {"grant_type": "authorization_code", **own, "code": code, "redirect_uri": redirect_uri, **more}


def renewal(own: Mapping[str, str], refresh: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", **own, "refresh_token": refresh}


def _code(query: Mapping[str, str]) -> str:
    """The code a person came back with. Raises Declined when they did not allow it."""
    if query.get("error") == "access_denied":
        raise Declined
    if query.get("error") or not query.get("code"):
        raise Unanswered("not_permitted", "refused")
    return query["code"]


async def token(url: str, fields: Mapping[str, str], *, as_json: bool = False) -> Grant:
    """Asks the token endpoint once."""
    body: dict[str, Any] = {"json": dict(fields)} if as_json else {"data": dict(fields)}
    headers = {"Accept": "application/json"}
    async with (
        http.client() as client,
        client.stream("POST", http.check_url(url), headers=headers, **body) as said,
    ):
        raw = await http.read_capped(said, MOST_BYTES)
        return _grant(said, raw)


def _grant(said: httpx.Response, raw: bytes) -> Grant:
    try:
        document = json.loads(raw)
    except ValueError:
        document = None
    if not isinstance(document, dict):  # a wall before the server says nothing about the credential
        raise Unanswered("down", f"http_{said.status_code}" if said.status_code >= 500 else "upstream_blocked")
    if said.status_code == 200 and "error" not in document:
        return _read(document)
    if said.status_code == 429:
        raise Unanswered("quota_exhausted", "quota")
    if document.get("error") in GONE and said.status_code < 500:
        raise Unanswered("broken", "invalid_grant")
    if document.get("error") in OURS:
        raise Unanswered("not_permitted", str(document["error"]))
    raise Unanswered("down", f"http_{said.status_code}")


def _read(document: dict[str, Any]) -> Grant:
    access, refresh = document.get("access_token"), document.get("refresh_token")
    kind, life = document.get("token_type", "Bearer"), document.get("expires_in")
    if not _plain(access) or (refresh is not None and not _plain(refresh)) or str(kind).lower() != "bearer":
        raise Unanswered("down", "wrong_shape")
    seconds = int(life) if isinstance(life, int | float | str) and str(life).split(".")[0].isdecimal() else None
    scope = document.get("scope")
    return Grant(str(access), refresh, seconds, scope[:500] if isinstance(scope, str) else None)


def _plain(value: Any) -> bool:
    """A token goes into a header: nothing but visible ASCII."""
    return isinstance(value, str) and 0 < len(value) <= MOST_TOKEN and value.isascii() and value.isprintable()


async def revoke(url: str, fields: Mapping[str, str]) -> bool:
    """RFC 7009. True when the provider says that the token is of no use any more."""
    async with http.client() as client, client.stream("POST", http.check_url(url), data=dict(fields)) as said:
        return said.status_code == 200
