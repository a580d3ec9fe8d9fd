"""Short tokens of our own programs: an account, a program and an errand go in, one access token comes out."""

from datetime import timedelta

from auth_server.oauth import tokens
from auth_server.oauth.server import Server
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Family, service_client
from shared.secrets import digest, mint
from shared.settings import SCOPE, settings


def issue(
    server: Server, account: Account, program: tuple[str, str], family_id: str, life: timedelta, *, read_only: bool
) -> str:
    """The only token of its family, without a refresh token beside it; `program` is its client's id and name."""
    client_id, now = service_client(server.db, *program), clock.now()
    server.db.add(Family(id=family_id, account_id=account.id, client_id=client_id, created_at=now))
    server.db.flush()
    token = mint(tokens.ACCESS)
    server.db.add(
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
