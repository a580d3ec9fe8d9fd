"""The sandbox as a source: labels on every row, prices from charts alone, seats opened on purpose, nothing else."""

import re
import subprocess
import sys
from datetime import date, timedelta
from typing import Any

import anyio
import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from shared import clock
from shared.db import observations
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.domain.award_charts import RoutePrice
from shared.domain.award_matches import MatchKey
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, Reading, SeatsQuestion
from shared.providers.sandbox import draws, market
from shared.redis import connect
from shared.reference.load import reference
from shared.services.search.availability import Window, search_window
from shared.settings import settings
from tests.support.sandbox_seats import set_seat
from tests.support.settings_and_clock import StandingClock


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


TODAY = date(2026, 11, 21)
SPRING = date(2027, 3, 1)
OWN = "british-airways-club"


@pytest.fixture(autouse=True)
def _clean(clean: None) -> None:
    reference()


def month(origin: str = "LHR", destination: str = "JFK", *airlines: str) -> tuple[AwardSeat, ...]:
    question = SeatsQuestion(origin, destination, SPRING, SPRING + timedelta(days=29), airlines)
    return market.find_seats(question, TODAY, {})


def ask(
    airlines: tuple[str, ...] = ("BA",), day: date | None = None, route: tuple[str, str] = ("LHR", "JFK")
) -> Reading[Any]:
    day = day or travel_day()

    async def go() -> Reading[Any]:
        (reading,) = await Ask(1).all("award_seats", [SeatsQuestion(*route, day, day, airlines)])
        return reading

    connect().delete(*(connect().keys("*:reading:*") or ["none"]))
    return anyio.run(go)


# labels


def test_every_row_is_marked_in_each_way_a_client_could_show_it() -> None:
    rows = month()
    assert len(rows) > 500
    for row in rows:
        assert row.ref.startswith("sbx_")
        assert row.flight_numbers
        assert all(re.fullmatch(r"[A-Z0-9]{2}-SBX-\d{3}", n) for n in row.flight_numbers)
        assert row.checked_at is None


def test_an_answer_of_the_sandbox_says_so() -> None:
    reading = ask()
    assert (reading.source, reading.data_mode, reading.provider_checked_at) == ("sandbox", "sandbox", None)


# what it offers


def test_the_same_day_gives_the_same_seats_to_everybody() -> None:
    assert month() == month()
    assert month("LHR", "JFK", "BA") == tuple(row for row in month() if row.airline == "BA")


def find_chart(program: str, airline: str) -> RoutePrice | None:
    """The price in force; of a programme whose charts have all ended, the last one."""
    day = reference().last_chart_day(program) or TODAY
    return reference().route_price(program, airline, "LHR", "JFK", day)


def test_each_price_stands_in_a_chart_but_those_of_an_airlines_own_programme_without_one() -> None:
    for row in month():
        price = find_chart(row.program, row.airline)
        if price is None or row.cabin not in price.cabins:
            assert reference().airlines[row.airline].program == row.program
            assert row.points % 500 == 0
            continue
        assert price is not None
        assert row.points in price.cabins[row.cabin].points.values()


def test_programmes_and_operating_airlines_stay_apart() -> None:
    pairs = {(row.airline, row.program) for row in month()}
    assert ("BA", OWN) in pairs
    assert ("BA", "qatar-airways-privilege-club") in pairs
    assert ("AA", "iberia-club") in pairs
    assert ("AA", OWN) not in pairs  # no chart of that programme ever priced it


def test_peak_days_cost_more_than_others_where_a_chart_has_both() -> None:
    question = SeatsQuestion("LHR", "JFK", SPRING, SPRING + timedelta(200), ("BA",))
    own = market.find_seats(question, TODAY, {})
    costs = {row.points for row in own if row.program == OWN and row.cabin == "economy"}
    chart = find_chart(OWN, "BA")
    assert chart is not None
    assert costs == {chart.cabins["economy"].points["off_peak"], chart.cabins["economy"].points["peak"]}


def test_local_times_follow_the_airports() -> None:
    row = next(row for row in month("LHR", "JFK", "BA"))
    assert row.departs_at is not None
    assert row.departs_at.startswith(row.date.isoformat())
    if row.arrives_at is not None:
        assert row.arrives_at[:13] != row.departs_at[:13]


def test_an_airline_connects_over_its_hub_where_that_is_no_great_detour() -> None:
    nonstop, over = market.find_path("BA", "LHR", "JFK"), market.find_path("BA", "EDI", "BOS")
    assert nonstop is not None
    assert over is not None
    assert (nonstop.stops, over.stops, over.hub) == (0, 1, "LHR")
    assert len(over.flight_numbers) == 2
    assert market.find_path("BA", "SFO", "NRT") is None


@pytest.mark.parametrize(
    ("airlines", "route"),
    [
        (("BA",), ("SFO", "NRT")),
        (("XX",), ("LHR", "JFK")),
        (("BA",), ("LHR", "QQQ")),
    ],
)
def test_where_no_chart_or_no_flight_is_the_sandbox_has_no_data(
    airlines: tuple[str, ...], route: tuple[str, str]
) -> None:
    reading = ask(airlines, route=route)
    assert (reading.status, reading.value, reading.reason) == ("no_data", (), "not_served")


def test_nothing_is_on_sale_before_the_release_window() -> None:
    window = reference().release_window("BA")
    assert window is not None
    last = TODAY + timedelta(days=window.days_before_departure)
    question = SeatsQuestion("LHR", "JFK", last - timedelta(5), last + timedelta(60), ("BA",))
    rows = market.find_seats(question, TODAY, {})
    assert rows
    assert max(row.date for row in rows) <= last


def test_the_past_is_not_for_sale() -> None:
    question = SeatsQuestion("LHR", "JFK", TODAY - timedelta(30), TODAY + timedelta(3), ("BA",))
    assert min(row.date for row in market.find_seats(question, TODAY, {})) >= TODAY


def test_a_month_of_ten_programmes_takes_milliseconds() -> None:
    month("LHR", "JFK", "BA")
    question = SeatsQuestion("LHR", "JFK", SPRING, SPRING + timedelta(days=29), ("BA",))
    began = anyio.run(_now)
    for _ in range(5):
        market.find_seats(question, TODAY, {})
    assert (anyio.run(_now) - began) / 5 < 0.1


async def _now() -> float:
    return anyio.current_time()


# seats opened on purpose


def seats(cabin: str = "business", program: str = OWN) -> list[int | None]:
    return [r.seats for r in ask().value if (r.cabin, r.program) == (cabin, program)]


def test_a_seat_is_opened_and_shut_on_purpose() -> None:
    set_seat("shut", "LHR", "JFK", travel_day(), "business")
    assert seats() == []
    set_seat("open:4", "LHR", "JFK", travel_day(), "business", "BA", OWN)
    assert (seats(), seats(program="qantas-frequent-flyer")) == ([4], [])
    set_seat("open:2", "LHR", "JFK", travel_day(), "business", "BA")
    assert seats(program="qantas-frequent-flyer") == [2]
    set_seat("", "LHR", "JFK", travel_day(), "business", "BA", OWN)
    assert seats() == [2]


def test_no_override_opens_a_seat_without_a_price() -> None:
    chart = reference().route_price("iberia-club", "BA", "LHR", "JFK", clock.today())
    assert chart is not None
    assert "first" not in chart.cabins
    set_seat("open", "LHR", "JFK", travel_day(), "first", "BA")
    assert seats("first", "iberia-club") == []
    open_cabins = draws.draw_seats(f"BA_{OWN}_LHR_JFK", travel_day(), clock.today())
    assert seats("first") == [open_cabins.get("first", 1)]


def test_a_seat_opened_by_another_process_is_found_by_the_next_check(standing_clock: StandingClock) -> None:
    def look() -> Window:
        return anyio.run(
            lambda: search_window(
                Ask(1), [("LHR", "JFK")], travel_day(), travel_day(), "business", ["BA"], max_age=zero
            )
        )

    zero = timedelta(microseconds=1)
    key = MatchKey("BA", OWN, travel_day(), "business")
    set_seat("shut", "LHR", "JFK", travel_day(), "business")
    before = look()
    assert before.knows_state(key)
    assert key not in before.seen_keys
    code = (
        "import redis, sys; redis.Redis.from_url(sys.argv[1])"
        f".hset('award:sandbox:overrides', 'LHR-JFK|{travel_day()}|business|BA|{OWN}', 'open:3')"
    )
    subprocess.run([sys.executable, "-c", code, settings().redis_url], check=True)
    standing_clock.advance(timedelta(seconds=1))
    after = look()
    assert [(o.seats, o.mode) for o in after.options if MatchKey.of(o) == key] == [(3, "sandbox")]


# modes


def test_live_mode_never_hears_of_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    monkeypatch.setenv("AWARD_BACKEND", "live")
    settings.cache_clear()
    try:

        async def go() -> list[Reading[Any]]:
            return await Ask(1).all("award_seats", [SeatsQuestion("LHR", "JFK", travel_day(), travel_day(), ("BA",))])

        assert "sandbox" not in [r.source for r in anyio.run(go)]
        with transaction() as session:
            assert session.scalars(select(AwardObservation)).all() == []
    finally:
        monkeypatch.undo()
        settings.cache_clear()
    with transaction() as session:
        assert session.scalars(select(AwardObservation)).all()


def test_what_the_sandbox_showed_cannot_be_stored_as_real() -> None:
    seen = month("LHR", "JFK", "BA")[0]
    row = {name: getattr(seen, name) for name in ("airline", "program", "origin", "destination", "date", "cabin")}

    def store() -> None:
        with transaction() as session:
            session.info["synthetic"] = False
            observations.write(session, [row | {"points": 1, "source": "sandbox"}])

    with pytest.raises(IntegrityError, match="source_mode"):
        store()
