"""How connections are opened: with their own timeouts, or through a pooler that lends one for each transaction."""

from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from shared.settings import settings

APPLICATION = "award-travel"
GUARDS = {
    "statement_timeout": "15000",
    "idle_in_transaction_session_timeout": "30000",
    "lock_timeout": "5000",
    "TimeZone": "UTC",
}
# For a host that vanishes silently: without these a connect waits 130 seconds, and a call as long as TCP does.
NETWORK: dict[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 20_000,  # milliseconds in which sent data must be acknowledged
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
NO_TIMEOUTS = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0"  # set when connecting


def build_connect_args(**parameters: str) -> dict[str, Any]:
    """Keywords of psycopg for connections with these parameters of PostgreSQL. Settings in the address itself win.

    A pooler gives each transaction any server connection: what one set, or prepared, may be gone in the next, and
    PgBouncer refuses `options` at the start. There the guards are defaults of the role (`store_guards`), and no
    statement is prepared; each is then planned again, with current statistics.
    """
    named = make_url(settings().database_url).query
    network = {name: value for name, value in NETWORK.items() if name not in named}
    if settings().database_pooling == "transaction":
        return {"application_name": APPLICATION, "prepare_threshold": None} | network
    options = " ".join(f"-c {name}={value}" for name, value in parameters.items())
    return {"application_name": APPLICATION, "options": options} | network


def store_guards(url: str) -> None:
    """Makes the guards the defaults of this role in this database, for connections opened from now on.

    Every role may do this for itself. Migrations and backups switch the timeouts off in their sessions.
    """
    with psycopg.connect(url.replace("+psycopg", "", 1), autocommit=True) as connection:
        target = sql.Identifier(connection.info.user), sql.Identifier(connection.info.dbname)
        for name, value in GUARDS.items():
            connection.execute(
                sql.SQL("alter role {} in database {} set {} = {}").format(
                    *target, sql.Identifier(name), sql.Literal(value)
                )
            )
