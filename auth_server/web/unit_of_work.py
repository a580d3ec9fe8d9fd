"""Unit of work: the database session of one request, and the events to publish once its transaction is committed."""

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import Consent, Family


class UnitOfWork:
    """Built by `flows.transact` for one request on one worker thread; not shared."""

    def __init__(self, db: Session) -> None:
        self.db = db
        self.events: list[dict[str, str]] = []  # revoked tokens and families, for the caches of the tool servers

    def account_of(self, family_id: str) -> Account | None:
        """The account behind a live authorization; None once it is revoked or the account disabled."""
        return self.db.scalar(
            select(Account)
            .join(Family, Family.account_id == Account.id)
            .where(Family.id == family_id, Family.revoked_at.is_(None), Account.disabled_at.is_(None))
        )

    def revoke_family(self, family_id: str, reason: str) -> None:
        """Revokes every token of the family, and the consent: the person is asked again before a new one."""
        active = (Family.id == family_id, Family.revoked_at.is_(None))
        revocation = update(Family).where(*active).values(revoked_at=clock.now(), reason=reason)
        row = self.db.execute(revocation.returning(Family.account_id, Family.client_id)).one_or_none()
        if row is not None:
            consent = (Consent.account_id == row.account_id, Consent.client_id == row.client_id)
            self.db.execute(delete(Consent).where(*consent))
        self.events.append({"family": family_id})
