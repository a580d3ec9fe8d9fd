"""OAuth 2 client: authorization requests (RFC 6749, PKCE of RFC 7636), the token endpoint, revocation (RFC 7009)."""

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

MAX_RESPONSE_BYTES = 64 * 1024
MAX_TOKEN_CHARACTERS = 8192
REFUSED_GRANT_ERRORS = ("invalid_grant", "invalid_token", "access_denied")
CLIENT_ERRORS = ("invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope")


def make_verifier() -> tuple[str, str]:
    """A PKCE verifier and its S256 challenge."""
    secret = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).rstrip(b"=").decode()
    return secret, challenge


def build_start(authorize_url: str, query: Mapping[str, str], *, pkce: bool) -> Start:
    """The provider's own page of consent."""
    secrets_kept: dict[str, str] = {}
    params = dict(query)
    if pkce:
        secrets_kept["verifier"], params["code_challenge"] = make_verifier()
        params["code_challenge_method"] = "S256"
    joint = "&" if "?" in authorize_url else "?"
    return Start(f"{authorize_url}{joint}{urlencode(params)}", secrets_kept)


def client_fields(client_id: str | None, secret: SecretStr | None) -> dict[str, str]:
    """The operator's application as it proves itself."""
    return {"client_id": client_id or "", "client_secret": secret.get_secret_value() if secret else ""}


def code_fields(own: Mapping[str, str], query: Mapping[str, str], redirect_uri: str, **more: str) -> dict[str, str]:
    """What a token endpoint is sent when a person comes back. Raises Declined when they did not allow it."""
    code = _read_code(query)
    return {"grant_type": "authorization_code", **own, "code": code, "redirect_uri": redirect_uri, **more}


def refresh_fields(own: Mapping[str, str], refresh: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", **own, "refresh_token": refresh}


def _read_code(query: Mapping[str, str]) -> str:
    """The code a person came back with. Raises Declined when they did not allow it."""
    if query.get("error") == "access_denied":
        raise Declined
    if query.get("error") or not query.get("code"):
        raise Unanswered("not_permitted", "refused")
    return query["code"]


async def request_token(url: str, fields: Mapping[str, str], *, as_json: bool = False) -> Grant:
    """Asks the token endpoint once."""
    body: dict[str, Any] = {"json": dict(fields)} if as_json else {"data": dict(fields)}
    headers = {"Accept": "application/json"}
    async with (
        http.client() as client,
        client.stream("POST", http.check_url(url), headers=headers, **body) as response,
    ):
        raw = await http.read_capped(response, MAX_RESPONSE_BYTES)
        return _parse_response(response, raw)


def _parse_response(response: httpx.Response, raw: bytes) -> Grant:
    try:
        document = json.loads(raw)
    except ValueError:
        document = None
    if not isinstance(document, dict):  # a wall before the server says nothing about the credential
        raise Unanswered("down", f"http_{response.status_code}" if response.status_code >= 500 else "upstream_blocked")
    if response.status_code == 200 and "error" not in document:
        return _parse_grant(document)
    if response.status_code == 429:
        raise Unanswered("quota_exhausted", "quota")
    if document.get("error") in REFUSED_GRANT_ERRORS and response.status_code < 500:
        raise Unanswered("broken", "invalid_grant")
    if document.get("error") in CLIENT_ERRORS:
        raise Unanswered("not_permitted", str(document["error"]))
    raise Unanswered("down", f"http_{response.status_code}")


def _parse_grant(document: dict[str, Any]) -> Grant:
    access, refresh = document.get("access_token"), document.get("refresh_token")
    kind, life = document.get("token_type", "Bearer"), document.get("expires_in")
    if (
        not _is_header_safe(access)
        or (refresh is not None and not _is_header_safe(refresh))
        or str(kind).lower() != "bearer"
    ):
        raise Unanswered("down", "wrong_shape")
    seconds = int(life) if isinstance(life, int | float | str) and str(life).split(".")[0].isdecimal() else None
    scope = document.get("scope")
    return Grant(str(access), refresh, seconds, scope[:500] if isinstance(scope, str) else None)


def _is_header_safe(value: Any) -> bool:
    """A token goes into a header: nothing but visible ASCII."""
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN_CHARACTERS and value.isascii() and value.isprintable()


async def revoke(url: str, fields: Mapping[str, str]) -> bool:
    """RFC 7009. True when the provider says that the token is of no use any longer."""
    async with http.client() as client, client.stream("POST", http.check_url(url), data=dict(fields)) as response:
        return response.status_code == 200
