"""The database is stopped and started again under calls: a restart loses no read, and a longer outage is told."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local.private_servers import Postgres
from shared.db.outages import PATIENCE_SECONDS
from shared.db.schema import upgrade
from tests.chaos.programs import Load, Program, Servers, serving, sign_in
from tests.support.service import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.e2e]  # starts a database and both programs
READS: list[tuple[str, dict[str, Any]]] = [
    (name, {}) for name in ("list_trips", "list_my_cards", "get_profile", "list_points_balances", "list_notifications")
]
AWAY = "the database does not answer"


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A PostgreSQL of this test's own, with the tables."""
    home = Path(tempfile.mkdtemp(prefix="award_outage_"))
    home.chmod(0o755)
    server = Postgres(home, durable=False).start()
    try:
        server.create_database()
        upgrade(server.url().replace("postgresql://", "postgresql+psycopg://"))
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def servers(database: Postgres, tmp_path: Path) -> Iterator[Servers]:
    with serving(tmp_path, database.url(), os.environ["REDIS_URL"]) as servers:
        yield servers


def _count_lines(program: Program) -> int:
    return program.words.count(AWAY)


@pytest.mark.performance  # a read waits 2 seconds for the restart, which needs a machine that does nothing else
def test_a_restart_loses_no_read_and_an_outage_is_told_by_every_door(database: Postgres, servers: Servers) -> None:
    token, web, tools = sign_in(servers, database.url()), servers.web[0], servers.tools[0]
    with Load([servers.mcp_url], token, READS) as load:
        load.settle(20)
        for _ in range(3):
            since, before = time.monotonic(), len(load.calls)
            database.stop()
            database.start()
            seconds = time.monotonic() - since
            load.settle(20)
            lost = [call.outcome for call in load.calls[before:] if call.outcome != "ok"]
            # No read waits longer than its patience; only a very busy machine takes as long to restart the database.
            assert lost == [] or seconds > PATIENCE_SECONDS / 2

        database.stop()
        refusals = load.outcomes["temporarily_unavailable"]
        wait_for("refused calls", lambda: load.outcomes["temporarily_unavailable"] >= refusals + 40)
        refused = [call for call in load.calls if call.outcome != "ok"]
        assert {call.data["retry_after"] for call in refused} == {2}
        form = {"grant_type": "refresh_token", "refresh_token": "awt_rt_x", "client_id": "unknown"}
        for path, fields in (("/oauth/token", form), ("/signin", None)):
            answer = httpx.request("POST" if fields else "GET", f"{web.url}{path}", data=fields, timeout=20)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2"), path
        assert httpx.get(f"{tools.url}/readyz").status_code == 503
        database.start()
        wait_for("answers", lambda: load.calls[-1].outcome == "ok")
        load.settle(20)
        assert {call.outcome for call in load.calls[-20:]} == {"ok"}
        assert set(load.outcomes) == {"ok", "temporarily_unavailable"}
        seconds = load.calls[-1].at - load.calls[0].at
    for program in (web, tools):
        assert "Traceback" not in program.words
        assert 1 <= _count_lines(program) <= seconds + 1
    assert _count_lines(tools) < len(refused)
