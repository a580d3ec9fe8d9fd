"""OAuth clients (RFC 6749 2): what authlib asks of one, our own confidential client, and the end of a client."""

from authlib.oauth2.rfc6749 import ClientMixin
from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.oauth import redirect_uris, tokens
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.oauth import Client, Family
from shared.secrets import digest, is_one_of, is_same_secret
from shared.settings import settings

AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
GRANT_TYPES = ("authorization_code", "refresh_token")
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
MAX_CLIENT_ID_CHARACTERS = 512


class Application(ClientMixin):
    """A client as authlib wants it, from the stored row; strict about how it authenticates."""

    def __init__(self, row: Client) -> None:
        self.row = row
        self.client_id = row.client_id

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None  # redirect_uri is always required

    def get_allowed_scope(self, scope: str | None) -> str:
        return tokens.grant_scope(scope)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return any(redirect_uris.matches(redirect_uri, registered) for registered in self.row.redirect_uris)

    def check_client_secret(self, client_secret: str) -> bool:
        return is_same_secret(self.row.secret_hash or "", digest(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002
        if self.row.auth_method == "client_secret":  # applications made by a person may use either form
            return method in ("client_secret_basic", "client_secret_post")
        return method == self.row.auth_method

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in GRANT_TYPES or (grant_type == JWT_BEARER and self.row.secret_hash is not None)


class ServiceClient(Application):
    """The service's own confidential client: it may introspect, and use no grant."""

    def __init__(self) -> None:
        super().__init__(
            Client(
                client_id=settings().service_client_id,
                kind="service",
                name="Award Travel services",
                auth_method="client_secret_basic",
                redirect_uris=[],
            )
        )

    def check_client_secret(self, client_secret: str) -> bool:
        return is_one_of(client_secret, settings().service_client_secret.get_secret_value())

    def check_response_type(self, response_type: str) -> bool:  # noqa: ARG002
        return False

    def check_grant_type(self, grant_type: str) -> bool:  # noqa: ARG002
        return False


def find_client(db: Session, client_id: str) -> Application | None:
    """Finds a client; None for one that is unknown or disabled."""
    if not client_id or len(client_id) > MAX_CLIENT_ID_CHARACTERS:
        return None
    if client_id == settings().service_client_id:
        return ServiceClient()
    row = db.get(Client, client_id)
    return Application(row) if row is not None and row.disabled_at is None else None


def lock_client(db: Session, client_id: str) -> Client | None:
    """The stored client, disabled or not, locked until the transaction ends."""
    return db.get(Client, client_id, with_for_update=True)


def suspend_client(uow: UnitOfWork, client: Client) -> None:
    """Suspends a client: no one can authorize it and its tokens do not work until it is restored."""
    client.disabled_at = clock.now()
    uow.events.append({"client": client.client_id})


def restore_client(uow: UnitOfWork, client: Client) -> None:
    client.disabled_at = None
    uow.events.append({"client": client.client_id})


def delete_client(uow: UnitOfWork, client: Client) -> None:
    """Deletes the application with all its authorizations."""
    active = (Family.client_id == client.client_id, Family.revoked_at.is_(None))
    uow.events += [{"family": family_id} for family_id in uow.db.scalars(select(Family.id).where(*active))]
    uow.db.delete(client)
    uow.db.flush()
