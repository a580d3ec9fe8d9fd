"""The people of the tests: Alice owns things, Bob shares a plan, Charlie is a stranger, Ada is an admin."""

from dataclasses import dataclass
from typing import Any

from mcp_server.toolkit.context import Caller
from shared.db.accounts import Account
from shared.db.base import transaction
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
    row = Account(public_id=f"acc_{name}", email=f"{name}@example.test", plan=plan.slug, is_admin=admin, **more)
    with transaction() as session:
        session.add(row)
        session.flush()
        return Caller(row.id, row.public_id, plan, admin, "client-of-tests", "Tests")


def everybody() -> People:
    return People(
        alice=account("alice", Plan.PREMIUM),
        bob=account("bob"),
        charlie=account("charlie", Plan.PREMIUM),
        paula=account("paula", Plan.PRO),
        ada=account("ada", admin=True),
    )
