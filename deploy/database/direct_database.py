"""The database past any pooler: its address in the environment, and updates of its tables."""

from deploy.errors import CommandError
from shared.db.pooling import store_guards
from shared.db.schema import upgrade
from shared.variables import read_variable


def read_direct_url() -> str:
    """The direct address: session settings and locks would stay in a pooler's connections."""
    if direct := read_variable("DATABASE_DIRECT_URL"):
        return direct
    if _lends_for_transactions():
        raise CommandError("DATABASE_POOLING=transaction needs DATABASE_DIRECT_URL, the address of PostgreSQL itself.")
    return read_variable("DATABASE_URL")


def update_tables(url: str) -> None:
    """Updates the tables, also for programs behind a pooler, where the role's timeouts apply."""
    upgrade(url)
    if _lends_for_transactions():
        store_guards(url)


def _lends_for_transactions() -> bool:
    return read_variable("DATABASE_POOLING") == "transaction"
