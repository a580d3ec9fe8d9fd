"""One award offer in full: whose id it is, whether its source can be asked, and what the source tells."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.providers.contract import AwardTrip, BookingLink, Provider, Segment, TripQuestion, Unanswered
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources
from tests.support.long_ids import build_long_award_id
from tests.support.people import People
from tests.support.sandbox_seats import set_seat

__all__ = ["live", "with_sources"]


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def search_arguments() -> dict[str, Any]:
    return {"airline": "BA", "origin": "LHR", "destination": "JFK", "date": travel_day().isoformat()}


TOOL = "get_award_trip_details"


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


LEG = Segment("BA117", "BA", "77W", "LHR", "JFK", "2027-01-20T08:25", "2027-01-20T11:10", "business", "U")
TRIP = AwardTrip(
    ref="row-1",
    cabin="business",
    points=80_000,
    taxes=Decimal("350.40"),
    taxes_currency="GBP",
    stops=0,
    duration_minutes=465,
    seats=2,
    segments=(LEG,),
    links=(BookingLink("british-airways-club", "Book", "https://example.test/book"),),
    checked_at=None,
)


def telling(name: str, *trips: AwardTrip, fails: Exception | None = None, **more: Any) -> Provider:
    """A source that sells a seat and tells these trips of it."""
    sells = selling(name, seat(travel_day()), answers=("award_seats", "award_trip"), **more)

    async def award_trip(question: TripQuestion) -> tuple[AwardTrip, ...]:
        if fails:
            raise fails
        assert question == TripQuestion("row-1")
        return trips

    @asynccontextmanager
    async def build(credential: str | None) -> AsyncIterator[Any]:
        async with sells.build(credential) as client:
            yield SimpleNamespace(award_seats=client.award_seats, award_trip=award_trip)

    return replace(sells, build=build)


def an_id(use: Use, who: Caller) -> str:
    found: str = use(who, "search_availability", **search_arguments())["options"][0]["trip_id"]
    return found


def test_get_award_trip_details_shows_that_a_flight_lands_on_the_next_day(
    people: People, use: Use, with_sources: WithSources
) -> None:
    night = replace(TRIP.segments[0], departs_at="2027-01-20T22:10", arrives_at="2027-01-21T02:00")
    with_sources(telling("one", replace(TRIP, segments=(night,))))
    words = use(people.alice, TOOL, trip_id=an_id(use, people.alice))["message"]
    assert "Wed 20 Jan 2027 22:10-02:00 +1" in words


@pytest.mark.spec("s4.4.get_award_trip_details.result", "s4.4.get_award_trip_details.trip_id")
def test_get_award_trip_details_shows_flights_aircraft_times_stops_and_links(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(telling("one", TRIP))
    answer = use(people.alice, TOOL, trip_id=an_id(use, people.alice))
    assert answer["status"] == "ok"
    assert answer["segments"] == [
        {
            "flight_number": "BA117",
            "operating_carrier": "BA",
            "aircraft": "77W",
            "origin": "LHR",
            "destination": "JFK",
            "departs_at": "2027-01-20T08:25",
            "arrives_at": "2027-01-20T11:10",
            "cabin": "business",
            "fare_class": "U",
        }
    ]
    assert (answer["stops"], answer["duration_minutes"], answer["points"], answer["seats"]) == (0, 465, 80_000, 2)
    assert answer["message"].endswith("as one says; book with The British Airways Club.")
    assert answer["message"].startswith(
        "BA117 LHR-JFK, Wed 20 Jan 2027 08:25-11:10; nonstop in business, 80,000 points"
    )
    assert (answer["per"], "per person, 350.40 GBP taxes" in answer["message"]) == ("person", True)
    assert answer["taxes"] == {"amount": 350.4, "currency": "GBP"}
    assert answer["booking_links"] == [
        {"program": "british-airways-club", "label": "Book", "url": "https://example.test/book"}
    ]
    assert (answer["freshness"]["mode"], answer["freshness"]["source"]) == ("live", "one")


def test_get_award_trip_details_of_several_ways_shows_the_most_direct_of_the_cheapest(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        telling("one", replace(TRIP, stops=1), replace(TRIP, duration_minutes=500), TRIP, replace(TRIP, points=90_000))
    )
    answer = use(people.alice, TOOL, trip_id=an_id(use, people.alice))
    assert (answer["points"], answer["stops"], answer["duration_minutes"]) == (80_000, 0, 465)


@pytest.mark.spec("s4.4.get_award_trip_details.trip_id")
def test_get_award_trip_details_of_another_accounts_row_reads_like_one_that_never_was(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(telling("one", TRIP))
    hers = an_id(use, people.alice)
    answer = use(people.charlie, TOOL, trip_id=hers)
    never = use(people.charlie, TOOL, trip_id=hers[:-12] + "0123456789ab")
    long = use(people.charlie, TOOL, trip_id=build_long_award_id(people.alice.account_id, "one", "row-1"))
    assert (answer["status"], answer["what"]) == ("not_found", "award offer")
    assert set(answer) == set(never) == set(long)


@pytest.mark.parametrize(
    "given", ["", "x", "awd__", "awd_\u00e9_1", "424242", "awd_" + "A" * 20, "awd_" + "A" * 18 + "=="]
)
def test_get_award_trip_details_of_no_id_at_all_is_not_found(people: People, use: Use, given: str) -> None:
    assert use(people.alice, TOOL, trip_id=given)["status"] == "not_found"


def test_get_award_trip_details_of_an_invented_row_is_unknown_in_live_mode(
    people: People, use: Use, live: None
) -> None:
    invented = build_long_award_id(people.alice.account_id, "sandbox", "sbx_BA_british-airways-club_LHR_JFK_20270120_J")
    assert use(people.alice, TOOL, trip_id=invented)["status"] == "not_found"


@pytest.mark.spec("s4.4.get_award_trip_details.needs_connection")
def test_get_award_trip_details_without_the_accounts_connection_asks_for_it(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(telling("mine", TRIP, credential="account"))
    seen_before = build_long_award_id(people.alice.account_id, "mine", "row-1")
    for given in (seen_before, "anything"):
        answer = use(people.alice, TOOL, trip_id=given)
        assert (answer["status"], answer["provider"]) == ("connection_required", "mine")
        assert answer["connect_with"] == "connect_integration"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unanswered("down", "timeout"), "backend_unavailable"),
        (Unanswered("quota_exhausted", "quota"), "backend_unavailable"),
        (Unanswered("no_data", "gone"), "no_data"),
        (ValueError("their words"), "backend_unavailable"),
    ],
)
def test_get_award_trip_details_tells_an_outage_from_an_offer_that_is_gone(
    people: People, use: Use, with_sources: WithSources, error: Exception, status: str
) -> None:
    with_sources(telling("one", fails=error))
    answer = use(people.alice, TOOL, trip_id=an_id(use, people.alice))
    assert answer["status"] == status
    assert "their words" not in str(answer)


def test_get_award_trip_details_of_a_source_without_single_flights_is_no_data(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one", seat(travel_day())))
    assert use(people.alice, TOOL, trip_id=an_id(use, people.alice))["status"] == "no_data"


def test_get_award_trip_details_of_a_source_that_is_here_no_more_is_not_found(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(telling("one", TRIP))
    given = an_id(use, people.alice)
    with_sources(telling("two", TRIP))
    assert use(people.alice, TOOL, trip_id=given)["status"] == "not_found"


def test_get_award_trip_details_in_the_sandbox_answers_and_is_labelled(people: People, use: Use) -> None:
    set_seat("open:4", "LHR", "JFK", travel_day(), "business", "BA")
    option = use(people.bob, "search_all_airlines", **{k: v for k, v in search_arguments().items() if k != "airline"})[
        "options"
    ][0]
    answer = use(people.bob, TOOL, trip_id=option["trip_id"])
    assert (answer["data_mode"], answer["freshness"]["mode"], answer["points"]) == (
        "sandbox",
        "sandbox",
        option["points"],
    )
    assert [s["flight_number"] for s in answer["segments"]] == option["flight_numbers"]
    assert re.match(r"https://sandbox\.invalid/", answer["booking_links"][0]["url"])


def test_get_award_trip_details_takes_an_id_of_an_offer_that_was_seen_before(
    people: People, use: Use, with_sources: WithSources
) -> None:
    """Of earlier days when ids were long, and of a cached answer."""
    with_sources(telling("one", TRIP))
    first, cached = (an_id(use, people.alice) for _ in range(2))
    assert (len(first), first) == (24, cached)
    for given in (cached, build_long_award_id(people.alice.account_id, "one", "row-1")):
        assert use(people.alice, TOOL, trip_id=given)["status"] == "ok"


def test_get_award_trip_details_of_a_row_another_connection_saw_is_not_found(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(telling("one", TRIP))
    given = an_id(use, people.alice)
    with transaction() as session:
        session.execute(update(AwardObservation).values(asker_id=people.charlie.account_id))
    assert use(people.alice, TOOL, trip_id=given)["status"] == "not_found"
