"""Cash against points through the gate: live for Premium, stored for Free, and never a guess."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.observations import AwardObservation, FareObservation
from shared.providers.contract import Unanswered
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_rates import answering, failing_with, fare, fares_of, rates_of
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources
from tests.support.people import People
from tests.support.sandbox_seats import set_seat

__all__ = ["live", "with_sources"]
TOOL = "compare_cash_vs_points"


def travel_day() -> date:
    return clock.today() + timedelta(days=45)


def search_arguments() -> dict[str, Any]:
    return {"origin": "lhr", "destination": "JFK", "date": travel_day().isoformat()}


OWN, FB = "british-airways-club", "flying-blue"
BANK = rates_of(USD="1.12", GBP="0.84")


def economy(**more: Any) -> Any:
    return seat(travel_day(), **({"cabin": "economy", "points": 40_000, "taxes": Decimal("84.00")} | more))


def store_sighting(caller: Caller | None, days_ago: float, table: Any, **more: Any) -> None:
    """A price an earlier search saw; without a caller anyone may see it."""
    facts: dict[str, Any] = {
        "source": "seats",
        "origin": "LHR",
        "destination": "JFK",
        "date": travel_day(),
        "cabin": "economy",
    }
    facts |= {"seen_at": clock.now() - timedelta(days=days_ago), "asker_id": caller.account_id if caller else None}
    if table is AwardObservation:
        facts |= {"airline": "BA", "program": OWN, "points": 40_000, "taxes": Decimal("84"), "taxes_currency": "GBP"}
    else:
        facts |= {"source": "shop", "passengers": 1, "price": Decimal("700"), "currency": "USD", "carriers": ["BA"]}
    with transaction() as session:
        session.add(table(**(facts | more)))


# live, for Premium


@pytest.mark.spec("s4.4.compare_cash.result", "s4.4.compare_cash.premium_live")
def test_compare_cash_vs_points_shows_both_sides_and_the_arithmetic(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("seats", economy(), terms="anyone"), fares_of("shop", fare("712"), fare("900")), BANK)
    answer = use(people.alice, TOOL, **search_arguments())
    assert answer["status"] == "ok"
    assert (answer["cash"]["amount"], answer["cash"]["currency"], answer["cash"]["source"]) == (712, "USD", "shop")
    award = answer["award"]
    assert (award["program"], award["points"], award["taxes"], award["taxes_currency"]) == (OWN, 40_000, 84, "GBP")
    assert (award["taxes_converted"]["amount"], award["taxes_converted"]["rate_source"]) == (
        112,
        "European Central Bank",
    )
    assert award["taxes_converted"]["rate_date"] == (clock.today() - timedelta(days=1)).isoformat()
    assert answer["cents_per_point"] == 1.5  # (712 - 112) / 40,000
    usual = reference().programs[OWN]
    assert answer["usual_valuation"] == {
        "cents": float(usual.value_usd_cents or 0),
        "program": OWN,
        "as_of": usual.as_of,
    }
    assert answer["recommendation"] == ("points" if Decimal("1.5") >= (usual.value_usd_cents or 0) else "cash")
    assert (answer["cash"]["age_seconds"], answer["freshness"]["mode"]) == (0, "live")
    assert answer["award_options"][0]["trip_id"]
    assert f"award 40,000 points of {usual.name} per person, 84 GBP taxes." in answer["message"]


def test_compare_cash_vs_points_advises_cash_for_a_cheap_fare(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("seats", economy()), fares_of("shop", fare("150")), BANK)
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["recommendation"], answer["cents_per_point"]) == ("cash", 0.095)
    with_sources(selling("other", economy()), fares_of("stall", fare("90")), BANK)
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["recommendation"], answer["cents_per_point"]) == ("cash", -0.055)


def test_compare_cash_vs_points_calls_that_award_cheapest_whose_points_and_taxes_are_worth_least(
    people: People, use: Use, with_sources: WithSources
) -> None:
    """Points of two programmes are not one unit, and few points may come with high taxes."""
    dear = economy(ref="a", points=39_000, taxes=Decimal("420.00"))
    cheap = economy(ref="b", points=41_000, taxes=Decimal("8.40"))
    silent = economy(ref="c", points=10_000, taxes=None)
    with_sources(selling("seats", dear, cheap, silent), fares_of("shop", fare("700")), BANK)
    answer = use(people.alice, TOOL, **search_arguments())
    assert [o["points"] for o in answer["award_options"]] == [41_000, 39_000, 10_000]
    assert answer["award"]["points"] == 41_000


@pytest.mark.spec("s4.4.compare_cash.no_guess")
@pytest.mark.parametrize("lack", ["fares", "seats", "taxes", "valuation", "rate"])
def test_compare_cash_vs_points_says_no_data_for_what_is_missing(
    people: People, use: Use, with_sources: WithSources, lack: str
) -> None:
    row = {"taxes": economy(taxes=None), "valuation": economy(program="nobodys-miles")}.get(lack, economy())
    seats = selling("seats", *([] if lack == "seats" else [row]))
    shop = fares_of("shop", *([] if lack == "fares" else [fare("700")]))
    with_sources(seats, shop, *([] if lack == "rate" else [BANK]))
    answer = use(people.alice, TOOL, **search_arguments())
    assert answer["status"] == "ok"
    assert answer["recommendation"] == "no_data"
    assert (answer["cash"] == "no_data") == (lack == "fares")
    assert (answer["award"] == "no_data") == (lack == "seats")
    assert (answer["usual_valuation"] == "no_data") == (lack in ("seats", "valuation"))
    assert (answer["cents_per_point"] == "no_data") == (lack != "valuation")


def test_compare_cash_vs_points_names_who_did_not_answer(people: People, use: Use, with_sources: WithSources) -> None:
    lost = failing_with("shop", "cash_fares", Unanswered("down", "http_500"))
    with_sources(selling("seats", economy()), lost, BANK)
    half = use(people.alice, TOOL, **search_arguments())
    assert (half["status"], half["cash"], half["recommendation"]) == ("partial", "no_data", "no_data")
    assert half["coverage"]["failed"] == [{"name": "shop", "reason": "down"}]
    assert "shop (down)" in half["message"]
    with_sources(failing_with("seat", "award_seats", Unanswered("down", "http_502")), lost)
    none = use(people.alice, TOOL, **search_arguments())
    assert (none["status"], {b["name"] for b in none["backends"]}) == ("backend_unavailable", {"seat", "shop"})
    with_sources(selling("mine", economy(), credential="account"), fares_of("stall", fare("700")), BANK)
    apart = use(people.alice, TOOL, **search_arguments())
    assert (apart["status"], apart["award"]) == ("ok", "no_data")
    assert apart["coverage"]["skipped"] == [{"name": "mine", "reason": "connection_required"}]


def test_compare_cash_vs_points_with_nothing_on_either_side_is_no_data(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("seats"), fares_of("shop"))
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["status"], answer["missing"]) == ("no_data", ["cash fare", "award seats"])


def test_compare_cash_vs_points_asks_both_sides_at_once(people: People, use: Use, with_sources: WithSources) -> None:
    """Each side waits until the other was asked too: one after the other they would never answer."""
    begun: set[str] = set()

    async def both(mine: str, rows: Any) -> Any:
        begun.add(mine)
        with anyio.fail_after(5):
            while len(begun) < 2:
                await anyio.sleep(0.005)
        return rows

    with_sources(
        answering("seats", {"award_seats": lambda _q: both("seats", (economy(),))}),
        answering("shop", {"cash_fares": lambda _q: both("shop", (fare("700"),))}),
        BANK,
    )
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["status"], answer["cents_per_point"]) == ("ok", 1.47)


# stored, for Free


@pytest.mark.spec("s4.4.compare_cash.free_cached", "s4.4.cached_tools.older_than_four_hours")
def test_compare_cash_vs_points_for_free_reads_what_is_stored_with_age_and_source(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("seats", economy()), fares_of("shop", fare("1")), BANK)
    store_sighting(None, 3, AwardObservation)
    store_sighting(None, 2, FareObservation)
    answer = use(people.bob, TOOL, **search_arguments())
    assert (answer["cash"]["amount"], answer["cash"]["age_seconds"] // 86_400, answer["cash"]["source"]) == (
        700,
        2,
        "shop",
    )
    assert (answer["award"]["age_seconds"] // 86_400, answer["award"]["source"]) == (3, "seats")
    assert (answer["cash"]["mode"], answer["award"]["mode"]) == ("cached", "cached")
    assert answer["cents_per_point"] == 1.47
    assert (answer["freshness"]["mode"], answer["freshness"]["age_seconds"] // 86_400) == ("cached", 3)
    assert "14 days" in answer["freshness"]["note"]


@pytest.mark.spec("s4.4.compare_cash.free_cached")
def test_compare_cash_vs_points_for_free_never_asks_the_world_for_prices(
    people: People, use: Use, with_sources: WithSources
) -> None:
    refuse = AssertionError("asked")
    with_sources(failing_with("seats", "award_seats", refuse), failing_with("shop", "cash_fares", refuse))
    answer = use(people.bob, TOOL, **search_arguments())
    assert (answer["status"], answer["missing"]) == ("no_data", ["cash fare", "award seats"])
    assert "Premium searches live" in answer["message"]


def test_compare_cash_vs_points_says_when_the_fare_is_one_of_whole_cities(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("seats", economy()), fares_of("shop", fare("150", city_wide=True)), BANK)
    assert "check which airports" in use(people.alice, TOOL, **search_arguments())["message"]


def test_compare_cash_vs_points_says_so_of_a_stored_fare_too(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(BANK)
    store_sighting(None, 2, FareObservation, city_wide=True)
    assert "check which airports" in use(people.bob, TOOL, **search_arguments())["message"]
    store_sighting(None, 1, FareObservation)
    assert "check which airports" not in use(people.bob, TOOL, **search_arguments())["message"]


def test_compare_cash_vs_points_for_free_replays_an_answer_before_older_sightings(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        selling("seats", economy(points=44_000), terms="anyone"),
        fares_of("shop", fare("650"), terms="anyone"),
        BANK,
    )
    store_sighting(None, 3, AwardObservation)
    use(people.alice, TOOL, **search_arguments())
    answer = use(people.bob, TOOL, **search_arguments())
    assert [o["points"] for o in answer["award_options"]] == [44_000]
    assert (answer["cash"]["amount"], answer["cash"]["mode"]) == (650, "cached")


def test_compare_cash_vs_points_shows_no_free_account_what_anothers_connection_saw(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(BANK)
    store_sighting(people.alice, 1, AwardObservation, points=12_345)
    store_sighting(people.alice, 1, FareObservation, price=Decimal("321"))
    assert use(people.bob, TOOL, **search_arguments())["status"] == "no_data"
    store_sighting(people.bob, 1, AwardObservation, points=23_456)
    mine = use(people.bob, TOOL, **search_arguments())
    assert [o["points"] for o in mine["award_options"]] == [23_456]
    assert mine["cash"] == "no_data"


def test_compare_cash_vs_points_for_free_leaves_out_what_was_seen_long_ago_or_for_more_people(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(BANK)
    store_sighting(None, 15, AwardObservation)
    store_sighting(None, 1, FareObservation, passengers=2)
    store_sighting(None, 1, FareObservation, return_date=travel_day() + timedelta(days=7))
    store_sighting(None, 1, FareObservation, cabin="business")
    assert use(people.bob, TOOL, **search_arguments())["status"] == "no_data"


@pytest.mark.spec("s4.4.compare_cash.free_top_three")
def test_compare_cash_vs_points_shows_three_award_options_on_the_free_plan(people: People, use: Use) -> None:
    set_seat("open", "LHR", "JFK", travel_day(), "economy")
    paid = use(people.alice, TOOL, **search_arguments())
    free = use(people.bob, TOOL, **search_arguments())
    assert len(paid["award_options"]) == 10 < paid["options_found"]
    assert len(free["award_options"]) == 3
    assert free["options_found"] == paid["options_found"]
    plain = [{k: o[k] for k in ("program", "points")} for o in paid["award_options"][:3]]
    assert [{k: o[k] for k in ("program", "points")} for o in free["award_options"]] == plain
    assert free["freshness"]["mode"] == "sandbox"
    assert free["cash"]["synthetic"] is free["award"]["synthetic"] is True


@pytest.mark.spec("s4.4.compare_cash.params")
def test_compare_cash_vs_points_takes_airports_in_either_case_and_economy_by_default(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **(search_arguments() | {"destination": "jfk"}))
    assert {o["cabin"] for o in answer["award_options"]} == {"economy"}
    for name in search_arguments():
        assert (
            use(people.alice, TOOL, **{k: v for k, v in search_arguments().items() if k != name})["status"] == "invalid"
        )
    assert use(people.alice, TOOL, **(search_arguments() | {"destination": "LHR"}))["status"] == "invalid"
    assert use(people.alice, TOOL, **(search_arguments() | {"date": "2020-01-01"}))["status"] == "invalid"
    assert use(people.alice, TOOL, **(search_arguments() | {"cabin": "steerage"}))["status"] == "invalid"
