"""Traces of the whole service: from the call that makes a watch over its check to its mail, in every program."""

from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis

from tests.support.oauth_browser import post, tokens
from tests.support.service import PASSWORD, Service, wait_for
from tests.support.trace_collector import Collector, Span

TRACE = "5b8efff798038103d269b633813fc60c"


def _ancestors(collector: Collector, span: Span) -> list[str]:
    by_id = {other.id: other for other in collector.spans}
    names = []
    while span.parent in by_id:
        span = by_id[span.parent]
        names.append(span.name)
    return names


def find_span(collector: Collector, name: str) -> Span | None:
    return next((span for span in collector.named(name) if span.trace == TRACE), None)


@pytest.fixture(scope="module")
def watched(equipped: Service, collector: Collector) -> Collector:
    """The collector, once the mail of a watch that was made within TRACE has left."""
    token = tokens(equipped.mcp_url, equipped.person("traced", "premium"), PASSWORD)["access_token"]
    day = str(datetime.now(UTC).date() + timedelta(days=40))
    redis = Redis.from_url(equipped.facts["redis_url"])
    redis.hset("award:sandbox:overrides", f"LHR-JFK|{day}|business", "open")
    redis.close()
    arguments = {"origin": "LHR", "destination": "JFK", "cabin": "business", "airlines": ["BA"]}
    arguments |= {"earliest_date": day, "latest_date": day}
    params = {"name": "create_route_monitor", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Authorization": f"Bearer {token}", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    answer = post(equipped.mcp_url, json=body, headers=headers).json()["result"]["structuredContent"]
    assert answer["status"] == "ok"
    wait_for("the mail", lambda: find_span(collector, "delivery route_monitor_match"))
    return collector


@pytest.mark.slow  # the service has to check and deliver
def test_one_trace_leads_from_the_call_that_makes_a_watch_to_its_mail(watched: Collector) -> None:
    mail = wait_for("the span of the mail", lambda: find_span(watched, "delivery route_monitor_match"))
    call = wait_for("the span of the call", lambda: find_span(watched, "tools/call create_route_monitor"))
    assert _ancestors(watched, mail)[-3:] == [
        "run route_monitor",
        "tools/call create_route_monitor",
        "mcp_server POST /mcp",
    ]
    assert (call.program, mail.program) == ("award-travel-mcp_server", "award-travel-worker")
    lookup = wait_for("the span of the token's look-up", lambda: find_span(watched, "auth_server POST /oauth"))
    assert lookup.program == "award-travel-auth_server"
    assert [span for span in watched.spans if span.trace == TRACE and span.name.startswith("provider ")]
    statements = [span for span in watched.spans if span.trace == TRACE and span.name == "db INSERT"]
    assert any("route_monitors" in span.attributes["db.query.text"] for span in statements)


def test_later_checks_of_the_watch_have_traces_of_their_own(watched: Collector) -> None:
    runs = wait_for("another check", lambda: [*watched.named("run route_monitor"), None][1:-1])
    assert TRACE not in [run.trace for run in runs]


def test_spans_hold_no_secret_and_go_to_the_collector_with_its_key(watched: Collector) -> None:
    assert {(h["path"], h["x-key"]) for h in watched.headers} == {("/v1/traces", "of a collector")}
    assert PASSWORD not in watched.text
    assert "awt_" not in watched.text
    assert "traced@example.test" not in watched.text
    accounts = {span.attributes.get("award.account") for span in watched.named("delivery route_monitor_match")}
    assert len(accounts) == 1
    assert accounts != {None}
