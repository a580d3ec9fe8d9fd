"""The token vault: clients, sessions, consents, codes, tokens. Hashes only; imported only by the auth server."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, Numbered, stamp, statements
from shared.db.outages import run_again


class WebSession(Base):
    """A browser session, keyed by the hash of its cookie; account_id is None before sign-in."""

    __tablename__ = "web_sessions"

    id_hash: Mapped[str] = mapped_column(primary_key=True)
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    csrf_key: Mapped[str]
    authenticated_at: Mapped[datetime | None]
    browser: Mapped[str | None]  # "Firefox on Linux", for the list of sessions
    created_at: Mapped[stamp]
    last_used_at: Mapped[stamp]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class Client(Base):
    """An application: registered by itself (dcr), described by a document (cimd), made by a person (manual) or ours."""

    __tablename__ = "oauth_clients"
    __table_args__ = (sa.CheckConstraint("kind in ('dcr', 'cimd', 'manual', 'service')", name="kind"),)

    client_id: Mapped[str] = mapped_column(sa.String(512), primary_key=True)
    kind: Mapped[str]
    secret_hash: Mapped[str | None]
    name: Mapped[str]
    auth_method: Mapped[str]
    redirect_uris: Mapped[list[str]]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    fingerprint: Mapped[str | None] = mapped_column(index=True)  # of a registration body, for identical retries
    fresh_until: Mapped[datetime | None]  # of a document's snapshot: read again after this moment
    disabled_at: Mapped[datetime | None]
    created_at: Mapped[stamp]


class Consent(AccountOwned, Numbered):
    """A remembered permission of one account for one client at one redirect host, with what the person chose."""

    __tablename__ = "oauth_consents"
    __table_args__ = (UniqueConstraint("account_id", "client_id"),)

    client_id: Mapped[str] = mapped_column(ForeignKey("oauth_clients.client_id", ondelete="CASCADE"), index=True)
    redirect_host: Mapped[str]
    address: Mapped[str] = mapped_column(server_default="/mcp")  # the path asked for, of `shared.domain.mcp_addresses`
    read_only: Mapped[bool] = mapped_column(server_default=sa.false())
    administer: Mapped[bool] = mapped_column(server_default=sa.false())
    granted_at: Mapped[stamp]


ENDED_BY_PERSON = ("disconnected_by_person", "ended_by_person")  # reasons


class Family(AccountOwned, Base):
    """One authorization: every token descended from one code. Revoking it kills them all."""

    __tablename__ = "oauth_families"

    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("oauth_clients.client_id", ondelete="CASCADE"), index=True)
    created_at: Mapped[stamp]
    revoked_at: Mapped[datetime | None]
    reason: Mapped[str | None]
    issuer: Mapped[str | None]  # the enterprise whose assertions give its tokens; None: allowed by the person
    read_only: Mapped[bool] = mapped_column(server_default=sa.false())  # its tokens are read-only
    administer: Mapped[bool] = mapped_column(server_default=sa.false())  # an administrator allowed admin_* tools


class AuthorizationCode(Base):
    """A code, kept after it was spent so that a second presentation is recognised."""

    __tablename__ = "oauth_codes"

    code_hash: Mapped[str] = mapped_column(primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    client_id: Mapped[str]
    redirect_uri: Mapped[str]
    scope: Mapped[str]
    resource: Mapped[str]
    code_challenge: Mapped[str]
    nonce: Mapped[str | None]
    authenticated_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]

    def get_redirect_uri(self) -> str:
        """Called by authlib, like the other methods of this module."""
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


class _Token:
    client_id: Mapped[str]
    scope: Mapped[str]

    def check_client(self, client: Any) -> bool:
        return bool(self.client_id == client.get_client_id())

    def get_scope(self) -> str:
        return self.scope


class AccessToken(_Token, Base):
    __tablename__ = "oauth_access_tokens"

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    client_id: Mapped[str]
    scope: Mapped[str]
    resource: Mapped[str]
    issued_at: Mapped[stamp]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    revoked_at: Mapped[datetime | None]
    read_only: Mapped[bool] = mapped_column(server_default=sa.false())  # of a standing order's run


class ApiKey(AccountOwned, Numbered):
    """A key for REST and the command line. While `claim_hash` is set, the account is an unclaimed agent's."""

    __tablename__ = "api_keys"

    key_hash: Mapped[str] = mapped_column(unique=True)
    ending: Mapped[str]  # its last characters, to tell keys apart
    name: Mapped[str]
    claim_hash: Mapped[str | None] = mapped_column(unique=True)
    administer: Mapped[bool] = mapped_column(server_default=sa.false())  # an administrator made it for admin_* tools
    created_at: Mapped[stamp]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class SigningKey(Base):
    """A key identity tokens are signed with: published before `active_at`, used from then until the next one's turn."""

    __tablename__ = "signing_keys"

    kid: Mapped[str] = mapped_column(primary_key=True)
    public: Mapped[dict[str, Any]]
    private_sealed: Mapped[str]
    created_at: Mapped[stamp]
    active_at: Mapped[datetime] = mapped_column(index=True)


class RefreshToken(_Token, Base):
    """A refresh token; once rotated, its successor is sealed with the token itself for an hour."""

    __tablename__ = "oauth_refresh_tokens"

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    client_id: Mapped[str]
    scope: Mapped[str]
    resource: Mapped[str]
    issued_at: Mapped[stamp]
    rotated_at: Mapped[datetime | None] = mapped_column(index=True)
    retries: Mapped[int] = mapped_column(server_default="0")  # within the window; 1,000 when it was shown later
    successor_sealed: Mapped[str | None]
    revoked_at: Mapped[datetime | None]


def service_client(session: Session, client_id: str, name: str) -> str:
    """The client row of our own programs' tokens, made on first use; no one can authenticate as it."""
    row = {"client_id": client_id, "kind": "service", "name": name, "auth_method": "internal", "redirect_uris": []}
    session.execute(insert(Client).values(**row).on_conflict_do_nothing())
    return client_id


def remember_document(session: Session, client_id: str, name: str, uris: list[str], fresh_until: datetime) -> None:
    """Stores a client's document; concurrent programs do not conflict. A disabled client stays disabled."""
    values = {"name": name, "redirect_uris": uris, "fresh_until": fresh_until}
    row = insert(Client).values(client_id=client_id, kind="cimd", auth_method="none", **values)
    ours = row.on_conflict_do_update(index_elements=["client_id"], set_=values, where=Client.kind == "cimd")
    session.execute(ours)


def remember_consent(session: Session, account_id: int, client_id: str, **terms: Any) -> None:
    """Stores what a person allowed, by column; pressing the button twice allows once."""
    row = insert(Consent).values(account_id=account_id, client_id=client_id, **terms)
    session.execute(row.on_conflict_do_update(index_elements=["account_id", "client_id"], set_=terms))


_STORE_TOKENS = sa.text(
    """
    with rotated as (
      update oauth_refresh_tokens set rotated_at = :now, successor_sealed = :sealed where token_hash = :old
    ), access as (
      insert into oauth_access_tokens (token_hash, family_id, client_id, scope, resource, issued_at, expires_at)
      values (:access, :family_id, :client_id, :scope, :resource, :now, :expires)
    )
    insert into oauth_refresh_tokens (token_hash, family_id, client_id, scope, resource, issued_at)
    values (:refresh, :family_id, :client_id, :scope, :resource, :now)
    """
)


def store_tokens(session: Session, **row: Any) -> None:
    """An access token, its refresh token, and the end of the old one (`old`, None for a code), in one statement."""
    session.execute(_STORE_TOKENS, row)


_LIVE = sa.text(
    """
    select t.client_id, c.name, a.public_id, t.scope, t.resource, t.issued_at, t.expires_at, t.family_id,
      t.read_only or f.read_only as read_only, f.administer
    from oauth_access_tokens t
    join oauth_families f on f.id = t.family_id
    join accounts a on a.id = f.account_id
    join oauth_clients c on c.client_id = t.client_id
    where t.token_hash = :hash and t.expires_at > :now and t.revoked_at is null
      and f.revoked_at is null and a.disabled_at is null and c.disabled_at is null
    """
)


def find_live_token(token_hash: str, now: datetime) -> sa.Row[Any] | None:
    """The facts of an access token for introspection, if it is valid now."""
    return _execute_alone(_LIVE, hash=token_hash, now=now)


_LIVE_SESSION = sa.text(
    """
    select a.public_id from web_sessions s join accounts a on a.id = s.owner_id
    where s.id_hash = :hash and s.authenticated_at is not null
      and s.expires_at > :now and s.last_used_at > :idle_since and a.disabled_at is null
    """
)


def find_live_session(session_hash: str, now: datetime, idle_since: datetime) -> str | None:
    """The public id of the account of a browser session; None if it has ended."""
    row = _execute_alone(_LIVE_SESSION, hash=session_hash, now=now, idle_since=idle_since)
    return row.public_id if row else None


def _execute_alone(statement: sa.TextClause, **params: Any) -> sa.Row[Any] | None:
    """Returns the one row; runs without a transaction, and is retried after a lost connection."""

    def execute() -> sa.Row[Any] | None:
        with statements().connect() as connection:
            return connection.execute(statement, params).one_or_none()

    return run_again(execute)
