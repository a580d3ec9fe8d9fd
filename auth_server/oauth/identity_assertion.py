"""Enterprise-managed authorization of MCP: an identity assertion (ID-JAG) is exchanged for an access token."""

import secrets
from datetime import timedelta
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, InvalidScopeError, UnauthorizedClientError
from authlib.oauth2.rfc6749.grants import BaseGrant, TokenEndpointMixin
from joserfc.errors import ClaimError
from joserfc.jwt import ClaimsOption, JWTClaimsRegistry
from sqlalchemy import func, select

from auth_server.accounts import accounts
from auth_server.accounts.linked_identities import find_identity
from auth_server.accounts.provider_documents import Unavailable, find_document, load_document
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signed_tokens import LEEWAY_SECONDS, InvalidToken, read_unverified, verify_token
from auth_server.oauth import resource_indicators
from auth_server.oauth.clients import GRANT_TYPES, JWT_BEARER
from auth_server.oauth.requests import GrantServer, ProtocolRequest
from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.linked_identities import spend_assertion
from shared.db.oauth import ENDED_BY_PERSON, Consent, Family
from shared.secrets import digest
from shared.settings import SCOPE, settings
from shared.settings.identity_providers import EnterpriseIssuer

PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
MEDIA_TYPE = "oauth-id-jag+jwt"
MAX_LIFE = timedelta(hours=1)
KEYS_MAX_AGE = timedelta(minutes=1)  # when an assertion names a key that is not among those read before
_REQUIRED: dict[str, ClaimsOption] = {
    name: {"essential": True} for name in ("iss", "sub", "aud", "exp", "iat", "jti", "client_id")
}


def list_grant_types() -> tuple[str, ...]:
    return (*GRANT_TYPES, JWT_BEARER) if settings().enterprise_issuers else GRANT_TYPES


async def ensure_keys(data: RequestData) -> None:
    """Reads the public keys of the issuer that an assertion names, if that is one of the settings.

    Nothing is verified yet, so assertions cause at most one request a minute, or six while it does not answer, and
    only to an address of the settings.
    """
    assertion = data.form_value("assertion")
    header, claims = read_unverified(assertion)
    entry = _find_entry(claims.get("iss"))
    if entry is None or entry.jwks_url is None:
        return
    try:
        jwks = await load_document(entry.jwks_url)
        if header.get("kid") not in _list_key_ids(jwks):
            await load_document(entry.jwks_url, max_age=KEYS_MAX_AGE)
    except Unavailable:
        return


def _list_key_ids(jwks: dict[str, Any]) -> list[Any]:
    keys = jwks.get("keys")
    return [key.get("kid") for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def _find_entry(issuer: object) -> EnterpriseIssuer | None:
    return settings().enterprise_issuers.get(issuer) if isinstance(issuer, str) else None


class AssertionGrant(BaseGrant, TokenEndpointMixin):
    """The client shows its secret and the assertion; the person is not asked, as the enterprise decides.

    There is no refresh token: the enterprise ends access by issuing no more assertions.
    """

    GRANT_TYPE = JWT_BEARER
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]
    server: GrantServer
    request: ProtocolRequest

    def validate_token_request(self) -> None:
        client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError(f"This client is not allowed 'grant_type={self.GRANT_TYPE}'.")
        self.request.client = client
        claims, entry = self._verify_assertion()
        self._check_scope(claims)
        self.request.resource = self._find_audience(claims)
        account = _find_account(self.server, claims, entry)
        if entry.accounts == "linked":
            self._check_not_disconnected(account, claims)
        self._spend(claims)
        self.request.user = account
        self.request.family_id = self._find_family(account, claims["iss"])

    def _verify_assertion(self) -> tuple[dict[str, Any], EnterpriseIssuer]:
        assertion = self.request.form.get("assertion")
        if not assertion:
            raise InvalidRequestError("Missing 'assertion'.")
        entry = _find_entry(read_unverified(assertion)[1].get("iss"))
        if entry is None:
            raise InvalidGrantError("The issuer of the assertion is not known here.")
        jwks = entry.jwks if entry.jwks_url is None else find_document(entry.jwks_url)
        if jwks is None:
            raise OAuth2Error("Its keys cannot be read.", status_code=503, error="temporarily_unavailable")
        try:
            claims = verify_token(assertion, jwks, {MEDIA_TYPE}).claims
            JWTClaimsRegistry(int(clock.now().timestamp()), LEEWAY_SECONDS, **_REQUIRED).validate(claims)
        except InvalidToken as error:
            raise InvalidGrantError("The assertion is not valid.") from error
        except ClaimError as error:
            raise InvalidGrantError(f"A claim of the assertion is not valid: {error.claim}.") from error
        self._check_binding(claims)
        return claims, entry

    def _check_binding(self, claims: dict[str, Any]) -> None:
        """Checks that it is only for this service and client, and for a short time (profile 5.1, 7.4.2, 7.6.2)."""
        if claims["aud"] not in (settings().web_url, [settings().web_url]):
            raise InvalidGrantError("The assertion is for another authorization server.")
        if claims["client_id"] != self.request.client.client_id:
            raise InvalidGrantError("The assertion is for another client.")
        if claims["exp"] - claims["iat"] > MAX_LIFE.total_seconds():
            raise InvalidGrantError("The assertion is good for too long.")

    def _check_scope(self, claims: dict[str, Any]) -> None:
        """Checks that what the enterprise allows is within the requested scope, if any (profile 7.2.1, 7.6.2)."""
        allowed, requested = claims.get("scope"), self.request.payload.scope
        self.server.validate_requested_scope(requested)
        if allowed is not None and (not isinstance(allowed, str) or SCOPE not in allowed.split()):
            raise InvalidGrantError(f"The assertion does not allow the scope {SCOPE}.")
        scopes = set((requested or "").split())
        if scopes and not {SCOPE, *(allowed or "").split()} <= scopes:
            raise InvalidScopeError

    def _find_audience(self, claims: dict[str, Any]) -> str:
        """The resource the assertion names; a request may name the same again."""
        named, requested = claims.get("resource"), self.request.payload.datalist.get("resource", [])
        if named is None:
            return resource_indicators.resolve(requested)
        names = named if isinstance(named, list) else [named]
        if not names or not all(isinstance(name, str) for name in names):
            raise InvalidGrantError("The resource of the assertion is not served here.")
        try:
            audience = resource_indicators.resolve(names)
        except resource_indicators.InvalidTarget:
            raise InvalidGrantError("The resource of the assertion is not served here.") from None
        return resource_indicators.resolve(requested, within=audience)

    def _check_not_disconnected(self, account: Account, claims: dict[str, Any]) -> None:
        """Refuses an application the person disconnected; over addresses of its own domains the enterprise decides."""
        db, client_id = self.server.uow.db, self.request.client.client_id
        own = (Family.account_id == account.id, Family.client_id == client_id, Family.issuer == claims["iss"])
        ended_at = db.scalar(select(func.max(Family.revoked_at)).where(*own, Family.reason.in_(ENDED_BY_PERSON)))
        identity = find_identity(db, claims["iss"], claims["sub"])
        if ended_at is None or (identity is not None and identity.created_at > ended_at):
            return
        # Ending the authorization ended the consent with it, so an existing one was given afterwards.
        consent = (Consent.account_id == account.id, Consent.client_id == client_id)
        if db.scalar(select(Consent.id).where(*consent)) is None:
            raise InvalidGrantError("The person has disconnected this application and has not allowed it again.")

    def _spend(self, claims: dict[str, Any]) -> None:
        key = digest(f"{claims['iss']}\0{claims['jti']}")
        expires_at = clock.now() + MAX_LIFE + 2 * timedelta(seconds=LEEWAY_SECONDS)
        if not spend_assertion(self.server.uow.db, key, expires_at):
            raise InvalidGrantError("The assertion was used before.")

    def _find_family(self, account: Account, issuer: str) -> str:
        """The one authorization for all assertions; the owner is told of its first token."""
        db, client = self.server.uow.db, self.request.client
        own = (Family.account_id == account.id, Family.client_id == client.client_id, Family.issuer == issuer)
        family_id = db.scalar(select(Family.id).where(*own, Family.revoked_at.is_(None)).limit(1))
        if family_id is not None:
            return family_id
        family = Family(id=secrets.token_hex(16), account_id=account.id, client_id=client.client_id, issuer=issuer)
        db.add(family)
        db.flush()
        record_event(self.server.uow, account, "application_allowed", subject=client.row.name)
        return family.id

    def create_token_response(self) -> tuple[int, dict[str, Any], Any]:
        """Issues a token only for the tools: the client knows the person from the enterprise."""
        token = self.generate_token(user=self.request.user, include_refresh_token=False) | {"scope": SCOPE}
        self.save_token(token)
        return 200, token, self.TOKEN_RESPONSE_HEADER


def _find_account(server: GrantServer, claims: dict[str, Any], entry: EnterpriseIssuer) -> Account:
    """An existing account: by issuer and subject, or by an address of the domains the issuer may speak for."""
    db = server.uow.db
    if entry.accounts == "linked":
        identity = find_identity(db, claims["iss"], claims["sub"])
        account = db.get(Account, identity.account_id) if identity is not None else None
    else:
        address = claims.get("email")
        is_usable = isinstance(address, str) and claims.get("email_verified", True) is True
        domain = str(address).rpartition("@")[2].lower()
        account = accounts.find_account(db, str(address)) if is_usable and domain in entry.email_domains else None
    if account is None or account.disabled_at is not None or account.email_confirmed_at is None:
        raise InvalidGrantError("The assertion names no one who has an account here.")
    return account
