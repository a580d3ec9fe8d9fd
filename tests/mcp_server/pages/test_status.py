"""The page of states: what it says of parts and sources that work and that do not, to people and to programs."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Lost
from sqlalchemy.exc import OperationalError

from mcp_server.pages import status
from shared import clock, provider_health
from shared.services.operations.workers import record_end, record_sign
from shared.settings import settings
from tests.mcp_server.rest import conftest as both_hosts
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_watch_pages import add_finds, add_monitor
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

# The web host passes the path on, so the fixtures of both hosts are used here.
running, world = both_hosts.running, both_hosts.world
JSON, BROWSER = {"Accept": "application/json"}, {"Accept": "text/html"}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question is answered again, but where a test says otherwise."""
    monkeypatch.setattr(status, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(status, "KEPT_DAYS_SECONDS", 0.0)


@pytest.fixture
def jobs(world: World) -> Iterator[None]:
    """A dispatcher and a worker that show signs of life."""
    record_sign("dispatcher", 1)
    record_sign("worker", 1)
    yield
    record_end("worker", 1)
    record_end("dispatcher", 1)


def read(world: World) -> dict[str, Any]:
    answer = world.get("/status", headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    document: dict[str, Any] = answer.json()
    return document | {"states": {part["name"]: part["state"] for part in document["parts"]}}


def read_page(world: World) -> str:
    answer = world.get("/status", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    return answer.text


def test_all_is_well(world: World, jobs: None) -> None:
    document = read(world)
    assert document["state"] == "works"
    assert list(document["states"]) == ["Web host", "Tool server", "Database", "Queue", "Background jobs"]
    assert set(document["states"].values()) == {"works"}
    assert document["data"] == "sandbox"
    page = read_page(world)
    assert "Everything works</h1>" in page
    assert page.count('<span class="pill good">works</span>') == 6
    assert "Last sign of life right now." in page


def test_jobs_without_a_sign_of_life_are_away_and_impair_the_whole(world: World) -> None:
    document = read(world)
    assert (document["state"], document["states"]["Background jobs"]) == ("impaired", "away")
    assert "Something does not work</h1>" in read_page(world)


def test_a_part_that_fails_is_named_and_says_nothing_of_itself(
    world: World,
    jobs: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> Any:
        raise Lost("secret.internal:6379")

    monkeypatch.setattr(status, "connect", fail)
    monkeypatch.setattr(status, "find_dispatcher_age", fail)
    document, page = read(world), read_page(world)
    assert (document["states"]["Queue"], document["states"]["Background jobs"]) == ("away", "unknown")
    assert "secret" not in page


def test_without_its_database_the_service_is_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        document = {"checks": {"database": False, "schema": False}, "reason": "secret"}

    monkeypatch.setattr(status, "check_readiness", Gone)
    assert read(world)["state"] == "away"
    page = read_page(world)
    assert "The service is down</h1>" in page
    assert "secret" not in page


def test_a_part_that_hangs_holds_nobody_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    released = threading.Event()
    monkeypatch.setattr(status, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(status, "check_readiness", lambda: released.wait(20))
    document = read(world)
    released.set()
    assert document["states"]["Database"] == "away"
    assert "Does not answer in time." in {part["about"] for part in document["parts"]}


def test_a_source_says_when_it_last_answered_and_whether_it_fails(world: World) -> None:
    (source,) = read(world)["sources"]
    assert (source["name"], source["state"], source["last_answer_at"]) == ("Invented data", "works", None)
    assert "award seats" in source["subject"]
    provider_health.record_success("sandbox:anyone")
    (source,) = read(world)["sources"]
    assert datetime.fromisoformat(source["last_answer_at"]) == clock.now()
    assert source["about"] == "Last answer right now."


def test_sources_that_nobody_set_up_are_not_listed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from shared.services.search.sources import Backend

    rows = [
        Backend("seats_aero", "down", clock.now() - timedelta(hours=3)),
        Backend("ecb", "degraded", clock.now() - timedelta(days=1)),
        Backend("duffel", "not_configured", None),
    ]
    monkeypatch.setattr(status, "backends", lambda: rows)
    document = read(world)
    assert [(row["name"], row["state"], row["about"]) for row in document["sources"]] == [
        ("seats.aero", "away", "Does not answer; last answer 3 hours ago."),
        ("European Central Bank", "impaired", "Failed recently; last answer 1 day ago."),
    ]
    assert "Duffel" not in read_page(world)


def test_the_last_days_are_told_by_the_looks_of_watches(world: World, use: Any) -> None:
    add_finds(add_monitor(use, sign_up(world, "ann@example.test", "premium"), cabin="business"))
    assert (
        "The last 30 days: 1 on which every look was answered, 2 on which most looks were not answered, 27 without a"
        " look." in read_page(world)
    )


def test_days_that_cannot_be_counted_in_time_are_not_counted_for_each_answer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []

    def fail(name: str, _since: date) -> None:
        counts.append(name)
        raise OperationalError("select", {}, Exception("canceling statement due to statement timeout"))

    monkeypatch.setattr(status, "KEPT_DAYS_SECONDS", 60.0)
    monkeypatch.setattr(status, "count_by_day", fail)
    for _ in range(3):
        read_page(world)
    assert counts == ["looks"]


def test_strangers_share_one_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    check = status.check_readiness
    monkeypatch.setattr(status, "KEPT_SECONDS", 60.0)
    monkeypatch.setattr(status, "check_readiness", lambda: looks.append(1) or check())
    answers = [world.get("/status", headers=BROWSER) for _ in range(5)]
    assert len(looks) == 1
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].headers["cache-control"] == "public, max-age=60"
    assert "Accept" in answers[0].headers["vary"]
    again = world.get("/status", headers=BROWSER | {"If-None-Match": answers[0].headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_no_address_key_or_name_of_a_machine_is_told(world: World) -> None:
    text = read_page(world) + str(read(world))
    config = settings()
    for secret in (config.database_url, config.redis_url, config.secret_keys.get_secret_value(), world.mcp_url):
        assert secret not in text
    assert re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text.replace(world.url, "")) == []
    assert len(read_page(world)) < 6_000


def test_people_read_it_on_the_site_and_programs_on_both_hosts(world: World) -> None:
    own_host = world.mcp_url.removesuffix("/mcp")
    assert world.http.get(f"{own_host}/status", headers=BROWSER).headers["location"] == f"{world.url}/status"
    assert world.http.get(f"{own_host}/status", headers=JSON).status_code == 200
    assert '<a href="/status">Status</a>' in world.get("/").text
    assert world.get("/status/x", headers=BROWSER).status_code == 404


@pytest.mark.parametrize(
    ("age", "words"),
    [(0, "right now"), (9, "9 seconds ago"), (60, "1 minute ago"), (7300, "2 hours ago"), (172_800, "2 days ago")],
)
def test_ages_in_words(age: int, words: str) -> None:
    assert status.describe_age(timedelta(seconds=age)) == words
