"""What the tool server costs before it answers anybody. The bounds lie between these figures and those of before."""

import subprocess
import sys

import pytest

from tests.bench.process_costs import cpu_seconds, family, memory_mb, tool_server, unshared_mb

MOST_IMPORTS = (
    4.8  # of processor, where 1 is what loading the libraries takes: 3.3 measured, 5.5 when readers loaded the database
)
MOST_MB = 150  # 103 measured; 167 and 208 when each worker loaded everything by itself
MOST_READER_MB = 35  # 18 measured; 57 when readers loaded the database


def seconds_of_libraries() -> float:
    """What any server of the same libraries takes before its own first line: the yardstick of this machine."""
    names = "mcp.server.mcpserver, starlette.applications, uvicorn, sqlalchemy.orm, psycopg, httpx, redis, rq"
    told = f"import time, {names}; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", told], capture_output=True, check=True).stdout)


@pytest.fixture(autouse=True)
def _own_database(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", fresh_database)


def test_a_start_takes_little_of_the_processor() -> None:
    used, loaded = [], []
    for _ in range(3):
        with tool_server(1) as (pid, _url):
            used.append(cpu_seconds(pid))
        loaded.append(seconds_of_libraries())
    sys.stderr.write(f"seconds of processor: {used}, of the libraries alone {loaded}\n")
    assert min(used) <= MOST_IMPORTS * min(loaded)


def test_workers_share_what_they_have_in_common() -> None:
    with tool_server(2) as (pid, _url):
        shares = {one: memory_mb(one) for one in family(pid) - {pid}}
        own = {one: unshared_mb(one) for one in shares}
    sys.stderr.write(f"MB, a worker's share first: {sorted(shares.values(), reverse=True)}, own {own}\n")
    assert max(shares.values()) <= MOST_MB
    readers = sorted(shares.values())[:-3]  # all but two workers, and the process that loaded the release
    assert readers, "no program of readers was found"
    assert max(readers) <= MOST_READER_MB
