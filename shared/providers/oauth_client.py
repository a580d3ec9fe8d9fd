"""OAuth 2 client: authorization requests (RFC 6749, PKCE of RFC 7636), the token endpoint, revocation (RFC 7009)."""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

from shared import http
from shared.providers.connectors import Declined, Grant, Start
from shared.providers.contract import Unanswered
from shared.settings import Settings, settings

MAX_RESPONSE_BYTES = 64 * 1024
MAX_TOKEN_CHARACTERS = 8192
REFUSED_GRANT_ERRORS = ("invalid_grant", "invalid_token", "access_denied")
CLIENT_ERRORS = ("invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope")


@dataclass(frozen=True)
class Application:
    """The operator's application at a provider, and what it asks for there. `prefix` is that of its settings.

    `more` is sent to the consent page besides the usual; what `again` names of it, or of the way back, is sent with
    the code a second time.
    """

    prefix: str
    authorize_url: Callable[[Settings], str | None]
    token_url: Callable[[Settings], str | None]
    more: Callable[[Settings], Mapping[str, str | None]] = lambda _: {}
    again: tuple[str, ...] = ()
    pkce: bool = True
    as_json: bool = False

    @property
    def fields(self) -> dict[str, str]:
        """The fields that authenticate it."""
        secret: SecretStr | None = getattr(settings(), f"{self.prefix}_client_secret")
        client_id: str | None = getattr(settings(), f"{self.prefix}_client_id")
        return {"client_id": client_id or "", "client_secret": secret.get_secret_value() if secret else ""}

    def is_configured(self) -> bool:
        return all((*self.fields.values(), self.authorize_url(settings()), self.token_url(settings())))

    async def start(self, redirect_uri: str, state: str) -> Start:
        """The address of the provider's consent page."""
        params = {"response_type": "code", "client_id": self.fields["client_id"], "redirect_uri": redirect_uri}
        params |= {"state": state} | {name: text for name, text in self.more(settings()).items() if text}
        saved: dict[str, str] = {}
        if self.pkce:
            secret = secrets.token_urlsafe(48)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).rstrip(b"=").decode()
            saved["verifier"], params["code_challenge"] = secret, challenge
            params["code_challenge_method"] = "S256"
        url = self.authorize_url(settings()) or ""
        return Start(f"{url}{'&' if '?' in url else '?'}{urlencode(params)}", saved)

    async def finish(self, query: Mapping[str, str], saved: Mapping[str, str], redirect_uri: str) -> Grant:
        """Exchanges the code a person came back with. Raises Declined when they did not allow it."""
        if query.get("error") == "access_denied":
            raise Declined
        if query.get("error") or not query.get("code"):
            raise Unanswered("not_permitted", "refused")
        fields = {
            "grant_type": "authorization_code",
            **self.fields,
            "code": query["code"],
            "redirect_uri": redirect_uri,
        }
        if self.pkce:
            fields["code_verifier"] = saved["verifier"]
        more = self.more(settings())
        fields |= {name: more.get(name) or query.get(name, "") for name in self.again}
        return await request_token(self.token_url(settings()) or "", fields, as_json=self.as_json)

    async def renew(self, refresh: str) -> Grant:
        fields = {"grant_type": "refresh_token", **self.fields, "refresh_token": refresh}
        return await request_token(self.token_url(settings()) or "", fields, as_json=self.as_json)


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
    if not isinstance(document, dict):  # a firewall's answer says nothing about the credential
        raise Unanswered("down", f"http_{response.status_code}" if response.status_code >= 500 else "upstream_blocked")
    if response.status_code == 200 and "error" not in document:
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
    if response.status_code == 429:
        raise Unanswered("quota_exhausted", "quota")
    if document.get("error") in REFUSED_GRANT_ERRORS and response.status_code < 500:
        raise Unanswered("broken", "invalid_grant")
    if document.get("error") in CLIENT_ERRORS:
        raise Unanswered("not_permitted", str(document["error"]))
    raise Unanswered("down", f"http_{response.status_code}")


def _is_header_safe(value: Any) -> bool:
    """Whether a token fits into a header: only visible ASCII."""
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN_CHARACTERS and value.isascii() and value.isprintable()


async def revoke(url: str, fields: Mapping[str, str]) -> bool:
    """RFC 7009. Revokes a token; True if the provider confirms that it no longer works."""
    async with http.client() as client, client.stream("POST", http.check_url(url), data=dict(fields)) as response:
        return response.status_code == 200
