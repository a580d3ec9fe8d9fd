"""Fee averages through the gate: from seats that were seen, of the route or of a region that is named."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import clock
from shared.db import observations
from shared.db.base import transaction
from shared.domain.plans import CABINS
from shared.reference.load import reference
from shared.reference.surcharges import LEVELS, group_levels, rank_programs
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

TOOL = "estimate_award_fees"


def two_days_ago() -> datetime:
    return clock.now() - timedelta(days=2)


def over_a_year_ago() -> datetime:
    return clock.now() - timedelta(days=400)


def seen(
    program: str, taxes: str | None, origin: str = "LHR", destination: str = "JFK", currency: str = "GBP", **more: Any
) -> dict[str, Any]:
    row = {"source": "sandbox", "airline": "BA", "program": program, "origin": origin, "destination": destination}
    row |= {"date": clock.today(), "cabin": "economy", "points": 20_000, "seats": 1, "seen_at": two_days_ago()}
    money = None if taxes is None else Decimal(taxes)
    return row | {"provider_checked_at": None, "taxes": money, "taxes_currency": currency} | more


def write(*rows: dict[str, Any]) -> None:
    with transaction() as session:
        observations.write(session, rows)


def fees(use: Use, who: Any, **given: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = use(who, TOOL, **({"origin": "LHR", "destination": "JFK"} | given))["fees"]
    return rows


@pytest.mark.spec("s4.4.estimate_award_fees.averages")
def test_estimate_award_fees_averages_what_was_seen_with_range_and_age(people: People, use: Use) -> None:
    write(seen("flying-blue", "100"), seen("flying-blue", "201", seen_at=over_a_year_ago()), seen("flying-blue", None))
    answer = use(people.alice, TOOL, origin="lhr", destination="JFK")
    (one,) = answer["fees"]
    assert (one["program"], one["average"], one["low"], one["high"]) == ("flying-blue", 150.5, 100, 201)
    assert (one["currency"], one["samples"], one["basis"], one["area"]) == ("GBP", 2, "route", "LHR to JFK")
    assert one["oldest"] < one["newest"]
    assert (answer["total_found"], answer["freshness"]["mode"]) == (1, "sandbox")
    assert 2 * 86_400 <= answer["freshness"]["age_seconds"] < 3 * 86_400


def test_estimate_award_fees_keeps_direction_cabin_and_currency_apart(people: People, use: Use) -> None:
    write(
        seen("flying-blue", "100"),
        seen("flying-blue", "10", origin="JFK", destination="LHR"),
        seen("flying-blue", "900", cabin="business"),
        seen("flying-blue", "150", currency="EUR"),
    )
    assert {(f["currency"], f["average"]) for f in fees(use, people.alice)} == {("GBP", 100), ("EUR", 150)}
    assert [f["average"] for f in fees(use, people.alice, cabin="business")] == [900]


@pytest.mark.spec("s4.4.estimate_award_fees.fallback")
def test_estimate_award_fees_falls_back_to_the_countries_then_the_continents_and_says_so(
    people: People, use: Use
) -> None:
    write(seen("flying-blue", "90", origin="MAN", destination="BOS"), seen("iberia-club", "60", origin="MAD"))
    answer = use(people.alice, TOOL, origin="LHR", destination="JFK")
    (one,) = answer["fees"]
    assert (one["program"], one["basis"], one["area"]) == ("flying-blue", "region", "GB to US")
    assert "GB to US" in answer["message"]
    (wide,) = fees(use, people.alice, programs=["iberia"])
    assert (wide["average"], wide["basis"], wide["area"]) == (60, "region", "EU to NA (continents)")


def test_estimate_award_fees_of_a_route_stand_before_those_of_a_region(people: People, use: Use) -> None:
    write(seen("flying-blue", "500"), seen("iberia-club", "60", origin="MAD"))
    rows = fees(use, people.alice, programs=["flying-blue", "iberia-club"])
    assert [(f["program"], f["basis"]) for f in rows] == [("flying-blue", "route"), ("iberia-club", "region")]


@pytest.mark.spec("s4.4.estimate_award_fees.free_top_three")
def test_estimate_award_fees_shows_three_programmes_on_the_free_plan(people: People, use: Use) -> None:
    programs = ("flying-blue", "iberia-club", "atmos-rewards", "delta-skymiles")
    write(*(seen(p, str(10 * n)) for n, p in enumerate(programs, 1)))
    free = use(people.bob, TOOL, origin="LHR", destination="JFK")
    assert ([f["program"] for f in free["fees"]], free["total_found"]) == (list(programs[:3]), 4)
    assert "3 of 4" in free["message"]
    assert len(fees(use, people.alice)) == 4


@pytest.mark.spec("s4.4.estimate_award_fees.params")
def test_estimate_award_fees_of_chosen_programmes_and_cities(people: People, use: Use) -> None:
    write(seen("flying-blue", "100"), seen("iberia-club", "50"), seen("flying-blue", "300", origin="LGW"))
    (one,) = fees(use, people.alice, origin="LON", destination="NYC", programs=["AF"])
    assert (one["program"], one["average"], one["area"]) == ("flying-blue", 200, "LON to NYC")
    assert use(people.alice, TOOL, origin="LHR")["status"] == "invalid"
    assert use(people.alice, TOOL, origin="LHR", destination="QQQ")["status"] == "not_found"
    assert use(people.alice, TOOL, origin="LHR", destination="LHR")["status"] == "invalid"
    assert use(people.alice, TOOL, origin="LHR", destination="JFK", programs=["zorblatt"])["status"] == "not_found"


def test_estimate_award_fees_that_nobody_has_seen_are_no_data(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, origin="LPB", destination="PEN")
    assert (answer["status"], answer["missing"]) == ("no_data", ["observed fees"])


def test_estimate_award_fees_ranks_programmes_by_surcharge_before_any_search(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, origin="JFK", destination="LHR", cabin="business")
    assert answer["fees"] == []
    assert answer["message"].startswith("Surcharges: none with American Airlines AAdvantage (")
    assert "very high with The British Airways Club." in answer["message"]
    levels = [r["level"] for r in answer["surcharges"]]
    assert levels == sorted(levels, key=LEVELS.index)
    on_ba = next(
        r for r in answer["surcharges"] if r["program"] == "american-airlines-aadvantage" and "BA" in r["airlines"]
    )
    assert (on_ba["level"], on_ba["usd_low"], on_ba["per"]) == ("very_high", 700, "one_way")
    assert on_ba["source_url"].startswith("https://")
    economy = use(people.alice, TOOL, origin="JFK", destination="LHR", programs=["AA"])["surcharges"]
    assert [(r["airlines"], r["level"]) for r in economy] == [(["AA"], "none"), (["BA"], "high")]
    chosen = use(people.alice, TOOL, origin="JFK", destination="LHR", programs=["british-airways-club"])["surcharges"]
    assert [(r["program"], r["level"]) for r in chosen] == [("british-airways-club", "high")]
    free = use(people.bob, TOOL, origin="JFK", destination="LHR")["surcharges"]
    assert len({r["program"] for r in free}) == 3


def test_estimate_award_fees_says_that_an_average_below_the_duty_cannot_hold(people: People, use: Use) -> None:
    write(seen("flying-blue", "15", cabin="business"), seen("iberia-club", "700", cabin="business"))
    message = use(people.alice, TOOL, origin="LHR", destination="JFK", cabin="business")["message"]
    assert " Some averages are below the duty alone, so expect more than that. Air Passenger Duty" in message


@given(st.sets(st.sampled_from(["AA", "BA", "VS", "LH", "NH", "EK", "IB", "ZZ"])), st.sampled_from(CABINS))
@settings(max_examples=30)
def test_each_airline_of_a_programme_has_one_level(airlines: set[str], cabin: str) -> None:
    ranked = rank_programs(reference(), airlines, cabin)
    pairs = [(one.program, airline) for one in ranked for airline in one.airlines]
    assert len(pairs) == len(set(pairs))
    assert {airline for _, airline in pairs} <= airlines
    assert [LEVELS.index(one.row.level) for one in ranked] == sorted(LEVELS.index(one.row.level) for one in ranked)
    grouped = [one.program for group in group_levels(ranked).values() for one in group]
    assert sorted(grouped) == sorted({one.program for one in ranked})


def test_estimate_award_fees_never_mixes_in_rows_of_the_other_data_mode(people: People, use: Use) -> None:
    with transaction() as session:
        session.info["synthetic"] = False
        observations.write(session, [seen("flying-blue", "77", source="seats_aero")])
    assert use(people.alice, TOOL, origin="LHR", destination="JFK")["fees"] == []


def test_estimate_award_fees_asks_the_database_at_most_three_times(
    people: People, use: Use, queries: list[str]
) -> None:
    use(people.alice, TOOL, origin="LHR", destination="JFK")
    assert sum("award_observations" in q for q in queries) <= 3
