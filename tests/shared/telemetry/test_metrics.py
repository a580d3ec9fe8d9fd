"""Metrics: counted by many processes, shown as one sum at their own address, read from the database sparingly."""

import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import anyio
import httpx
import pytest
import sqlalchemy as sa
from prometheus_client import Counter, Metric, values
from prometheus_client.registry import Collector
from pydantic import SecretStr

import mcp_server.tools  # noqa: F401 - registers every tool
from auth_server.sweep import sweep
from deploy.local.private_servers import free_port
from jobs.handlers import retention
from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import transaction
from shared.db.last_backup import LastBackup, note_backup
from shared.db.metrics import collect_database
from shared.db.partitions import list_partitioned
from shared.db.service_figures import read_service_figures
from shared.services.operations.metrics import collect_queue
from shared.settings import settings
from shared.telemetry.metrics import REGISTRY
from shared.telemetry.metrics_address import BuildInfo, listening, serving_metrics
from shared.telemetry.readings import Readings
from shared.telemetry.shared_counts import SharedCounts
from tests.support.people import account

PROCESSES = """
import os, sys
from pathlib import Path
from shared.telemetry.shared_counts import count_for_parent, share_counts
from shared.telemetry.metrics import POOL_IN_USE, TOOL_CALLS, count, get_series

share_counts(Path(sys.argv[1]))
def work(job):
    if job:
        count_for_parent()
    count(TOOL_CALLS, "list_my_cards", "ok")
    get_series(POOL_IN_USE, "mcp_server", "main").inc()
    os._exit(0)
for job in (False, False, True, True, True):
    child = os.fork()
    if not child:
        work(job)
    os.waitpid(child, 0)
"""


def _show(collector: Collector) -> dict[tuple[str, ...], float]:
    """Name and values of the labels of each sample, and its value."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for metric in collector.collect()
        for sample in metric.samples
    }


def test_all_processes_of_a_program_are_one_sum_and_jobs_leave_one_file(tmp_path: Path) -> None:
    (tmp_path / "counter_1.db").write_bytes(b"of a program that ran before")
    subprocess.run([sys.executable, "-c", PROCESSES, str(tmp_path)], check=True, timeout=60)
    assert len(list(tmp_path.glob("counter_*.db"))) == 3
    shown = _show(SharedCounts(tmp_path))
    assert shown["award_tool_calls_total", "ok", "list_my_cards"] == 5
    assert [key for key in shown if key[0] == "award_database_connections_in_use"] == []


@pytest.fixture
def address() -> Iterator[str]:
    with listening("127.0.0.1", 0, BuildInfo("inbox")) as port:
        yield f"http://127.0.0.1:{port}"


def _get(url: str, token: str | None = None, method: str = "GET") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.request(method, url, headers=headers, trust_env=False)


def test_the_address_shows_metrics_at_one_path_and_to_readers_alone(address: str) -> None:
    answer = _get(f"{address}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'award_build_info{mode="sandbox",program="inbox"' in answer.text
    assert [_get(f"{address}/{path}").status_code for path in ("", "metrics/x", "healthz")] == [404] * 3
    assert _get(f"{address}/metrics", method="POST").status_code == 405


def test_a_scraper_that_asks_for_open_metrics_gets_them(address: str) -> None:
    answer = httpx.get(f"{address}/metrics", headers={"Accept": "application/openmetrics-text"}, trust_env=False)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("wrong", 401), ("right", 200)])
def test_with_a_token_set_nobody_reads_without_it(
    address: str, monkeypatch: pytest.MonkeyPatch, token: str | None, status: int
) -> None:
    monkeypatch.setitem(settings().__dict__, "metrics_token", SecretStr("right"))
    assert _get(f"{address}/metrics", token).status_code == status


@pytest.fixture
def counts_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program sets for its process is as before afterwards."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)


@pytest.mark.usefixtures("counts_apart")
def test_a_program_shows_what_it_counts_at_its_own_port(monkeypatch: pytest.MonkeyPatch) -> None:
    base = free_port()
    monkeypatch.setitem(settings().__dict__, "metrics_port", base - 4)
    with serving_metrics("inbox"):
        Counter("award_of_a_test", "of a test", ["name"], registry=None).labels("one").inc(3)
        text = _get(f"http://127.0.0.1:{base}/metrics").text
    assert 'award_of_a_test_total{name="one"} 3.0' in text
    with pytest.raises(httpx.ConnectError):
        _get(f"http://127.0.0.1:{base}/metrics")


@pytest.mark.usefixtures("counts_apart")
def test_a_port_that_is_taken_is_told_and_the_program_works_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with listening("127.0.0.1", 0) as port:
        monkeypatch.setitem(settings().__dict__, "metrics_port", port)
        with serving_metrics("auth_server"):
            assert f"metrics: 127.0.0.1:{port} cannot be listened at" in caplog.text


def test_without_a_setting_no_program_listens_or_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = values.ValueClass
    with serving_metrics("auth_server"):
        assert values.ValueClass is before


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(("name", "label"), [("list_my_cards", "list_my_cards"), ("../../etc/passwd", "unknown")])
def test_calls_are_counted_by_names_of_the_registry_alone(name: str, label: str) -> None:
    outcome = "ok" if label in TOOLS else "invalid"
    labels = {"tool": label, "outcome": outcome}
    before, tools_before = REGISTRY.get_sample_value("award_tool_calls_total", labels) or 0, _list_counted_tools()
    anyio.run(dispatch, name, {}, account("bob"), "mcp")
    assert REGISTRY.get_sample_value("award_tool_calls_total", labels) == before + 1
    assert _list_counted_tools() - tools_before <= {label}


def _list_counted_tools() -> set[str]:
    return {s.labels["tool"] for m in REGISTRY.collect() for s in m.samples if "tool" in s.labels}


def _read_metrics(readings: Readings) -> list[Metric]:
    return list(readings.collect())


def test_figures_are_read_once_however_many_ask_and_a_failure_is_shown_as_such() -> None:
    answers: list[dict[str, dict[tuple[str, ...], float]]] = [{"award_x": {(): 7.0}}]
    readings = Readings("award_x_up", {"award_x": ("x", [])}, lambda: answers.pop(), (IndexError,))
    assert [_show(readings), _show(readings)] == [{("award_x_up",): 1, ("award_x",): 7}] * 2
    readings._good_until = 0
    assert _show(readings) == {("award_x_up",): 0}


_BACKLOG = """
insert into schedules (id, kind, subject_id, every, next_due_at) overriding system value values
  (1, 'route_monitor', 1, '1 hour', now() - interval '7 minutes'), (2, 'inbound_mail', 1, '1 hour', now());
insert into job_runs (schedule_id, due_at, queue, status, claimed_until) values
  (1, now() - interval '10 minutes', 'checks', 'pending', null),
  (1, now() - interval '90 minutes', 'checks', 'pending', now() + interval '5 minutes'),
  (1, now() - interval '9 minutes', 'checks', 'running', now() - interval '2 minutes'),
  (2, now() - interval '3 minutes', 'mail', 'pending', null),
  (2, now() - interval '2 hours', 'mail', 'done', null);
insert into deliveries (account_id, synthetic, dedupe_key, channel, recipient, event, facts, status, created_at)
  select id, true, 'k' || n, 'email', 'r', 'x', '{}', case n when 1 then 'sent' else 'pending' end,
    now() - make_interval(mins => 20 * n) from accounts, generate_series(1, 2) n"""


@pytest.mark.usefixtures("clean")
def test_the_oldest_that_waits_is_told_and_what_waits_on_purpose_is_not() -> None:
    account("bob")
    with transaction() as session:
        for statement in _BACKLOG.split(";"):
            session.execute(sa.text(statement))
    figures = read_service_figures()
    assert figures.oldest_due_schedule == pytest.approx(420, abs=30)
    assert figures.oldest_due_runs == {"checks": pytest.approx(600, abs=30), "mail": pytest.approx(180, abs=30)}
    assert figures.oldest_due_delivery == pytest.approx(2400, abs=30)
    assert figures.open_runs == {
        ("route_monitor", "pending"): 2,
        ("route_monitor", "running"): 1,
        ("inbound_mail", "pending"): 1,
    }
    assert figures.open_deliveries == {("email", "pending"): 1}
    shown = _show(collect_database())
    assert shown["award_open_runs", "route_monitor", "pending"] == 2
    assert shown["award_database_up",] == 1


@pytest.mark.usefixtures("clean")
def test_backups_and_housekeeping_tell_when_they_were_last_done() -> None:
    never = _show(collect_database())
    assert never["award_backup_age_seconds",] == math.inf
    assert {never["award_sweep_age_seconds", name] for name in ("credentials", "records")} == {math.inf}
    hour = timedelta(hours=1)
    with transaction() as session:
        note_backup(session, LastBackup(clock.now(), 1, encrypted=False, uploaded=False))
        session.execute(sa.update(ServiceFact).values(set_at=ServiceFact.set_at - 5 * hour))
    assert sweep()
    retention.check(None)  # type: ignore[arg-type]
    shown = _show(collect_database())
    assert shown["award_backup_age_seconds",] == pytest.approx(5 * 3600, abs=60)
    assert shown["award_sweep_age_seconds", "credentials"] == pytest.approx(0, abs=60)
    assert shown["award_sweep_age_seconds", "records"] == pytest.approx(0, abs=60)
    assert shown["award_faulty_partitions",] == 0


@pytest.mark.usefixtures("clean")
def test_a_table_without_a_partition_for_tomorrow_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    much_later = clock.now() + timedelta(days=400)
    monkeypatch.setattr(clock, "now", lambda: much_later)
    assert _show(collect_database())["award_faulty_partitions",] == len(list_partitioned())


@pytest.mark.usefixtures("clean")
def test_the_queue_tells_of_workers_the_dispatcher_and_quotas() -> None:
    shown = _show(collect_queue())
    assert shown["award_queue_up",] == 1
    assert (shown["award_dispatchers",], shown["award_workers", "checks"]) == (0, 0)
    assert shown["award_quota_spent", "phone_codes"] == 0
    assert shown["award_quota_left", "phone_codes"] == settings().phone_codes_per_day
