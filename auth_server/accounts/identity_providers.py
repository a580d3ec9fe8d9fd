"""Sign-in at another provider (OpenID Connect Core 3.1, GitHub's OAuth): the request, and who returned."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import anyio
import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from auth_server.accounts.provider_documents import Unavailable, load_document
from auth_server.accounts.signed_tokens import LEEWAY_SECONDS, InvalidToken, UnknownKey, verify_token
from shared import clock
from shared.http import USER_AGENT, Refused, check_url
from shared.settings import settings
from shared.settings.identity_providers import OidcProvider
from shared.tls import build_context

EXCHANGE_SECONDS, MAX_BYTES, MAX_SUBJECT_CHARACTERS = 10, 64 * 1024, 255
KEYS_MAX_AGE = timedelta(minutes=1)  # when a token names a key that is not among those read before
_TIMEOUT = httpx2.Timeout(5, connect=3)
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)


class SignInRefused(Exception):
    """The provider's answer does not identify the person; the text is for them."""


@dataclass(frozen=True)
class Identity:
    """A person as a provider knows them; `address` only where the provider has verified it."""

    issuer: str
    subject: str
    address: str | None
    authenticated_at: float | None = None  # seconds since 1970, where the provider says so


@dataclass(frozen=True)
class Journey:
    """One sign-in at a provider: the values sent with it, which must come back."""

    state: str
    nonce: str
    verifier: str
    fresh: bool


def redirect_uri(name: str) -> str:
    """A separate address for each provider, so that the answer of one is never taken for another's (RFC 9700 4.4)."""
    return f"{settings().web_url}/signin/callback/{name}"


class _CappedTransport(httpx2.AsyncHTTPTransport):
    """Reads at most MAX_BYTES of an answer, and refuses a compressed one."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if "content-encoding" in response.headers:
            await response.aclose()
            raise Refused("a packed answer")
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise Refused("the answer is too large")
        finally:
            await response.aclose()
        return httpx2.Response(response.status_code, headers=response.headers, content=bytes(body), request=request)


def _describe_client(name: str, provider: OidcProvider) -> dict[str, Any]:
    """Describes this service as the provider knows it."""
    return {
        "client_id": provider.client_id,
        "client_secret": provider.client_secret.get_secret_value(),
        "token_endpoint_auth_method": provider.client_auth,
        "scope": "user:email" if provider.kind == "github" else "openid email",
        "redirect_uri": redirect_uri(name),
        "code_challenge_method": "S256",
    }


@asynccontextmanager
async def _open_client(name: str, provider: OidcProvider) -> AsyncIterator[AsyncOAuth2Client]:
    """authlib's client for this provider: no redirects, no environment proxies, bounded answers."""
    async with AsyncOAuth2Client(
        **_describe_client(name, provider),
        leeway=0,  # its token is used at once, however short its life
        transport=_CappedTransport(verify=build_context("http"), trust_env=False),
        timeout=_TIMEOUT,
        headers={"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    ) as http:
        yield http


async def load_metadata(provider: OidcProvider) -> dict[str, Any]:
    """Endpoints of a provider. Raises Unavailable, also for another issuer's document (Discovery 4.3)."""
    if provider.kind == "github":
        web = f"{provider.issuer}/login/oauth"
        return {"authorization_endpoint": f"{web}/authorize", "token_endpoint": f"{web}/access_token"}
    document = await load_document(f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
    endpoints = [document.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
    if document.get("issuer") != provider.issuer or not all(isinstance(url, str) for url in endpoints):
        raise Unavailable
    try:
        for url in endpoints:
            check_url(str(url))
    except Refused:
        raise Unavailable from None
    return document


def build_request(name: str, provider: OidcProvider, metadata: dict[str, Any], journey: Journey) -> str:
    """The provider's address that the browser is sent to."""
    params = {} if provider.kind == "github" else {"nonce": journey.nonce}
    if journey.fresh and provider.kind == "oidc":
        params["max_age"] = "0"
    asking = OAuth2Client(None, **_describe_client(name, provider))
    url, _ = asking.create_authorization_url(
        metadata["authorization_endpoint"], state=journey.state, code_verifier=journey.verifier, **params
    )
    return str(url)


def check_response_issuer(provider: OidcProvider, metadata: dict[str, Any], issuer: str | None) -> None:
    """Checks the issuer that an answer names, and requires one where the provider promises it (RFC 9207 2.4)."""
    expected = {provider.issuer}
    if provider.kind == "github":
        expected.add(f"{provider.issuer}/login/oauth")
    required = metadata.get("authorization_response_iss_parameter_supported") is True
    if issuer not in expected and (issuer is not None or required):
        raise SignInRefused("The answer came from another provider than the one you chose.")


async def identify(name: str, provider: OidcProvider, journey: Journey, code: str, issuer: str | None) -> Identity:
    """Identifies who came back with this code. Raises Unavailable or SignInRefused."""
    try:
        with anyio.fail_after(EXCHANGE_SECONDS):
            metadata = await load_metadata(provider)
            check_response_issuer(provider, metadata, issuer)
            async with _open_client(name, provider) as http:
                token = await http.fetch_token(
                    metadata["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=journey.verifier,
                    redirect_uri=redirect_uri(name),
                )
                if provider.kind == "github":
                    # GitHub's subject is the account number, because names change hands; the address is the
                    # primary one.
                    user = await _ask(http, f"{provider.api_url}/user")
                    addresses = await _ask(http, f"{provider.api_url}/user/emails")
                    number = user.get("id") if isinstance(user, dict) else None
                    if not isinstance(number, int) or isinstance(number, bool) or not isinstance(addresses, list):
                        raise SignInRefused(f"{provider.title} did not say who you are.")
                    primary = next((a for a in addresses if isinstance(a, dict) and a.get("primary") is True), {})
                    address = primary.get("email") if primary.get("verified") is True else None
                    return Identity(provider.issuer, str(number), address if isinstance(address, str) else None)
                return await _identify_by_id_token(http, provider, metadata, journey, token)
    except AuthlibBaseError as error:
        raise SignInRefused(f"{provider.title} did not accept the sign-in.") from error
    except (Refused, httpx2.HTTPError, OSError, TimeoutError, *_MALFORMED) as error:
        raise Unavailable from error


async def _identify_by_id_token(
    http: AsyncOAuth2Client, provider: OidcProvider, metadata: dict[str, Any], journey: Journey, token: dict[str, Any]
) -> Identity:
    try:
        claims = await _check_id_token(provider, metadata, journey, token)
    except (InvalidToken, JoseError) as error:
        raise SignInRefused(f"{provider.title} answered with something this service does not accept.") from error
    profile: dict[str, Any] = claims
    if "email" not in claims and isinstance(metadata.get("userinfo_endpoint"), str):
        profile = await _ask(http, check_url(metadata["userinfo_endpoint"]))
        if profile.get("sub") != claims["sub"]:  # OpenID Connect Core 5.3.2
            raise SignInRefused(f"{provider.title} answered about two different people.")
    address = profile.get("email") if profile.get("email_verified") is True else None
    authenticated_at = claims.get("auth_time")
    seconds = float(authenticated_at) if isinstance(authenticated_at, int | float) else None
    return Identity(provider.issuer, claims["sub"], address if isinstance(address, str) else None, seconds)


async def _check_id_token(
    provider: OidcProvider, metadata: dict[str, Any], journey: Journey, token: dict[str, Any]
) -> CodeIDToken:
    """The claims of the ID token (OpenID Connect Core 3.1.3.7). Unknown keys are fetched once more."""
    raw = token.get("id_token")
    if not isinstance(raw, str):
        raise InvalidToken("no ID token")
    try:
        verified = verify_token(raw, await load_document(metadata["jwks_uri"]), {"jwt"})
    except UnknownKey:
        verified = verify_token(raw, await load_document(metadata["jwks_uri"], max_age=KEYS_MAX_AGE), {"jwt"})
    claims = CodeIDToken(
        verified.claims,
        verified.header,
        {"iss": {"essential": True, "value": provider.issuer}, "aud": {"essential": True, "value": provider.client_id}},
        {"nonce": journey.nonce, "client_id": provider.client_id, "access_token": token.get("access_token")},
    )
    claims.validate(now=int(clock.now().timestamp()), leeway=LEEWAY_SECONDS)
    if not claims["sub"] or len(claims["sub"]) > MAX_SUBJECT_CHARACTERS:
        raise InvalidToken("no usable subject")
    return claims


async def _ask(http: AsyncOAuth2Client, url: str) -> Any:
    response = await http.get(url)
    if response.status_code != httpx2.codes.OK:
        raise Unavailable
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        raise Unavailable from None
