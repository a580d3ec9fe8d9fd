"""A seat search against pretended sources over HTTP: each kind of failure is named in our words."""

import json
from datetime import date, timedelta
from typing import Any

import pytest

from shared import clock
from shared.redis import connect
from tests.mcp_server.tools.conftest import Use
from tests.shared.providers.fakes import INJECTION, SECRET
from tests.shared.providers.fakes.server import QUOTA_SECONDS, Pretend, fake_world, pretend
from tests.support.people import People

__all__ = ["fake_world", "pretend"]


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def search_arguments() -> dict[str, Any]:
    return {"airline": "VS", "origin": "JFK", "destination": "LHR", "date": travel_day().isoformat()}


def test_a_search_reaches_the_source_and_shows_what_it_says(people: People, use: Use, pretend: Pretend) -> None:
    world = pretend("seats_aero")
    answer = use(people.alice, "search_availability", **search_arguments())
    assert answer["status"] == "ok"
    assert {(o["program"], o["cabin"], o["points"], o["seats"]) for o in answer["options"]} == {
        ("virgin-atlantic-flying-club", "economy", 12_000, 5),
        ("virgin-atlantic-flying-club", "business", 47_500, 2),
        ("virgin-atlantic-flying-club", "business", 47_500, 4),
    }
    assert (answer["freshness"]["mode"], answer["freshness"]["provider_checked_at"]) == (
        "cached",
        "2026-11-20T21:40:12Z",
    )
    assert answer["coverage"] == {"asked": ["seats_aero"], "answered": ["seats_aero"], "failed": [], "skipped": []}
    assert [a.query["carriers"] for a in world.asked] == ["VS"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("unauthorized", "broken"),
        ("forbidden", "not_permitted"),
        ("quota", "quota_exhausted"),
        ("broken", "down"),
        ("gateway", "down"),
        ("redirect", "down"),
        ("html", "down"),
        ("truncated", "down"),
        ("huge", "down"),
    ],
)
@pytest.mark.spec("s1.5.outage_is_said")
def test_a_source_in_trouble_is_named_with_the_reason(
    people: People, use: Use, pretend: Pretend, kind: str, reason: str
) -> None:
    pretend("seats_aero", seats_aero=kind)
    answer = use(people.alice, "search_availability", **search_arguments())
    assert answer["status"] == "backend_unavailable"
    (told,) = answer["backends"]
    assert (told["name"], told["reason"]) == ("seats_aero", reason)
    assert kind != "quota" or told["retry_after_seconds"] > QUOTA_SECONDS - 10
    assert "options" not in answer
    text = json.dumps(answer)
    assert SECRET not in text
    assert INJECTION not in text


def test_nothing_open_is_an_answer_and_not_a_failure(people: People, use: Use, pretend: Pretend) -> None:
    pretend("seats_aero", seats_aero="empty")
    answer = use(people.alice, "search_availability", **search_arguments())
    assert (answer["status"], answer["options"]) == ("ok", [])
    assert answer["coverage"]["answered"] == ["seats_aero"]


def test_without_a_key_a_person_is_asked_to_connect_where_that_is_possible(
    people: People, use: Use, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = pretend("seats_aero")
    monkeypatch.setenv("SEATS_AERO_API_KEY", "")
    pretend()
    assert use(people.alice, "search_availability", **search_arguments())["backends"][0]["reason"] == "not_configured"
    monkeypatch.setenv("SEATS_AERO_CLIENT_ID", "client-1")
    monkeypatch.setenv("SEATS_AERO_CLIENT_SECRET", SECRET)
    pretend()
    answer = use(people.alice, "search_availability", **search_arguments())
    assert (answer["status"], answer["provider"]) == ("connection_required", "seats_aero")
    assert world.asked == []


def test_a_source_that_recovers_is_heard_again(people: People, use: Use, pretend: Pretend) -> None:
    pretend("seats_aero", seats_aero="broken")
    assert use(people.alice, "search_availability", **search_arguments())["status"] == "backend_unavailable"
    pretend(seats_aero="good")
    assert use(people.alice, "search_availability", **search_arguments())["status"] == "ok"
    kept: list[Any] = [connect().get(name) for name in connect().keys("*reading*")]
    assert SECRET not in repr(kept)
