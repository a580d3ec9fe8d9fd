"""Accounts, and what the service remembers about itself (its data mode)."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Index, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, Session, mapped_column, synonym

from shared import clock
from shared.db.base import AccountOwned, Base, Numbered, stamp
from shared.db.pagination import page_of


class Account(AccountOwned, Numbered):
    """A person (or an agent) with points. Its own id is what the own-rows guard compares."""

    __tablename__ = "accounts"
    __table_args__ = (
        Index("uq_accounts_email_lower", func.lower(sa.literal_column("email")), unique=True),
        sa.CheckConstraint("plan in ('free', 'premium', 'pro', 'enterprise')", name="plan"),
    )

    account_id: Mapped[int] = synonym("id")
    public_id: Mapped[str] = mapped_column(unique=True)  # the random subject in tokens
    email: Mapped[str | None]  # None for an agent that no one has claimed
    password_hash: Mapped[str | None]
    email_confirmed_at: Mapped[datetime | None]
    plan: Mapped[str] = mapped_column(server_default="free")
    is_admin: Mapped[bool] = mapped_column(server_default=sa.false())
    disabled_at: Mapped[datetime | None]
    api_calls_per_month: Mapped[int | None]  # an agreed number; None = the plan's
    inbox_trial_ends_on: Mapped[datetime | None]
    letter_read_at: Mapped[datetime | None]  # the last one; the account served longest ago comes first
    letters_wait_until: Mapped[datetime | None]  # after a slow one, until then read after all others'
    written_to_at: Mapped[datetime | None]  # the last message was taken to be sent; served longest ago comes first
    created_at: Mapped[stamp]
    last_seen_at: Mapped[datetime | None]

    @hybrid_property
    def has_person(self) -> bool:
        """False for an agent that no one has claimed: it has no pages, and nothing stores files or mail for it.

        Anyone may register agents, and mail sent to one would be read and stored at length.
        """
        return self.email is not None

    @has_person.inplace.expression
    @classmethod
    def _has_person(cls) -> sa.ColumnElement[bool]:
        return cls.email.is_not(None)


class ServiceFact(Base):
    """One remembered fact about this installation, such as the data mode its rows were written in."""

    __tablename__ = "service_facts"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
    set_at: Mapped[stamp]


def store_fact(session: Session, name: str, value: str = "") -> None:
    """Stores it with the moment, in place of an earlier one."""
    row = insert(ServiceFact).values(name=name, value=value, set_at=clock.now())
    newest = {"value": row.excluded.value, "set_at": row.excluded.set_at}
    session.execute(row.on_conflict_do_update(index_elements=["name"], set_=newest))


# As text: building, guarding and compiling a select of one column takes 0.15 ms more.
_LOCK = sa.text("SELECT FROM accounts WHERE id = :account FOR NO KEY UPDATE")


def lock(session: Session, account_id: int) -> None:
    """Makes calls of one account wait for each other if they count before they write; its rows stay readable."""
    session.execute(_LOCK, {"account": account_id})


def is_suspended(session: Session, account_id: int) -> bool:
    return bool(session.scalar(sa.select(Account.disabled_at.is_not(None)).where(Account.id == account_id)))


def page_of_accounts(session: Session, email_part: str | None, page: int, per_page: int) -> tuple[list[Account], int]:
    """Accounts by age, and how many there are; needs a session that sees everyone."""
    fits = Account.email.icontains(email_part, autoescape=True) if email_part else sa.true()
    return page_of(session, Account, [fits], Account.id, page=page, per_page=per_page)


# No call of either is stored in the meantime.
_LOCK_BOTH = sa.text("SELECT FROM accounts WHERE id = ANY(:accounts) ORDER BY id FOR UPDATE")
_END_WITH_THE_ACCOUNT = ("secret_links", "branded_pdfs")  # their secrets depend on the account


def absorb(session: Session, agent_id: int, person_id: int) -> None:
    """Moves every row of the first account to the second, and deletes the first.

    Where both have a row with the same unique key the person's stays. Usage adds up, so that a claim is no way
    around a limit. Links of the first account end. Works on all registered tables, so all must be registered.
    """
    session.execute(_LOCK_BOTH, {"accounts": [agent_id, person_id]})
    for table in Base.metadata.sorted_tables:
        if table.name in _END_WITH_THE_ACCOUNT:
            continue
        for column in table.columns:
            if any(key.column is Account.__table__.c.id for key in column.foreign_keys):
                session.execute(_build_move(table, column, agent_id, person_id))
    session.execute(sa.delete(Account).where(Account.id == agent_id))


def _build_move(table: sa.Table, owner: sa.Column[Any], agent_id: int, person_id: int) -> Any:
    if table.name == "usage_counters":
        used = sa.select(sa.literal(person_id), table.c.meter, table.c.period, table.c.used)
        counters = insert(table).from_select(
            ["account_id", "meter", "period", "used"], used.where(table.c.account_id == agent_id)
        )
        return counters.on_conflict_do_update(
            index_elements=["account_id", "meter", "period"], set_={"used": table.c.used + counters.excluded.used}
        )
    theirs = table.alias()
    keys = [c for c in table.constraints if isinstance(c, sa.UniqueConstraint | sa.PrimaryKeyConstraint)]
    taken = [
        sa.exists().where(*(theirs.c[c.name] == (person_id if c is owner else c) for c in key.columns))
        for key in keys
        if owner.name in key.columns
    ]
    return sa.update(table).where(owner == agent_id, *(~t for t in taken)).values({owner.name: person_id})
