"""Query plans with thousands of other accounts: every statement finds its rows by an index."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from auth_server.pages.account import _list_owned_tables, export_account
from mcp_server.toolkit.registry import TOOLS, Tier
from shared.db.base import engine, transaction
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.mcp_server.tools.test_isolation import record_parameters
from tests.support.bulk_accounts import crowd
from tests.support.people import People

Sent = list[tuple[str, Any]]
LARGE = 2_000  # rows from which on a table is not to be read whole
ACCOUNTS, COPIES = 4_000, 8_000


@pytest.fixture
def statements() -> Iterator[Sent]:
    """Every statement sent, with its values."""
    sent: Sent = []

    def seen(_connection: Any, _cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:
        if not many and statement.lstrip().lower().startswith(("select", "with", "update", "delete")):
            sent.append((statement, values))

    event.listen(engine(), "before_cursor_execute", seen)
    yield sent
    event.remove(engine(), "before_cursor_execute", seen)


@pytest.fixture
def amid_a_crowd(people: People) -> dict[str, Any]:
    """What Paula keeps, while four thousand others keep as much."""
    rows = rows_of_every_kind()
    with transaction(people.paula.account_id) as session:
        store_rows(session, rows)
    with Session(engine()) as session:
        crowd(session, people.paula.account_id, ACCOUNTS, {}, COPIES)
    return rows


def _sizes() -> dict[str, float]:
    """Tables by what the planner takes their number of rows for."""
    with engine().connect() as connection:
        found = connection.exec_driver_sql("select relname, reltuples from pg_class where relkind = 'r'")
        return {name: number for name, number in found if number >= LARGE}


def _scans(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """How each table is read in a plan."""
    if "Relation Name" in node:
        yield node["Relation Name"], node["Node Type"]
    for inner in node.get("Plans", []):
        yield from _scans(inner)


def _read_whole(sent: Sent, large: dict[str, float]) -> set[tuple[str, str]]:
    """Large tables of which a statement reads every row, each with the statement."""
    found = set()
    for statement, values in sent:
        with engine().connect() as connection:
            explained = connection.exec_driver_sql(f"explain (format json) {statement}", values).scalar_one()
        plan = explained if isinstance(explained, list) else json.loads(explained)
        found |= {(t, statement) for t, how in _scans(plan[0]["Plan"]) if how == "Seq Scan" and t in large}
    return found


@pytest.mark.slow  # every tool amid a crowd that is made once
def test_no_call_reads_a_large_table_whole(
    people: People, use: Use, amid_a_crowd: dict[str, Any], statements: Sent
) -> None:
    large, wrong = _sizes(), set()
    assert {"flight_bookings", "hotel_bookings", "cards", "vouchers", "lounge_visits", "trips"} <= set(large)
    for name, tool in sorted(TOOLS.items()):
        if tool.tier is Tier.ADMIN:
            continue
        named = {}
        for parameter in set(record_parameters(tool)) & set(amid_a_crowd):
            about = tool.arguments.schema["properties"][parameter]
            id = amid_a_crowd[parameter].id
            text = "string" in (about.get("type"), about.get("items", {}).get("type"))
            named[parameter] = [str(id) if text else id] if about.get("type") == "array" else str(id) if text else id
        for arguments in (sample_arguments(tool), sample_arguments(tool, **named)):
            statements.clear()
            use(people.paula, name, **arguments)
            wrong |= {(name, *found) for found in _read_whole(statements, large)}
    assert wrong == set()
    assert _read_whole([("select count(*) from flight_bookings where notes = %(a)s", {"a": "x"})], large)


def test_a_list_of_ones_own_goes_by_the_account(
    people: People, use: Use, amid_a_crowd: dict[str, Any], statements: Sent
) -> None:
    for name, table in (
        ("list_flight_bookings", "flight_bookings"),
        ("list_hotel_bookings", "hotel_bookings"),
        ("list_my_cards", "cards"),
        ("list_my_vouchers", "vouchers"),
        ("list_lounge_visits", "lounge_visits"),
    ):
        statements.clear()
        use(people.paula, name)
        shown = [s for s, _ in statements if f"FROM {table}" in s]
        assert shown
        plans = []
        for statement, values in statements:
            if statement in shown:
                with engine().connect() as connection:
                    plans.append(str(connection.exec_driver_sql(f"explain {statement}", values).scalars().all()))
        assert all("account_id" in plan and "Index" in plan for plan in plans), plans


@pytest.mark.usefixtures("amid_a_crowd")
def test_an_export_sends_one_statement_for_each_table_it_shows(people: People, statements: Sent) -> None:
    large, who = _sizes(), people.paula.account_id
    statements.clear()
    with transaction() as session:
        shown = export_account(session, who)
    assert len(statements) == len(_list_owned_tables(who)) == len(shown) - 1
    assert {table for table, _ in _read_whole(statements, large)} == set()
    assert len(shown["flight_bookings"]) == 3
