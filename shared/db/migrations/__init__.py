"""Alembic migrations, run in process by `upgrade` under an advisory lock; every model is imported here."""

from shared.db import (  # noqa: F401 - importing registers the tables
    accounts,
    balances,
    cards,
    links,
    messages,
    oauth,
    observations,
    overrides,
    profile,
    runs,
    statuses,
    trips,
    usage,
    watches,
)
