"""Alert rules and dashboard: every metric they name exists, and each alert fires on the trouble it is for."""

import json
import math
import re
import subprocess
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from shared.db.metrics import collect_database
from shared.services.operations.metrics import collect_queue
from shared.telemetry import metrics
from shared.telemetry.metrics_address import BuildInfo
from tests.deploy.expressions import NOW, Series, evaluate
from tests.support.service import ROOT

FOLDER = ROOT / "deploy" / "observability"
RULES: dict[str, dict[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["groups"]
    for rule in group["rules"]
}
PANELS = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
_NAME = re.compile(r"\baward_\w+")
_MATCHED = re.compile(r"[{,]\s*(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([\w, ]+)\)")
# Those a scraper and the exporters beside the service add.
_OF_A_SCRAPE = {"le", "job", "instance", "fstype", "mountpoint"}
_ENDS = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


def _list_metrics() -> dict[str, set[str]]:
    """The labels of each, as they are exported."""
    info = next(iter(BuildInfo("up").collect()))
    exported = {info.name: set(info.samples[0].labels)}
    for metric in vars(metrics).values():
        if isinstance(metric, MetricWrapperBase):
            described = next(iter(metric.describe()))
            exported |= {described.name + end: set(metric._labelnames) for end in _ENDS[described.type]}
    for readings in (collect_database(), collect_queue()):
        exported[readings.up] = set()
        exported |= {name: set(labels) for name, (_, labels) in readings.gauges.items()}
    return exported


def _up(database: float = 1, queue: float = 1) -> Series:
    return [("award_database_up", {}, database), ("award_queue_up", {}, queue)]


def _builds(*programs: str, version: str = "1") -> Series:
    return [("award_build_info", {"program": name, "version": version}, 1) for name in programs]


def _calls(crashed: float) -> Series:
    return [
        ("award_tool_calls_total", {"tool": "a", "outcome": o}, n) for o, n in (("ok", 99), ("internal_error", crashed))
    ]


def _answers(errors: float) -> Series:
    labels = ({"program": "auth_server", "status": "2xx"}, {"program": "auth_server", "status": "5xx"})
    return [("award_http_responses_total", labels[0], 97), ("award_http_responses_total", labels[1], errors)]


def _buckets(slow: float) -> Series:
    counts = (("1", 100 - slow), ("5", 100 - slow), ("10", 100))
    return [("award_tool_call_seconds_bucket", {"tool": "a", "le": le}, float(n)) for le, n in counts]


def _one(name: str, value: float, **labels: str) -> Series:
    return [(name, labels, value)]


def _provider(down: float) -> Series:
    name = "award_provider_requests_total"
    return _one(name, down, provider="p", outcome="down") + _one(name, 5, provider="p", outcome="ok")


def _quota(left: float) -> Series:
    return _one("award_quota_left", left, quota="q") + _one("award_quota_spent", 1000 - left, quota="q")


def _pool(in_use: float) -> Series:
    labels = {"program": "mcp_server", "pool": "main"}
    return _one("award_database_connections_in_use", in_use, **labels) + _one("award_database_pool_size", 10, **labels)


def _target(up: float) -> Series:
    return _one("up", up, job="award-travel", instance="a:9403") + _one("up", 1, job="award-travel", instance="b:9403")


def _certificate(days: float) -> Series:
    labels = {"job": "award-travel-addresses", "instance": "https://travel.example.com/readyz"}
    return _one("probe_ssl_earliest_cert_expiry", NOW + days * 86_400, **labels)


def _disk(free: float) -> Series:
    labels = {"job": "award-travel-machines", "instance": "a:9100", "mountpoint": "/", "fstype": "ext4"}
    memory = labels | {"mountpoint": "/run", "fstype": "tmpfs"}
    series = _one("node_filesystem_avail_bytes", free, **labels) + _one("node_filesystem_size_bytes", 100, **labels)
    return series + [(name, memory, 1.0 if "avail" in name else 100.0) for name, _, _ in series]


# Of each alert: series of trouble, and those of a service that is well.
CASES: dict[str, tuple[Series, Series]] = {
    "AwardDatabaseAway": (_up(database=0), _up()),
    "AwardQueueAway": (_up(queue=0), _up()),
    "AwardNoToolServer": (_builds("auth_server"), _builds("auth_server", "mcp_server")),
    "AwardNoAuthServer": (_builds("mcp_server"), _builds("up")),
    "AwardDispatcherSilent": (_one("award_dispatchers", 0), _one("award_dispatchers", 1)),
    "AwardSchedulesLate": (
        _one("award_oldest_due_schedule_seconds", 121),
        _one("award_oldest_due_schedule_seconds", 119),
    ),
    "AwardNoWorkers": (
        _one("award_workers", 2, queue="checks") + _one("award_workers", 0, queue="mail"),
        _one("award_workers", 1, queue="mail"),
    ),
    "AwardChecksLate": (
        _one("award_oldest_due_run_seconds", 1000, queue="checks"),
        _one("award_oldest_due_run_seconds", 1000, queue="mail"),
    ),
    "AwardMailUnread": (
        _one("award_oldest_due_run_seconds", 1000, queue="mail"),
        _one("award_oldest_due_run_seconds", 1000, queue="checks"),
    ),
    "AwardMessagesLate": (
        _one("award_oldest_due_delivery_seconds", 601),
        _one("award_oldest_due_delivery_seconds", 30),
    ),
    "AwardMessagesLost": (
        _one("award_deliveries_total", 21, channel="email", outcome="uncertain"),
        _one("award_deliveries_total", 900, channel="email", outcome="sent"),
    ),
    "AwardRunsFail": (
        _one("award_runs_total", 6, kind="deadlines", outcome="failed"),
        _one("award_runs_total", 600, kind="deadlines", outcome="done"),
    ),
    "AwardCallsCrash": (_calls(2), _calls(0.5)),
    "AwardServerErrors": (_answers(3), _answers(0)),
    "AwardCallsSlow": (_buckets(6), _buckets(4)),
    "AwardTokensUnjudged": (
        _one("award_gate_refusals_total", 1, status="503"),
        _one("award_gate_refusals_total", 1, status="401"),
    ),
    "AwardGuessing": (
        _one("award_gate_refusals_total", 30, status="429"),
        _one("award_gate_refusals_total", 3, status="401"),
    ),
    "AwardPoolFull": (_pool(10), _pool(9)),
    "AwardProviderDown": (_provider(6), _provider(1)),
    "AwardQuotaLow": (_quota(50), _quota(500)),
    "AwardTargetDown": (_target(0), _target(1)),
    "AwardBackupOld": (_one("award_backup_age_seconds", math.inf), _one("award_backup_age_seconds", 90_000)),
    "AwardSweepOld": (
        _one("award_sweep_age_seconds", 20_000, sweep="records") + _one("award_sweep_age_seconds", 60, sweep="other"),
        _one("award_sweep_age_seconds", 3_700, sweep="records"),
    ),
    "AwardPartitionsMissing": (_one("award_faulty_partitions", 1), _one("award_faulty_partitions", 0)),
    "AwardWorkersReplaced": (
        _one("award_workers_replaced_total", 4, program="mcp_server"),
        _one("award_workers_replaced_total", 1, program="mcp_server"),
    ),
    "AwardCertificateEnds": (_certificate(days=13), _certificate(days=29)),
    "AwardAddressDown": (
        _one("probe_success", 0, job="award-travel-addresses", instance="https://travel.example.com/readyz"),
        _one("probe_success", 1, job="award-travel-addresses", instance="https://travel.example.com/readyz"),
    ),
    "AwardDiskFull": (_disk(free=9), _disk(free=11)),
    "AwardVersionsDiffer": (_builds("up") + _builds("mcp_server", version="2"), _builds("up", "mcp_server")),
}


def test_every_alert_has_a_case_and_says_what_to_do() -> None:
    assert set(RULES) == set(CASES)
    for rule in RULES.values():
        assert rule["labels"]["severity"] in ("page", "warn")
        assert len(rule["annotations"]["runbook"]) > 60
        assert re.fullmatch(r"\d+[mh]", rule["for"])


@pytest.mark.parametrize("name", sorted(RULES))
def test_an_alert_fires_on_its_trouble_and_not_on_a_service_that_is_well(name: str) -> None:
    trouble, well = CASES[name]
    expression = RULES[name]["expr"]
    assert evaluate(expression, trouble), expression
    assert evaluate(expression, well) == {}, expression


def test_every_metric_and_label_that_an_alert_or_the_dashboard_names_exists() -> None:
    expressions = [rule["expr"] for rule in RULES.values()]
    expressions += [target["expr"] for panel in PANELS for target in panel["targets"]]
    exported = _list_metrics()
    named = {name for expression in expressions for name in _NAME.findall(expression)}
    assert len(named) > 20
    assert named - exported.keys() == set()
    faults = []
    for expression in expressions:
        known = set().union(*(exported[name] for name in _NAME.findall(expression)), _OF_A_SCRAPE)
        asked = set(_MATCHED.findall(expression))
        asked |= {label for labels in _GROUPED.findall(expression) for label in re.split(r",\s*", labels)}
        faults += [(expression, label) for label in sorted(asked - known)]
    for series, well in CASES.values():
        faults += [
            (name, set(labels))
            for name, labels, _ in series + well
            if name in exported and not set(labels) <= exported[name] | {"le"}
        ]
    assert faults == []


def test_every_metric_stands_on_the_dashboard() -> None:
    shown = {name for panel in PANELS for target in panel["targets"] for name in _NAME.findall(target["expr"])}
    plain = {re.sub(r"_(bucket|sum|count)$", "", name) for name in _list_metrics()}
    assert plain - {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown} == set()


def test_panels_do_not_cover_each_other() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))


@pytest.mark.promtool
def test_prometheus_takes_the_configuration_and_the_rules() -> None:
    done = subprocess.run(
        ["promtool", "check", "config", FOLDER / "prometheus.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(RULES)} rules found" in done.stdout
