"""The search over every airline, through the gate: cheapest first, who has none, who did not answer, and how fast."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.trips import SearchRecord
from shared.domain.dates import format_weekday
from shared.providers.contract import AwardSeat, Provider, SeatsQuestion, Unanswered
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_seats import WithSources, failing, live, seat, selling, source, together, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def search_arguments() -> dict[str, Any]:
    return {"origin": "LHR", "destination": "JFK", "date": travel_day().isoformat(), "cabin": "business"}


TOOL = "search_all_airlines"
VS = {"airline": "VS", "program": "virgin-atlantic-flying-club"}


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


def test_search_all_airlines_links_to_the_search_of_the_programme_and_warns_of_seats_that_are_not_there(
    people: People, use: Use, with_sources: WithSources
) -> None:
    ana = {"airline": "NH", "program": "air-canada-aeroplan"}
    with_sources(selling("one", seat(travel_day(), **ana, points=75_000), seat(travel_day(), **VS, points=80_000)))
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2)
    link = answer["booking_pages"]["air-canada-aeroplan"]
    assert f"org0=LHR&dest0=JFK&departureDate0={travel_day().isoformat()}" in link
    assert "&ADT=2&" in link
    assert travel_day().strftime("departureDate=%m%%2F%d%%2F%Y") in answer["booking_pages"][VS["program"]]
    shown = "Aeroplan may show seats of All Nippon Airways that cannot be booked"
    warning = f"{shown}: confirm the seat before you move points."
    assert answer["warnings"] == [warning]
    assert warning in answer["message"]


def test_search_all_airlines_lists_the_cheapest_first_with_every_airline_seen(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling("one", seat(travel_day(), points=80_000)), selling("two", seat(travel_day(), **VS, points=47_500))
    )
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["status"], answer["total"]) == ("ok", 2)
    assert [(o["airline"], o["points"], o["source"]) for o in answer["options"]] == [
        ("VS", 47_500, "two"),
        ("BA", 80_000, "one"),
    ]
    assert answer["by_airline"] == [
        {"airline": "VS", "outcome": "available", "cheapest": 47_500},
        {"airline": "BA", "outcome": "available", "cheapest": 80_000},
    ]
    assert answer["names"] == {
        "BA": "British Airways",
        "VS": "Virgin Atlantic",
        "british-airways-club": "The British Airways Club",
        "virgin-atlantic-flying-club": "Virgin Atlantic Flying Club",
    }
    assert "2 award offers of 2 airlines, LHR to JFK" in answer["message"]
    assert answer["message"].startswith(
        "Cheapest: 47,500 points of Virgin Atlantic Flying Club per person, 350.40 GBP taxes, with Virgin"
    )
    one = use(people.alice, TOOL, **search_arguments(), max_points=50_000)["message"]
    assert " 1 award offer of 1 airline, " in one
    assert use(people.alice, TOOL, **search_arguments(), limit=1)["message"].endswith("The cheapest is listed.")


def test_search_all_airlines_prices_each_offer_per_person_and_for_the_party(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling("one", seat(travel_day(), points=47_500, taxes=Decimal(255), taxes_currency="USD", **VS)),
        selling("two", seat(travel_day(), taxes=None)),
    )
    first, second = use(people.alice, TOOL, **search_arguments(), passengers=2)["options"]
    assert (first["per"], first["points"], first["taxes"]) == ("person", 47_500, 255)
    assert (first["party_points"], first["party_taxes"]) == (95_000, 510)
    assert (second["party_points"], second["party_taxes"]) == (160_000, None)
    words = use(people.alice, TOOL, **search_arguments(), passengers=2)["message"]
    assert "47,500 points of Virgin Atlantic Flying Club each, 95,000 for two, 510 USD taxes" in words
    alone = use(people.alice, TOOL, **search_arguments())["options"][0]
    assert (alone["per"], alone["party_points"], alone["party_taxes"]) == ("person", None, None)


def test_search_all_airlines_does_not_deny_seats_while_a_source_failed(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one"), failing("two", Unanswered("down", "timeout")))
    words = use(people.alice, TOOL, **search_arguments())["message"]
    assert words.startswith("Whether there are award seats is not known, LHR to JFK")


def test_search_all_airlines_asks_each_source_once_for_the_whole_window(
    people: People, use: Use, with_sources: WithSources
) -> None:
    asked: list[SeatsQuestion] = []

    async def act(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked.append(question)
        return ()

    with_sources(source("one", act))
    answer = use(people.alice, TOOL, **search_arguments(), flex_days=3, airlines=["VS", "british-airways", "VS"])
    assert asked == [
        SeatsQuestion("LHR", "JFK", travel_day() - timedelta(days=3), travel_day() + timedelta(days=3), ("VS", "BA"))
    ]
    assert {a["airline"]: a["outcome"] for a in answer["by_airline"]} == {"VS": "none", "BA": "none"}
    assert answer["message"].startswith("No award seats")


def test_search_all_airlines_of_today_does_not_look_back(people: People, use: Use, with_sources: WithSources) -> None:
    asked: list[date] = []

    async def act(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked.append(question.earliest)
        return ()

    with_sources(source("one", act))
    query = search_arguments() | {"date": clock.today().isoformat(), "flex_days": 2}
    answer = use(people.alice, TOOL, **query)
    assert asked == [clock.today()]
    assert (answer["asked"]["date"], answer["asked"]["month"], answer["asked"]["flex_days"]) == (query["date"], None, 2)


def test_search_all_airlines_names_airlines_asked_answered_failed_and_skipped(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling("one", seat(travel_day())),
        failing("two", Unanswered("down", "timeout")),
        selling("three", seat(travel_day()), credential="account"),
    )
    answer = use(people.alice, TOOL, **search_arguments(), airlines=["BA", "VS"])
    assert answer["status"] == "partial"
    assert answer["coverage"] == {
        "asked": ["one", "two", "BA", "VS"],
        "answered": ["one", "BA"],
        "failed": [{"name": "two", "reason": "down"}, {"name": "VS", "reason": "down"}],
        "skipped": [{"name": "three", "reason": "connection_required"}],
    }
    assert {a["airline"]: a["outcome"] for a in answer["by_airline"]} == {"BA": "available", "VS": "unknown"}
    assert "two (down)" in answer["message"]


def test_search_all_airlines_without_names_asks_about_every_supported_airline(people: People, use: Use) -> None:
    supported = {a["code"] for a in use(people.alice, "list_supported_airlines")["airlines"]}
    answer = use(people.alice, TOOL, **search_arguments())
    assert set(answer["coverage"]["asked"]) == supported | {"sandbox"}
    assert {o["airline"] for o in answer["options"]} <= supported


def test_search_all_airlines_beyond_a_release_window_skips_that_airline(
    people: People, use: Use, with_sources: WithSources
) -> None:
    far = clock.today() + timedelta(days=345)  # within 355 days of BA, beyond 331 of VS
    with_sources(selling("one"))
    answer = use(people.alice, TOOL, **(search_arguments() | {"date": far.isoformat()}), airlines=["BA", "VS"])
    assert {a["airline"]: a["outcome"] for a in answer["by_airline"]} == {"BA": "none", "VS": "not_on_sale"}
    assert answer["coverage"]["skipped"] == [{"name": "VS", "reason": "not_on_sale"}]
    beyond = use(people.alice, TOOL, **(search_arguments() | {"date": far.isoformat()}), airlines=["VS"])
    assert (beyond["status"], beyond["missing"]) == ("no_data", ["award seats"])


def test_search_all_airlines_cuts_at_limit_and_max_points_and_says_so(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling(
            "one", *(seat(travel_day(), points=10_000 * n, ref=str(n)) for n in range(1, 6)), seat(travel_day(), **VS)
        )
    )
    answer = use(people.alice, TOOL, **search_arguments(), max_points=40_000, limit=3)
    assert [o["points"] for o in answer["options"]] == [10_000, 20_000, 30_000]
    assert answer["total"] == 4
    assert answer["by_airline"][1] == {"airline": "VS", "outcome": "over_max_points", "cheapest": 80_000}
    assert "The 3 cheapest are listed" in answer["message"]
    none = use(people.alice, TOOL, **search_arguments(), max_points=9_000)
    day = format_weekday(travel_day())
    assert none["message"].startswith(f"No award seats are open, LHR to JFK on {day} at up to 9,000 points")


def test_search_all_airlines_leaves_out_what_seats_too_few_and_other_cabins(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling(
            "one",
            seat(travel_day(), seats=1),
            seat(travel_day(), seats=None, points=2),
            seat(travel_day(), cabin="first", points=1),
        )
    )
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2)
    assert [o["points"] for o in answer["options"]] == [2]


def test_search_all_airlines_when_nobody_answers_is_an_outage_and_not_counted(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(failing("one", Unanswered("down", "http_500")), failing("two", Unanswered("quota_exhausted", "quota")))
    answer = use(people.bob, TOOL, **(search_arguments() | {"cabin": "economy"}))
    assert answer["status"] == "backend_unavailable"
    assert {b["name"]: b["reason"] for b in answer["backends"]} == {"one": "down", "two": "quota_exhausted"}
    assert use(people.bob, "get_usage")["searches"]["used_today"] == 0


def test_search_all_airlines_where_nobody_flies_is_no_data(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **(search_arguments() | {"origin": "SFO", "destination": "NRT"}), airlines=["BA"])
    assert answer["status"] == "no_data"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"date": lambda: (clock.today() - timedelta(days=1)).isoformat()}, "date"),
        ({"destination": "LHR"}, "destination"),
        ({"flex_days": 4}, "flex_days"),
        ({"limit": 101}, "limit"),
    ],
)
def test_search_all_airlines_names_a_bad_argument(people: People, use: Use, change: dict[str, Any], field: str) -> None:
    change = evaluate(change)
    answer = use(people.alice, TOOL, **(search_arguments() | change))
    assert (answer["status"], [e["field"] for e in answer["errors"]]) == ("invalid", [field])


def test_search_all_airlines_names_an_airline_it_does_not_know(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **search_arguments(), airlines=["BA", "Qantus"])
    assert (answer["status"], answer["what"]) == ("not_found", "airline")


# plans


@pytest.mark.spec("s8.free_economy_only")
def test_search_all_airlines_on_free_is_economy_alone(people: People, use: Use) -> None:
    answer = use(people.bob, TOOL, **search_arguments())
    assert (answer["status"], answer["required_tier"]) == ("paywall", "premium")
    economy = use(people.bob, TOOL, **{k: v for k, v in search_arguments().items() if k != "cabin"})
    assert {o["cabin"] for o in economy["options"]} == {"economy"}
    assert economy["searches_left_today"] == 4
    assert use(people.bob, "get_usage")["searches"]["used_today"] == 1


@pytest.mark.spec("s8.free_five_searches")
def test_search_all_airlines_on_free_is_five_a_day_however_many_ask_at_once(
    people: People, with_sources: WithSources
) -> None:
    with_sources(
        selling("one", seat(travel_day(), cabin="economy")), selling("two", seat(travel_day(), cabin="economy"))
    )
    ended: list[str] = []

    async def once(number: int) -> None:
        day = (travel_day() + timedelta(days=number)).isoformat()
        ended.append(
            (await dispatch(TOOL, search_arguments() | {"cabin": "economy", "date": day}, people.bob, "mcp")).status
        )

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(15):
                tasks.start_soon(once, number)

    limiter.cache_clear()
    anyio.run(all_at_once)
    assert Counter(ended) == {"ok": 5, "limit_reached": 10}


def test_search_all_airlines_leaves_one_search_record(people: People, use: Use) -> None:
    use(people.alice, TOOL, **search_arguments(), flex_days=2)
    with transaction(people.alice.account_id) as session:
        (record,) = session.scalars(select(SearchRecord)).all()
    assert (record.tool, record.outcome) == (TOOL, "ok")


# speed


def _waiting(name: str, wait: Callable[[], Awaitable[None]]) -> Provider:
    """A source that answers when `wait` is over."""

    async def act(_question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        await wait()
        return tuple(seat(travel_day(), points=1_000 * n, ref=f"{name}-{n}") for n in range(1, 31))

    return source(name, act)


def test_search_all_airlines_waits_for_twelve_sources_at_once(
    people: People, use: Use, with_sources: WithSources
) -> None:
    wait = together(12)
    with_sources(*(_waiting(f"source{n}", wait) for n in range(12)))
    answer = use(people.alice, TOOL, **search_arguments(), limit=100)
    assert (answer["status"], answer["total"]) == ("ok", 360)
    assert len(answer["coverage"]["answered"]) > 12


def test_search_all_airlines_says_what_was_asked(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day())))
    query = search_arguments() | {"flex_days": 2, "passengers": 3}
    about = {"origin": "LHR", "destination": "JFK", "date": travel_day().isoformat(), "month": None, "flex_days": 2}
    of_all = about | {"cabins": ["business"], "passengers": 3, "airline": None}
    assert use(people.alice, TOOL, **query)["asked"] == of_all
    assert use(people.alice, TOOL, **query, airlines=["british-airways"])["asked"] == of_all | {"airline": "BA"}
    assert use(people.alice, TOOL, **query, airlines=["BA", "VS"])["asked"] == of_all
