"""Rows the service writes about itself, in any number: calls, runs, checks, messages, and prices seen of other routes.

The person of the bench keeps the same few among them, whatever the number.
"""

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.call_figures import FIGURES, list_keys, select_counts
from shared.db.partitions import list_partitioned, make_partitions
from shared.domain.call_times import STEPS

OWN = 50  # of each kind are the person's, or of the one route that is asked for
# `n` counts from 1; the person's come first, spread over the same two weeks. The crowd's accounts begin at `:first`.
_PART = "n / cast(case when n <= :own then :own else :rows end as double precision)"
_AT = f"now() - make_interval(secs => 13 * 86400 * (1 - {_PART}))"
_CROWD = ":first + n % :accounts"
_ACCOUNT = f"case when n <= :own then :like else {_CROWD} end"
_MONITOR = f"case when n <= :own then (select min(id) from route_monitors) else {_CROWD} end"
_LETTERS = "chr(65 + n % 26) || chr(65 + n / 26 % 26)"
_CALL = {
    "account_id": _ACCOUNT,
    "client": "'Bench ' || n % 5",
    "via": "'mcp'",
    "tool": "'tool_' || n % 142",
    "outcome": "case n % 20 when 0 then 'invalid' else 'ok' end",
    "milliseconds": "n % 997",
    "at": _AT,
}
_RUN = {
    "schedule_id": _CROWD,
    "due_at": "now() - make_interval(secs => n)",
    "status": "'done'",
    "finished_at": _AT,
    "wake_at": _AT,
}
_CHECK = {
    "monitor_id": _MONITOR,
    "run_id": "n",
    "checked_at": _AT,
    "outcome": "'ok'",
    "options_seen": "3",
    "new_matches": "0",
    "failed_sources": "'{}'",
    "synthetic": "true",
}
_MESSAGE = {
    "account_id": _ACCOUNT,
    "dedupe_key": "'bench ' || n",
    "channel": "'email'",
    "recipient": "'a@c.test'",
    "event": "'deadlines'",
    "facts": "'{}'",
    "status": "'sent'",
    "created_at": _AT,
    "wake_at": _AT,
    "synthetic": "true",
}
_WAY = {
    "source": "'sandbox'",
    # Of the crowd: airports that do not exist, so that no one asks for them.
    "origin": f"case when n <= :own then 'LHR' else 'Q' || {_LETTERS} end",
    "destination": f"case when n <= :own then 'JFK' else 'X' || {_LETTERS} end",
    "date": "current_date + n % 300",
    "cabin": "'business'",
    "seen_at": _AT,
    "synthetic": "true",
}
_OFFER = {"airline": "'BA'", "program": "'british-airways-club'", "points": "50000", "taxes": "300", "seats": "2"}
_FARE = {"passengers": "1", "price": "1800", "currency": "'USD'", "carriers": "array['BA']", "stops": "0"}
TABLES = {
    "tool_calls": _CALL,
    "job_runs": _RUN,
    "route_monitor_checks": _CHECK,
    "deliveries": _MESSAGE,
    "award_observations": _WAY | _OFFER | {"taxes_currency": "'USD'"},
    "fare_observations": _WAY | _FARE,
}


def write_service_rows(session: Session, like: int, accounts: int, rows: int) -> None:
    """So many of each kind, and the counters of calls."""
    _make_past_partitions()
    session.execute(sa.text("set local statement_timeout = 0; set local session_replication_role = replica"))
    first = session.scalar(sa.text("select max(id) + 1 from accounts"))
    values = {"rows": rows, "own": OWN, "like": like, "first": first, "accounts": accounts}
    for table, columns in TABLES.items():
        source = f"select {', '.join(columns.values())} from generate_series(1, cast(:rows as integer)) as n"
        statement = f"insert into {table} ({', '.join(columns)}) {source}"
        session.execute(sa.text(statement), {name: values[name] for name in values if f":{name}" in statement})
    counters = "select account_id, 'tool_calls', cast(timezone('UTC', at) as date) as day, count(*) from tool_calls"
    session.execute(sa.text(f"insert into usage_counters {counters} group by account_id, day on conflict do nothing"))
    session.commit()


def write_figures(session: Session) -> None:
    """The figures that are kept of calls, by day."""
    session.execute(sa.text("set local statement_timeout = 0"))
    for model in FIGURES:
        table, columns = model.__tablename__, ", ".join([*list_keys(model), "calls"])
        session.execute(sa.text(f"delete from {table}"))
        text = f"insert into {table} ({columns}) {select_counts(model, 'tool_calls')}"
        session.execute(sa.text(text), {"steps": list(STEPS)} if ":steps" in text else {})
    session.commit()


def _make_past_partitions() -> None:
    """Where the rows of two weeks belong; without them all would be in DEFAULT."""
    for table in list_partitioned():
        for days in (14, 7):
            moment = clock.now() - timedelta(days=days)
            make_partitions(table, moment, moment)
