"""The token vault: clients, sessions, consents, codes, tokens. Hashes only; imported by the auth server alone."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, pk, stamp, statements
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


class Consent(AccountOwned, Base):
    """A remembered permission of one account for one client at one redirect host, with what the person chose."""

    __tablename__ = "oauth_consents"
    __table_args__ = (UniqueConstraint("account_id", "client_id"),)

    id: Mapped[pk]
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
    issuer: Mapped[str | None]  # the enterprise whose assertions give its tokens; None: the person allowed it
    read_only: Mapped[bool] = mapped_column(server_default=sa.false())  # its tokens change nothing
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
        """Asked by the protocol core, like the other methods of this module."""
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


class ApiKey(AccountOwned, Base):
    """A key for REST and the command line. While `claim_hash` is set, the account is an agent's no one has claimed."""

    __tablename__ = "api_keys"

    id: Mapped[pk]
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
    """A refresh token; once rotated its successor is sealed under the token itself for an hour."""

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
    """The row tokens of our own programs belong to, made when first wanted; no one can authenticate as it."""
    row = {"client_id": client_id, "kind": "service", "name": name, "auth_method": "internal", "redirect_uris": []}
    session.execute(insert(Client).values(**row).on_conflict_do_nothing())
    return client_id


def remember_document(session: Session, client_id: str, name: str, uris: list[str], fresh_until: datetime) -> None:
    """Keeps what a client's document says; two programs that read it at once do not meet. A disabled one stays so."""
    values = {"name": name, "redirect_uris": uris, "fresh_until": fresh_until}
    row = insert(Client).values(client_id=client_id, kind="cimd", auth_method="none", **values)
    ours = row.on_conflict_do_update(index_elements=["client_id"], set_=values, where=Client.kind == "cimd")
    session.execute(ours)


def remember_consent(session: Session, account_id: int, client_id: str, **terms: Any) -> None:
    """Keeps what a person allowed, by column; who presses the button twice allows once."""
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
    """An access token, its refresh token, and the end of the one it follows (`old`, None for a code): one statement."""
    session.execute(_STORE_TOKENS, row)


@dataclass(frozen=True)
class Rotation:
    """A refresh by a public client: what was presented and what shall follow it. Tokens are hashes."""

    old: str
    client_id: str
    resource: str | None  # None: whatever was authorized
    sealed: str
    access: str
    refresh: str


# Locked rows are skipped: nothing waits here, and two batches that share tokens cannot stand in each other's way.
# The coalesce keeps the index of rotated_at out of the plan: all live tokens are under its null.
_ROTATE = sa.text(
    """
    with due as (
      select asked.*, t.family_id, t.scope, t.resource as audience
      from unnest(cast(:old as text[]), cast(:client_id as text[]), cast(:resource as text[]),
        cast(:sealed as text[]), cast(:access as text[]), cast(:refresh as text[]))
        as asked (old, client_id, resource, sealed, access, refresh)
      join oauth_refresh_tokens t on t.token_hash = asked.old and t.client_id = asked.client_id
      join oauth_families f on f.id = t.family_id
      join accounts a on a.id = f.account_id
      join oauth_clients c on c.client_id = t.client_id
      where t.resource = coalesce(asked.resource, t.resource) and coalesce(t.rotated_at, t.revoked_at) is null
        and f.revoked_at is null and a.disabled_at is null and c.disabled_at is null and c.auth_method = 'none'
      for update of t skip locked for key share of f skip locked
    ), rotated as (
      update oauth_refresh_tokens t set rotated_at = :now, successor_sealed = due.sealed from due
      where t.token_hash = due.old
      returning due.*
    ), access as (
      insert into oauth_access_tokens (token_hash, family_id, client_id, scope, resource, issued_at, expires_at)
      select access, family_id, client_id, scope, audience, :now, :expires from rotated
    ), fresh as (
      insert into oauth_refresh_tokens (token_hash, family_id, client_id, scope, resource, issued_at)
      select refresh, family_id, client_id, scope, audience, :now from rotated
    )
    select refresh, scope from rotated
    """
)


def rotate(rotations: list[Rotation], now: datetime, expires: datetime) -> dict[str, str]:
    """Rotates those that are in order and leaves all others alone: the scope of each by its new refresh token.

    Run again it does nothing: by then the tokens have their successors.
    """
    names = ("old", "client_id", "resource", "sealed", "access", "refresh")
    row = dict(zip(names, map(list, zip(*map(astuple, rotations), strict=True)), strict=True))
    return {row.refresh: row.scope for row in _execute_alone(_ROTATE, **row, now=now, expires=expires)}


_LIVE = sa.text(
    """
    select t.token_hash, t.client_id, c.name, a.public_id, t.scope, t.resource, t.issued_at, t.expires_at, t.family_id,
      t.read_only or f.read_only as read_only, f.administer
    from oauth_access_tokens t
    join oauth_families f on f.id = t.family_id
    join accounts a on a.id = f.account_id
    join oauth_clients c on c.client_id = t.client_id
    where t.token_hash = any(:hashes) and t.expires_at > :now and t.revoked_at is null
      and f.revoked_at is null and a.disabled_at is null and c.disabled_at is null
    """
)


def live_tokens(hashes: list[str], now: datetime) -> dict[str, sa.Row[Any]]:
    """What introspection says about those access tokens that are good at this moment: one statement for all."""
    return {row.token_hash: row for row in _execute_alone(_LIVE, hashes=hashes, now=now)}


_LIVE_SESSIONS = sa.text(
    """
    select s.id_hash, a.public_id from web_sessions s join accounts a on a.id = s.owner_id
    where s.id_hash = any(:hashes) and s.authenticated_at is not null
      and s.expires_at > :now and s.last_used_at > :idle_since and a.disabled_at is null
    """
)


def live_sessions(hashes: list[str], now: datetime, idle_since: datetime) -> dict[str, str]:
    """The public id of who is signed in with each of these browser sessions; one that has ended is left out."""
    rows = _execute_alone(_LIVE_SESSIONS, hashes=hashes, now=now, idle_since=idle_since)
    return {row.id_hash: row.public_id for row in rows}


def _execute_alone(statement: sa.TextClause, **params: Any) -> Sequence[sa.Row[Any]]:
    """Run by itself; tried again when the database had gone away. Must bear to be run twice."""

    def execute() -> Sequence[sa.Row[Any]]:
        with statements().connect() as connection:
            return connection.execute(statement, params).all()

    return run_again(execute)
