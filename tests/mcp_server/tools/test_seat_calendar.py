"""The seat calendar, called through the gate: available, none and unknown days are never confused."""

from calendar import monthrange
from datetime import date, timedelta
from typing import Any

import pytest

from shared import clock
from shared.domain.dates import add_months, format_weekday
from shared.domain.plans import CABINS
from shared.providers.contract import AwardSeat, SeatsQuestion, Unanswered
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_seats import WithSources, failing, live, seat, selling, source, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]


def first_day() -> date:
    return add_months(clock.today().replace(day=1), 3)


def days_of_month() -> list[date]:
    return [first_day() + timedelta(days=n) for n in range(monthrange(first_day().year, first_day().month)[1])]


def search_arguments() -> dict[str, Any]:
    return {"airline": "BA", "origin": "LHR", "destination": "JFK", "month": f"{first_day():%Y-%m}"}


TOOL = "search_monthly_availability"
OWN = "british-airways-club"


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


def states(found: dict[str, Any]) -> dict[str, str]:
    return {day["date"]: day["state"] for day in found["days"]}


@pytest.mark.spec("s4.4.search_monthly_availability.result")
def test_search_monthly_availability_shows_each_day_with_its_cabins(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling(
            "one",
            seat(days_of_month()[4], points=80_000),
            seat(days_of_month()[4], cabin="first", points=120_000, seats=None),
        ),
        selling("two", seat(days_of_month()[9], points=60_000, seats=4)),
    )
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2)
    assert answer["status"] == "ok"
    assert [day["date"] for day in answer["days"]] == [d.isoformat() for d in days_of_month()]
    assert answer["days"][4] == {
        "date": days_of_month()[4].isoformat(),
        "cabins": {
            "business": {"points": 80_000, "seats": 2, "program": OWN},
            "first": {"points": 120_000, "seats": None, "program": OWN},
        },
        "state": "available",
        "note": None,
    }
    assert states(answer)[days_of_month()[0].isoformat()] == "none"
    assert answer["cheapest"] == [
        {"cabin": "business", "date": days_of_month()[9].isoformat(), "points": 60_000, "program": OWN}
        | {"party_points": 120_000},
        {"cabin": "first", "date": days_of_month()[4].isoformat(), "points": 120_000, "program": OWN}
        | {"party_points": 240_000},
    ]
    assert answer["per"] == "person"
    best = format_weekday(days_of_month()[9])
    assert f"business on {best}, 60,000 points of The British Airways Club each, 120,000 for two" in answer["message"]
    assert f"2 of {len(days_of_month())} days" in answer["message"]


def test_search_monthly_availability_calls_a_day_unknown_when_a_source_did_not_answer(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one", seat(days_of_month()[4])), failing("two", Unanswered("down", "timeout")))
    answer = use(people.alice, TOOL, **search_arguments())
    assert answer["status"] == "partial"
    assert states(answer).pop(days_of_month()[4].isoformat()) == "available"
    assert "none" not in states(answer).values()
    assert answer["coverage"]["failed"] == [{"name": "two", "reason": "down"}]
    assert "two (down)" in answer["message"]


def test_search_monthly_availability_with_no_answer_at_all_is_an_outage(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(failing("one", Unanswered("down", "timeout")))
    answer = use(people.alice, TOOL, **search_arguments())
    assert answer["status"] == "backend_unavailable"
    assert "days" not in answer


def test_search_monthly_availability_of_a_source_that_found_nothing_is_none_each_day(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one"), selling("mine", credential="account"))
    answer = use(people.alice, TOOL, **search_arguments())
    assert set(states(answer).values()) == {"none"}
    assert answer["cheapest"] == []
    assert answer["coverage"]["skipped"] == [{"name": "mine", "reason": "connection_required"}]


def test_search_monthly_availability_says_which_days_are_not_on_sale_yet(
    people: People, use: Use, with_sources: WithSources
) -> None:
    last = clock.today() + timedelta(days=355)  # of BA
    with_sources(selling("one"))
    answer = use(people.alice, TOOL, **(search_arguments() | {"month": f"{last:%Y-%m}"}))
    for day in answer["days"]:
        early = date.fromisoformat(day["date"]) > last
        assert (day["state"], day["note"]) == (("unknown", "not on sale yet") if early else ("none", None))
    beyond = use(people.alice, TOOL, **(search_arguments() | {"month": f"{add_months(last, 1):%Y-%m}"}))
    assert (beyond["status"], beyond["missing"]) == ("no_data", ["award seats"])


def test_search_monthly_availability_of_this_month_begins_today(
    people: People, use: Use, with_sources: WithSources
) -> None:
    asked: list[SeatsQuestion] = []

    async def act(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked.append(question)
        return ()

    with_sources(source("one", act))
    answer = use(people.alice, TOOL, **(search_arguments() | {"month": f"{clock.today():%Y-%m}"}))
    assert answer["days"][0]["date"] == clock.today().isoformat()
    assert [(q.earliest, q.airlines) for q in asked] == [(clock.today(), ("BA",))]


def test_search_monthly_availability_prefers_the_airlines_own_price_as_a_day_search_does(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling(
            "one",
            seat(days_of_month()[4]),
            seat(days_of_month()[4], program="qatar-airways-privilege-club", points=1_000),
        )
    )
    month = use(people.alice, TOOL, **search_arguments())
    day = use(
        people.alice,
        "search_availability",
        **{k: v for k, v in search_arguments().items() if k != "month"},
        date=days_of_month()[4].isoformat(),
    )
    assert month["days"][4]["cabins"]["business"]["points"] == day["cabins"]["business"]["points"] == 80_000


def test_search_monthly_availability_of_one_cabin_and_more_passengers_leaves_out_the_rest(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling(
            "one",
            seat(days_of_month()[4], seats=2),
            seat(days_of_month()[5], seats=3),
            seat(days_of_month()[6], cabin="economy"),
        )
    )
    answer = use(people.alice, TOOL, **search_arguments(), cabin="business", passengers=3)
    assert [day for day, state in states(answer).items() if state == "available"] == [days_of_month()[5].isoformat()]


@pytest.mark.parametrize("month", ["2020-01", "2027-13", "2027-00", "2027-1", "202701"])
def test_search_monthly_availability_names_a_wrong_month(people: People, use: Use, month: str) -> None:
    answer = use(people.alice, TOOL, **(search_arguments() | {"month": month}))
    assert (answer["status"], [e["field"] for e in answer["errors"]]) == ("invalid", ["month"])


def test_search_monthly_availability_is_paid(people: People, use: Use) -> None:
    answer = use(people.bob, TOOL, **search_arguments())
    assert (answer["status"], answer["required_tier"]) == ("paywall", "premium")


@pytest.mark.spec("s4.4.search_monthly_availability.result")
def test_search_monthly_availability_in_the_sandbox_is_labelled(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["data_mode"], answer["freshness"]["mode"], len(answer["days"])) == (
        "sandbox",
        "sandbox",
        len(days_of_month()),
    )
    assert {"available", "none"} >= set(states(answer).values())
    assert {cabin for day in answer["days"] for cabin in day["cabins"]} <= set(CABINS)


def test_search_monthly_availability_says_what_was_asked(people: People, use: Use) -> None:
    query = search_arguments() | {"airline": "british-airways", "cabin": "business"}
    route = {"origin": "LHR", "destination": "JFK", "date": None, "month": f"{first_day():%Y-%m}", "flex_days": 0}
    party = {"cabins": ["business"], "passengers": 1, "airline": "BA"}
    assert use(people.alice, TOOL, **query)["asked"] == route | party
