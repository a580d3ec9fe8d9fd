"""Authlib's server over one database session: built for one request, on one thread, so that nothing is shared."""

from typing import Any

from authlib.oauth2 import AuthorizationServer, OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749 import ClientMixin, InvalidScopeError, OAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from auth_server.oauth import grants, openid, redirect_uris, tokens
from auth_server.oauth.revocation import Revocation
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, Page, failed, refused
from auth_server.web.request_data import Pairs, RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Client, Consent, Family, keep_tokens
from shared.secrets import digest, same
from shared.settings import settings

CLIENT_ID_MAX = 512


class Application(ClientMixin):
    """What authlib asks of a client, answered from the stored row; strict about the way it authenticates."""

    def __init__(self, row: Client) -> None:
        self.row = row
        self.client_id = row.client_id

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None  # redirect_uri is always required

    def get_allowed_scope(self, scope: str | None) -> str:  # noqa: ARG002 - nothing asked for changes it
        return tokens.GRANTED

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return any(redirect_uris.matches(redirect_uri, known) for known in self.row.redirect_uris)

    def check_client_secret(self, client_secret: str) -> bool:
        return same(self.row.secret_hash or "", digest(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002
        if self.row.auth_method == "client_secret":  # applications made by a person may use either form
            return method in ("client_secret_basic", "client_secret_post")
        return method == self.row.auth_method

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in ("authorization_code", "refresh_token")


class ServiceClient(Application):
    """The service's own confidential client: it may introspect, and no grant is open to it."""

    def __init__(self) -> None:
        secret = digest(settings().service_client_secret.get_secret_value())
        super().__init__(
            Client(
                client_id=settings().service_client_id,
                kind="service",
                name="Award Travel services",
                auth_method="client_secret_basic",
                secret_hash=secret,
                redirect_uris=[],
            )
        )

    def check_response_type(self, response_type: str) -> bool:  # noqa: ARG002
        return False

    def check_grant_type(self, grant_type: str) -> bool:  # noqa: ARG002
        return False


class Payload(OAuth2Payload):
    def __init__(self, found: Pairs) -> None:
        self._first: dict[str, str] = {}
        self._all: dict[str, list[str]] = {}
        for name, value in found:
            self._first.setdefault(name, value)
            self._all.setdefault(name, []).append(value)

    @property
    def data(self) -> dict[str, str]:
        return self._first

    @property
    def datalist(self) -> dict[str, list[str]]:
        return self._all


class ProtocolRequest(OAuth2Request):
    """The request as authlib reads it: body alone on POST, query alone on GET, address from the settings."""

    def __init__(self, inc: RequestData) -> None:
        headers = {"Authorization": inc.authorization} if inc.authorization else {}
        super().__init__(inc.method, settings().web_url + inc.path, headers=headers)
        self.payload = Payload(inc.form if inc.method == "POST" else inc.query)
        self.resource: str | None = None
        self.family_id: str | None = None
        self.rotated: tuple[str, str] | None = None  # hash of a refresh token at its end, and its sealed successor
        self.retry_of: str | None = None  # the successor already given for a refresh token that is sent again

    @property
    def form(self) -> dict[str, str]:
        return self.payload.data

    @property
    def args(self) -> dict[str, str]:
        return self.payload.data


class Server(AuthorizationServer):
    def __init__(self, db: Session) -> None:
        super().__init__()
        self.db = db
        self.events: list[dict[str, str]] = []  # published once the transaction is committed
        self.authenticated_at = clock.now()  # of the person who consents; set by the authorization flow
        generator = BearerTokenGenerator(tokens.access_token, tokens.refresh_token, tokens.ACCESS_SECONDS)
        self.register_token_generator("default", generator)
        self.register_grant(grants.CodeGrant, [grants.S256(required=True), grants.audience, openid.signed])
        self.register_grant(grants.RefreshGrant)
        self.register_endpoint(Revocation)

    def query_client(self, client_id: str) -> Application | None:
        if not client_id or len(client_id) > CLIENT_ID_MAX:
            return None
        if client_id == settings().service_client_id:
            return ServiceClient()
        row = self.db.get(Client, client_id)
        return Application(row) if row is not None and row.disabled_at is None else None

    def save_token(self, token: dict[str, Any], request: ProtocolRequest) -> None:
        now = clock.now()
        common = {
            "client_id": request.client.client_id,
            "family_id": request.family_id,
            "scope": token["scope"],
            "resource": request.resource,
        }
        access, expires = digest(token["access_token"]), now + tokens.ACCESS_LIFE
        if request.retry_of is not None:
            self.db.add(AccessToken(token_hash=access, issued_at=now, expires_at=expires, **common))
            return
        old, sealed = request.rotated or (None, None)
        fresh = {"access": access, "expires": expires, "refresh": digest(token["refresh_token"])}
        keep_tokens(self.db, now=now, old=old, sealed=sealed, **fresh, **common)

    def validate_requested_scope(self, scope: str | None) -> None:
        if scope and not tokens.SCOPE_SYNTAX.fullmatch(scope):
            raise InvalidScopeError

    def create_oauth2_request(self, request: RequestData | ProtocolRequest) -> ProtocolRequest:
        return request if isinstance(request, ProtocolRequest) else ProtocolRequest(request)

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> FlowResult:
        if isinstance(body, JsonResponse | Page):  # an authorization response, whole already
            return body
        kept = {name: value for name, value in headers if name != "Content-Type"}
        return JsonResponse(status, body or None, NO_STORE | kept)

    def handle_error_response(self, request: Any, error: OAuth2Error) -> FlowResult:  # noqa: ARG002
        return refused(error) if error.redirect_uri else failed(error)

    def send_signal(self, name: str, *args: Any, **more: Any) -> None:
        """Authlib announces its steps here; nobody listens."""

    def account_of(self, family_id: str) -> Account | None:
        """The account behind a live authorization; None once it is revoked or the account disabled."""
        return self.db.scalar(
            select(Account)
            .join(Family, Family.account_id == Account.id)
            .where(Family.id == family_id, Family.revoked_at.is_(None), Account.disabled_at.is_(None))
        )

    def revoke_family(self, family_id: str, reason: str) -> None:
        """Every token of the line is dead, and the person is asked again before there is another."""
        alive = (Family.id == family_id, Family.revoked_at.is_(None))
        ended = update(Family).where(*alive).values(revoked_at=clock.now(), reason=reason)
        row = self.db.execute(ended.returning(Family.account_id, Family.client_id)).one_or_none()
        if row is not None:
            theirs = (Consent.account_id == row.account_id, Consent.client_id == row.client_id)
            self.db.execute(delete(Consent).where(*theirs))
        self.events.append({"family": family_id})
