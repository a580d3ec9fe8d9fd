"""The people of the tests: Alice owns things, Bob shares a plan, Charlie is a stranger, Ada is an admin."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from mcp_server.toolkit.context import Caller
from shared.db.accounts import Account
from shared.db.base import engine, transaction
from shared.domain.plans import Plan


@dataclass(frozen=True)
class People:
    alice: Caller  # premium
    bob: Caller  # free
    charlie: Caller  # premium, a stranger to Alice
    paula: Caller  # pro
    ada: Caller  # free plan, admin


def account(name: str, plan: Plan = Plan.FREE, *, admin: bool = False, **more: Any) -> Caller:
    """A stored account, as the bearer check would present it."""
    row = Account(**_values(name, plan, admin), **more)
    with transaction() as session:
        session.add(row)
        session.flush()
        return _caller(row.id, name, plan, admin)


def _values(name: str, plan: Plan, admin: bool) -> dict[str, Any]:
    return {"public_id": f"acc_{name}", "email": f"{name}@example.test", "plan": plan.slug, "is_admin": admin}


def _caller(account_id: int, name: str, plan: Plan, admin: bool) -> Caller:
    return Caller(account_id, f"acc_{name}", plan, admin, "client-of-tests", "Tests")


EVERYBODY = {
    "alice": (Plan.PREMIUM, False),
    "bob": (Plan.FREE, False),
    "charlie": (Plan.PREMIUM, False),
    "paula": (Plan.PRO, False),
    "ada": (Plan.FREE, True),
}
_TABLE = sa.inspect(Account).local_table
_INSERT = sa.insert(_TABLE).values([_values(name, *kind) for name, kind in EVERYBODY.items()]).returning(_TABLE.c.id)


def everybody() -> People:
    """All of them in one statement: thousands of tests begin with it."""
    with engine().begin() as connection:
        ids = sorted(connection.scalars(_INSERT))
    return People(**{name: _caller(i, name, *kind) for i, (name, kind) in zip(ids, EVERYBODY.items(), strict=True)})
