"""Authorizations of an account: each is one consent to an application, with its tokens."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import AccessToken, Client, Consent, Family, RefreshToken

MAX_LISTED = 25  # together with an account's keys they fit into one form
NEW_FOR = timedelta(days=1)  # a person who signs out everywhere may end only those that could be a thief's
UNUSED_AFTER = timedelta(days=365)  # refresh tokens never expire, so a person sees which ones are unused


@dataclass(frozen=True)
class Authorization:
    """One sign-in of an application, not the application: a thief may use the same one as the owner."""

    id: str
    name: str
    host: str | None
    created_at: datetime
    last_used_at: datetime  # a running application asks for a new token every hour
    read_only: bool = False
    administers: bool = False

    @property
    def is_unused(self) -> bool:
        return is_unused(self.last_used_at)

    @property
    def is_new(self) -> bool:
        return self.created_at >= clock.now() - NEW_FOR


def is_unused(last_used_at: datetime) -> bool:
    """Whether it was not used for a year."""
    return clock.now() - last_used_at > UNUSED_AFTER


def list_active(db: Session, account_id: int) -> list[Authorization]:
    """The authorizations whose tokens work, last used first; at most MAX_LISTED."""
    usable = (RefreshToken.rotated_at.is_(None), RefreshToken.revoked_at.is_(None))
    newest_token = select(func.max(AccessToken.issued_at)).where(AccessToken.family_id == Family.id).scalar_subquery()
    last_used = func.coalesce(func.max(RefreshToken.issued_at), newest_token, Family.created_at)
    # Clients with assertions of an enterprise get no refresh token.
    has_tokens = or_(RefreshToken.token_hash.is_not(None), Family.issuer.is_not(None))
    rights = (Family.read_only, Family.administer)
    consent = and_(Consent.client_id == Family.client_id, Consent.account_id == account_id)
    query = (
        select(Family.id, Client.name, func.max(Consent.redirect_host), Family.created_at, last_used, *rights)
        .join(Client, Client.client_id == Family.client_id)
        .outerjoin(RefreshToken, and_(RefreshToken.family_id == Family.id, *usable))
        .outerjoin(Consent, consent)
        .where(Family.account_id == account_id, Family.revoked_at.is_(None))
        .where(has_tokens)
        .group_by(Family.id, Client.name, Family.created_at, *rights)
        .order_by(last_used.desc(), Family.id)
        .limit(MAX_LISTED)
    )
    return [Authorization(*row) for row in db.execute(query)]


def find_client_id(db: Session, family_id: str) -> str:
    return db.get_one(Family, family_id).client_id


def end_one(uow: UnitOfWork, account: Account, family_id: str) -> bool:
    """Ends its tokens at once; False when the account has no such active authorization."""
    active = (Family.id == family_id, Family.account_id == account.id, Family.revoked_at.is_(None))
    if uow.db.scalar(select(Family.id).where(*active)) is None:
        return False
    uow.revoke_family(family_id, "ended_by_person")
    return True
