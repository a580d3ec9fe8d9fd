"""Short-lived access tokens for the service's own programs, each for one task of one account."""

from datetime import timedelta

from auth_server.oauth import tokens
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Family, service_client
from shared.secrets import digest, mint
from shared.settings import SCOPE, settings


def issue(
    uow: UnitOfWork, account: Account, program: tuple[str, str], family_id: str, life: timedelta, *, read_only: bool
) -> str:
    """The only token of its family, without a refresh token next to it; `program` is its client's id and name."""
    client_id, now = service_client(uow.db, *program), clock.now()
    uow.db.add(Family(id=family_id, account_id=account.id, client_id=client_id, created_at=now))
    uow.db.flush()
    token = mint(tokens.ACCESS)
    uow.db.add(
        AccessToken(
            token_hash=digest(token),
            family_id=family_id,
            client_id=client_id,
            scope=SCOPE,
            resource=settings().mcp_url,
            issued_at=now,
            expires_at=now + life,
            read_only=read_only,
        )
    )
    return token
