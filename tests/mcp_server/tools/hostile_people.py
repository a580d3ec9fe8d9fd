"""Accounts side by side, each with rows that only it may see: what is looked for after hostile calls of the others."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

from mcp_server.toolkit.context import Caller
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.mcp_server.tools.hostile_arguments import HostileCalls
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.mcp_server.tools.test_isolation import everything_of
from tests.support.people import account

Ids = dict[str, list[Any]]
SETS = 3  # rows of each kind


@dataclass
class Owner:
    """An account, words that stand in its rows and nowhere else, and parameter name -> ids of its rows."""

    caller: Caller
    words: list[str]
    ids: Ids

    def find_in(self, text: str) -> list[str]:
        return [word for word in self.words if word in text]


def add_owner(name: str, number: int) -> Owner:
    """Stores an account of the widest plan with rows of every kind."""
    caller = account(name, Plan.PRO)
    secret, points = f"only-of-{name}-", 7_000_000_001 + number
    sets = [rows_of_every_kind(n, secret, points) for n in range(SETS)]
    with transaction(caller.account_id) as session:
        store_rows(session, *sets)
        ids = {key: [_read_id(key, rows[key]) for rows in sets] for key in sets[0]}
    return Owner(caller, [secret, str(points), caller.public_id, f"{name}@example.test"], ids)


def _read_id(name: str, row: Any) -> Any:
    value = row.program if name == "program" else row.id
    value = str(value) if isinstance(value, UUID) else value
    return [value] if name.endswith("_ids") else value


def prepare_calls(random: Random, owner: Owner, *others: Owner) -> HostileCalls:
    foreign = {name: [id for other in others for id in other.ids[name]] for name in owner.ids}
    return HostileCalls(random, owner.ids, foreign)


def describe_call(name: str, arguments: dict[str, Any], outcome: str) -> str:
    return f"{name} {json.dumps(arguments)[:2000]}: {outcome}"


def list_rows_with_foreign_words(owner: Owner, *others: Owner) -> list[str]:
    rows = str(everything_of(owner.caller))
    return [word for other in others for word in other.find_in(rows)]
