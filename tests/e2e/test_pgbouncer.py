"""The whole service behind PgBouncer in transaction mode: no session of PostgreSQL is anybody's own."""

import email
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.policy import default
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from redis import Redis

from tests.e2e.test_sign_up import fill, mailed
from tests.support.oauth_browser import get, post, tokens
from tests.support.pgbouncer import CONNECTIONS, pgbouncer, reconnect
from tests.support.service import PASSWORD, Service, command, folder_for_homes, start, stop, wait_for

pytestmark = [pytest.mark.pgbouncer, pytest.mark.slow]  # starts its own service
TOOLS = 40
FAULTS = {"internal_error", "temporarily_unavailable"}


@pytest.fixture
def pooled(fresh_database: str) -> Iterator[Service]:
    with pgbouncer(fresh_database) as url, folder_for_homes() as folder:
        service = start(folder, DATABASE_URL=url, DATABASE_POOLING="transaction", DATABASE_DIRECT_URL=fresh_database)
        reconnect(url)  # one was opened before the role had its timeouts
        try:
            yield service
        finally:
            stop(service)


class Client:
    """One signed-in person's application."""

    def __init__(self, service: Service, email: str) -> None:
        self.url, self.used = service.mcp_url, set[str]()
        self.headers = {"Authorization": f"Bearer {tokens(service.mcp_url, email, PASSWORD)['access_token']}"}

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = post(self.url, json=body, headers=self.headers)
        assert reply.status_code == 200, reply.text
        return dict(reply.json()["result"])

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", name=name, arguments=arguments)
        assert answer["structuredContent"]["status"] not in FAULTS, answer
        self.used.add(name)
        return dict(answer["structuredContent"])

    def list_readers(self) -> list[str]:
        """Tools that change nothing and need no argument."""
        tools = self.ask("tools/list")["tools"]
        plain = [tool["name"] for tool in tools if not tool["inputSchema"].get("required")]
        reads = {tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]}
        return [name for name in plain if name in reads and not name.startswith("admin_")]


def _use_tools(client: Client, day: str) -> int:
    """Writes some of each, a seat watch among them, then reads all there is: the number of tools."""
    trip = client.call("create_trip", name="Lisbon", start_date=day, end_date=day)["trip"]["trip_id"]
    client.call("update_trip", trip_id=trip, name="Lisbon in spring")
    client.call("update_points_balance", program="accor-live-limitless", balance=40_000)
    window = {"earliest_date": day, "latest_date": day}
    client.call("create_route_monitor", origin="LHR", destination="JFK", cabin="business", airlines=["BA"], **window)
    for name in client.list_readers():
        client.call(name)
    assert client.call("list_trips")["trips"][0]["name"] == "Lisbon in spring"
    return len(client.used)


def _count_mails(service: Service, to: str, day: str) -> int:
    files = Path(service.facts["outbox_dir"]).glob("*.eml")
    mails = (email.message_from_bytes(file.read_bytes(), policy=default) for file in files)
    return sum(mail["To"] == to and "LHR" in str(mail["Subject"]) for mail in mails)


def _read_timeouts(url: str, number: int) -> set[str]:
    """Of so many server connections at once, each held by a transaction."""
    with ExitStack() as stack:
        held = [stack.enter_context(psycopg.connect(url, prepare_threshold=None)) for _ in range(number)]
        return {str(row[0]) for one in held if (row := one.execute("show statement_timeout").fetchone())}


def test_people_tools_watches_and_mails_work_on_connections_lent_for_a_transaction(
    pooled: Service, fresh_database: str, tmp_path: Path
) -> None:
    with httpx.Client(follow_redirects=True, timeout=90) as browser:
        page = fill(browser, f"{pooled.web_url}/signup", email="new@example.test", password=PASSWORD)
        assert "Check your mail" in page.text
        inside = fill(browser, mailed(pooled, "new@example.test"), password=PASSWORD)
        assert "new@example.test" in inside.text
    people = [pooled.person(name, "pro") for name in ("ann", "ben")]
    day = str(datetime.now(UTC).date() + timedelta(days=60))
    with Redis.from_url(pooled.facts["redis_url"]) as redis:
        redis.hset("award:sandbox:overrides", f"LHR-JFK|{day}|business", "open:2")
    clients = [Client(pooled, person) for person in people]
    with ThreadPoolExecutor(2) as threads:
        assert min(threads.map(lambda client: _use_tools(client, day), clients)) >= TOOLS
    wait_for("a mail to each", lambda: all(_count_mails(pooled, person, day) for person in people))

    backup = tmp_path / "backup"
    command(pooled.home, "backup", str(backup))  # pg_dump empties the search path of its session
    token = {"Authorization": f"Bearer {pooled.facts['metrics_token']}"}
    metrics = get(pooled.facts["metrics_url"], headers=token).text
    assert "award_database_up 1.0" in metrics  # with its own shorter timeout
    assert _read_timeouts(pooled.facts["database_url"], CONNECTIONS - 1) == {"15s"}
    for client in clients:
        assert client.call("list_trips")["trips"]
    with psycopg.connect(fresh_database) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone()
    assert row is not None
    assert 0 < row[0] <= CONNECTIONS
    logs = pooled.words + "".join(file.read_text("utf-8") for file in (pooled.home / "logs").glob("*.log"))
    assert [line for line in logs.splitlines() if "Traceback" in line or "prepared statement" in line] == []
