"""An advisor's clients, and the branded documents made for them."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.accounts import Account
from shared.db.base import AccountOwned, Base, ModeOwned, Numbered, Timestamped, stamp, uid
from shared.db.pagination import count, page_of


class ClientPortfolio(Timestamped, AccountOwned, Numbered):
    __tablename__ = "client_portfolios"

    client_name: Mapped[str]
    client_email: Mapped[str | None]
    phone: Mapped[str | None]
    balances: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    preferences: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    notes: Mapped[str | None]


class BrandedPdf(AccountOwned, ModeOwned, Base):
    """A document behind an unguessable public link, whose secret is derived like a secret link's."""

    __tablename__ = "branded_pdfs"
    __table_args__ = (Index("ix_branded_pdfs_newest", "account_id", "created_at"),)

    id: Mapped[uid]
    client_portfolio_id: Mapped[int | None] = mapped_column(
        ForeignKey("client_portfolios.id", ondelete="SET NULL"), index=True
    )
    title: Mapped[str]
    content: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    pages: Mapped[int]
    nonce: Mapped[str]
    key: Mapped[str]
    secret_sealed: Mapped[str | None]
    token_hash: Mapped[str] = mapped_column(unique=True)
    views: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[stamp]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


def page_of_clients(session: Session, query: str | None, page: int, per_page: int) -> tuple[list[ClientPortfolio], int]:
    """Clients with the text in their name, address or number, by name, and how many there are."""
    row = ClientPortfolio
    columns = (row.client_name, row.client_email, row.phone)
    fits = sa.or_(*(c.icontains(query, autoescape=True) for c in columns)) if query else sa.true()
    return page_of(session, row, [fits], func.lower(row.client_name), row.id, page=page, per_page=per_page)


def page_of_pdfs(
    session: Session, client: int | None, include_revoked: bool, page: int, per_page: int
) -> tuple[list[BrandedPdf], int]:
    """Documents, newest first, without their content, and their number."""
    row = BrandedPdf
    fits = [row.client_portfolio_id == client] if client is not None else []
    if not include_revoked:
        fits.append(row.revoked_at.is_(None))
    return page_of(session, row, fits, row.created_at.desc(), row.id, page=page, per_page=per_page)


def _is_live(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(
        BrandedPdf.revoked_at.is_(None), sa.or_(BrandedPdf.expires_at.is_(None), BrandedPdf.expires_at > now)
    )


def count_live_links(session: Session, now: datetime) -> int:
    return count(session, BrandedPdf, _is_live(now))


def list_open_links(session: Session, account_id: int, now: datetime) -> list[BrandedPdf]:
    """The documents of an account that can still be opened, newest first; needs a session that sees everyone."""
    own = sa.select(BrandedPdf).where(BrandedPdf.account_id == account_id, _is_live(now))
    return list(session.scalars(own.order_by(BrandedPdf.created_at.desc(), BrandedPdf.id)))


def empty_expired(session: Session, now: datetime) -> None:
    """Deletes the content of expired documents; their rows stay as a record."""
    gone = sa.and_(BrandedPdf.expires_at <= now, func.length(BrandedPdf.content) > 0)
    session.execute(sa.update(BrandedPdf).where(gone).values(content=b""))


def revoke(session: Session, now: datetime, *, client: int) -> int:
    """Closes every open link of a client's documents; returns their number."""
    closed = (
        sa.update(BrandedPdf)
        .where(BrandedPdf.client_portfolio_id == client, BrandedPdf.revoked_at.is_(None))
        .values(revoked_at=now, content=b"")
        .returning(BrandedPdf.id)
    )
    return len(session.execute(closed).all())


def close(session: Session, account_id: int, pdf_id: UUID, now: datetime) -> None:
    """Closes a document, if it is the account's; needs a session that sees everyone."""
    own = (BrandedPdf.id == pdf_id, BrandedPdf.account_id == account_id, BrandedPdf.revoked_at.is_(None))
    session.execute(sa.update(BrandedPdf).where(*own).values(revoked_at=now, content=b""))


def find_pdf(session: Session, pdf_id: UUID) -> BrandedPdf | None:
    return session.scalars(sa.select(BrandedPdf).where(BrandedPdf.id == pdf_id).with_for_update()).one_or_none()


def open_document(session: Session, token_hash: str, now: datetime, *, counted: bool) -> tuple[str, bytes] | None:
    """Title and content behind an open link; counts the view; needs a session that sees everyone."""
    suspended = sa.exists().where(Account.id == BrandedPdf.account_id, Account.disabled_at.is_not(None))
    is_open = sa.and_(BrandedPdf.token_hash == token_hash, _is_live(now), ~suspended)
    if counted:
        view = sa.update(BrandedPdf).where(is_open).values(views=BrandedPdf.views + 1)
        row = session.execute(view.returning(BrandedPdf.title, BrandedPdf.content)).one_or_none()
    else:
        row = session.execute(sa.select(BrandedPdf.title, BrandedPdf.content).where(is_open)).one_or_none()
    return None if row is None else (row[0], row[1])
