"""Where points lead, from seats seen in earlier searches: what is in reach, how old each row is, who sees how much."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from shared import clock
from shared.db.base import engine, transaction
from shared.db.observations import write
from shared.domain.dates import add_months, find_month_bounds, format_short_weekday
from shared.providers.contract import SeatsQuestion
from shared.providers.sandbox import market
from shared.reference.load import reference
from shared.services.search.route_sweeps import build_question, choose_routes
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_seats import live
from tests.support.people import People

__all__ = ["live"]

TOOL = "explore_destinations"


def travel_day() -> date:
    return add_months(clock.today(), 1)


AGO = timedelta(hours=5)
See = Callable[..., None]


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


def row(destination: str, points: int, day: date | None = None, ago: timedelta = AGO, **more: Any) -> dict[str, Any]:
    day = day or travel_day()
    facts = {
        "source": "one",
        "airline": "BA",
        "program": "british-airways-club",
        "origin": "LHR",
        "cabin": "economy",
        "taxes": None,
        "taxes_currency": None,
        "seats": 2,
        "seen_at": clock.now() - ago,
        "provider_checked_at": None,
        "asker_id": None,
    }
    return facts | {"destination": destination, "points": points, "date": day} | more


def saw(*rows: dict[str, Any]) -> None:
    with transaction() as session:
        write(session, rows)


@pytest.mark.spec("s4.4.explore_destinations.cheapest_first")
def test_explore_destinations_lists_each_destination_once_cheapest_first(people: People, use: Use, live: None) -> None:
    saw(
        row("JFK", 30_000),
        row("MAD", 10_000),
        row("JFK", 25_000, program="iberia-club"),
        row("MAD", 12_000, airline="IB"),
    )
    answer = use(people.alice, TOOL, origin="lhr")
    assert (answer["status"], answer["total_found"], answer["balance_source"]) == ("ok", 2, "none")
    assert [(d["destination"], d["city"], d["points"], d["program"], d["airline"]) for d in answer["destinations"]] == [
        ("MAD", "Madrid", 10_000, "british-airways-club", "BA"),
        ("JFK", "New York", 25_000, "iberia-club", "BA"),
    ]
    assert {d["reachable"] for d in answer["destinations"]} == {"no"}
    assert answer["freshness"]["mode"] == "cached"


@pytest.mark.spec("s4.4.explore_destinations.cached_rows_aged", "s4.4.cached_tools.older_than_four_hours")
def test_explore_destinations_shows_the_age_of_each_row(people: People, use: Use, live: None) -> None:
    crawled: datetime = clock.now() - timedelta(days=2)
    saw(row("JFK", 30_000), row("MAD", 10_000, provider_checked_at=crawled))
    answer = use(people.alice, TOOL, origin="LHR")
    ages = {d["destination"]: d["age_seconds"] for d in answer["destinations"]}
    assert ages["JFK"] // 3600 == 5
    assert ages["MAD"] // 86_400 == 2
    assert answer["freshness"]["age_seconds"] // 3600 == 5
    assert answer["freshness"]["provider_age_seconds"] // 86_400 == 2


def test_explore_destinations_believes_the_last_answer_about_a_seat(people: People, use: Use, live: None) -> None:
    same = {"seen_at": clock.now() - AGO}
    saw(row("JFK", 10_000, ago=timedelta(days=3)), row("JFK", 40_000, **same), row("JFK", 45_000, **same))
    (found,) = use(people.alice, TOOL, origin="LHR")["destinations"]
    assert found["points"] == 40_000


def test_explore_destinations_names_the_days_of_the_lowest_price(people: People, use: Use, live: None) -> None:
    days = [travel_day() + timedelta(days=n) for n in range(8)]
    saw(*(row("JFK", 20_000, day) for day in days[1:]), row("JFK", 30_000, days[0]))
    (found,) = use(people.alice, TOOL, origin="LHR")["destinations"]
    assert found["best_dates"] == [d.isoformat() for d in days[1:6]]


def test_explore_destinations_forgets_what_was_seen_long_ago_and_days_gone_by(
    people: People, use: Use, live: None
) -> None:
    saw(row("JFK", 1, ago=timedelta(days=15)), row("MAD", 1, clock.today() - timedelta(days=1)), row("DOH", 9))
    assert [d["destination"] for d in use(people.alice, TOOL, origin="LHR")["destinations"]] == ["DOH"]


def test_explore_destinations_with_nothing_seen_is_no_data(people: People, use: Use, live: None) -> None:
    answer = use(people.alice, TOOL, origin="LHR")
    assert (answer["status"], answer["missing"]) == ("no_data", ["award calendars"])


def test_explore_destinations_of_a_city_looks_from_all_its_airports(people: People, use: Use, live: None) -> None:
    saw(row("JFK", 20_000), row("JFK", 15_000, origin="LGW"), row("LGW", 1), row("MAN", 2, origin="MAD"))
    answer = use(people.alice, TOOL, origin="LON")
    assert [(d["destination"], d["points"]) for d in answer["destinations"]] == [("JFK", 15_000)]


# months


@pytest.mark.spec("s4.4.explore_destinations.params")
def test_explore_destinations_is_of_economy_unless_a_cabin_is_named(people: People, use: Use, live: None) -> None:
    saw(row("JFK", 20_000), row("MAD", 9_000, cabin="business"))
    assert [d["cabin"] for d in use(people.alice, TOOL, origin="LHR")["destinations"]] == ["economy"]
    assert [d["cabin"] for d in use(people.alice, TOOL, origin="LHR", cabin="business")["destinations"]] == ["business"]
    assert use(people.alice, TOOL)["status"] == "invalid"


@pytest.mark.spec("s4.4.explore_destinations.months")
def test_explore_destinations_looks_at_this_month_and_the_two_after_it(people: People, use: Use, live: None) -> None:
    last = find_month_bounds(f"{add_months(clock.today(), 2):%Y-%m}")[1]
    saw(row("JFK", 1, clock.today()), row("MAD", 2, last), row("DOH", 3, last + timedelta(days=1)))
    assert [d["destination"] for d in use(people.alice, TOOL, origin="LHR")["destinations"]] == ["JFK", "MAD"]


@pytest.mark.spec("s4.4.explore_destinations.months")
def test_explore_destinations_ends_two_months_after_the_first_named(people: People, use: Use, live: None) -> None:
    first = add_months(clock.today().replace(day=1), 4)
    before, last = first - timedelta(days=1), find_month_bounds(f"{add_months(first, 2):%Y-%m}")[1]
    saw(row("AMS", 1, before), row("JFK", 1, first), row("MAD", 2, last), row("DOH", 3, last + timedelta(days=1)))
    answer = use(people.alice, TOOL, origin="LHR", month_from=f"{first:%Y-%m}")
    assert [d["destination"] for d in answer["destinations"]] == ["JFK", "MAD"]
    one = use(people.alice, TOOL, origin="LHR", month_from=f"{first:%Y-%m}", month_to=f"{first:%Y-%m}")
    assert [d["destination"] for d in one["destinations"]] == ["JFK"]


@pytest.mark.parametrize(
    ("months", "field"),
    [
        ({"month_from": "2020-01"}, "month_from"),
        ({"month_to": "2020-01"}, "month_to"),
        (
            {"month_from": lambda: f"{add_months(travel_day(), 5):%Y-%m}", "month_to": lambda: f"{travel_day():%Y-%m}"},
            "month_to",
        ),
        ({"month_from": "2027-13"}, "month_from"),
    ],
)
def test_explore_destinations_names_a_wrong_month(people: People, use: Use, months: dict[str, str], field: str) -> None:
    months = evaluate(months)
    answer = use(people.alice, TOOL, origin="LHR", **months)
    assert (answer["status"], [e["field"] for e in answer["errors"]]) == ("invalid", [field])


# balances


@pytest.mark.spec("s4.4.explore_destinations.saved_balances", "s4.4.explore_destinations.cheapest_first")
def test_explore_destinations_tells_what_saved_balances_cover_and_how(people: People, use: Use, live: None) -> None:
    use(people.alice, "update_points_balance", program="british-airways-club", balance=15_000)
    use(people.alice, "update_points_balance", program="amex-membership-rewards", balance=60_000)
    saw(row("MAD", 10_000), row("JFK", 50_000), row("NRT", 200_000))
    answer = use(people.alice, TOOL, origin="LHR")
    assert answer["balance_source"] == "saved"
    assert [(d["destination"], d["reachable"], d["via"]) for d in answer["destinations"]] == [
        ("MAD", "direct", None),
        ("JFK", "transfer", "amex-membership-rewards"),
        ("NRT", "no", None),
    ]
    others = use(people.charlie, TOOL, origin="LHR")
    assert (others["balance_source"], {d["reachable"] for d in others["destinations"]}) == ("none", {"no"})


def test_explore_destinations_shows_an_offer_in_reach_before_a_cheaper_one_that_is_not(
    people: People, use: Use, live: None
) -> None:
    use(people.alice, "update_points_balance", program="delta-skymiles", balance=80_000)
    saw(row("JFK", 30_000), row("JFK", 50_000, program="delta-skymiles", airline="DL"))
    (found,) = use(people.alice, TOOL, origin="LHR")["destinations"]
    assert (found["program"], found["points"], found["reachable"]) == ("delta-skymiles", 50_000, "direct")


@pytest.mark.spec("s4.4.explore_destinations.balance_argument")
def test_explore_destinations_takes_a_balance_in_the_currency_of_a_programme(
    people: People, use: Use, live: None
) -> None:
    use(people.alice, "update_points_balance", program="british-airways-club", balance=900_000)
    saw(row("MAD", 10_000))
    few = use(people.alice, TOOL, origin="LHR", points_balance=9_000, program="BA")
    assert (few["balance_source"], few["destinations"][0]["reachable"]) == ("argument", "no")
    more = use(people.alice, TOOL, origin="LHR", points_balance=10_000, program="british-airways-club")
    assert more["destinations"][0]["reachable"] == "direct"
    assert use(people.alice, TOOL, origin="LHR", points_balance=9_000)["errors"][0]["field"] == "program"
    assert use(people.alice, TOOL, origin="LHR", points_balance=0, program="BA")["status"] == "invalid"


# who sees what


@pytest.mark.spec("s4.4.explore_destinations.free_top_three")
def test_explore_destinations_on_free_shows_the_three_cheapest(people: People, use: Use, live: None) -> None:
    saw(*(row(code, n) for n, code in enumerate(("JFK", "MAD", "DOH", "NRT", "SYD"), 1)))
    free, premium = (use(who, TOOL, origin="LHR") for who in (people.bob, people.alice))
    assert [d["destination"] for d in free["destinations"]] == ["JFK", "MAD", "DOH"]
    assert (free["total_found"], len(premium["destinations"])) == (5, 5)
    assert "3 cheapest are shown" in free["message"]


def test_explore_destinations_shows_nobody_what_anothers_connection_saw(people: People, use: Use, live: None) -> None:
    saw(row("JFK", 1, asker_id=people.alice.account_id))
    assert use(people.alice, TOOL, origin="LHR")["total_found"] == 1
    assert use(people.charlie, TOOL, origin="LHR")["status"] == "no_data"


def test_explore_destinations_never_shows_live_rows_in_the_sandbox(people: People, use: Use) -> None:
    with engine().begin() as connection:
        connection.exec_driver_sql(
            "insert into award_observations (source, airline, program, origin, destination, date, cabin, points,"
            " synthetic) values ('one', 'BA', 'british-airways-club', 'INV', 'LHR', current_date + 30, 'economy', 1,"
            " false)"
        )
    answer = use(people.alice, TOOL, origin="INV")
    assert all(d["source"] == "sandbox" and d["points"] > 1 for d in answer.get("destinations", []))


def test_explore_destinations_reads_the_sightings_in_one_statement(
    people: People, use: Use, live: None, queries: list[str]
) -> None:
    saw(*(row("JFK", n, travel_day() + timedelta(days=n)) for n in range(1, 30)))
    queries.clear()
    use(people.alice, TOOL, origin="LHR")
    assert sum("award_observations" in q for q in queries) == 1


# wishes


def names(answer: dict[str, Any]) -> list[str]:
    return [d["destination"] for d in answer["destinations"]]


def test_explore_destinations_of_a_region_is_told_by_its_name(people: People, use: Use, live: None) -> None:
    saw(row("CUN", 1), row("SJU", 2), row("HNL", 3), row("NRT", 4), row("MAD", 5))
    for region, airports in (
        ("North America", ["CUN", "SJU"]),
        ("the Caribbean", ["SJU"]),
        ("Hawaii", ["HNL"]),
        ("Japan", ["NRT"]),
        ("Europe", ["MAD"]),
    ):
        assert names(use(people.alice, TOOL, origin="LHR", region=region)) == airports
    wrong = use(people.alice, TOOL, origin="LHR", region="Atlantis")
    assert [e["field"] for e in wrong["errors"]] == ["region"]


def test_explore_destinations_goes_where_a_month_is_warm_and_says_what_it_does_not_know(
    people: People, use: Use, live: None
) -> None:
    day = date(clock.today().year + 1, 2, 11)
    saw(row("CUN", 12_500, day), row("ZRH", 1_000, day), row("TIA", 2_000, day), row("SYD", 50_000, day))
    month = {"month_from": f"{day:%Y-%m}", "month_to": f"{day:%Y-%m}"}
    answer = use(people.alice, TOOL, origin="LHR", warm=True, **month)
    assert [(d["destination"], d["mean_celsius"]) for d in answer["destinations"]] == [("CUN", 24.5), ("SYD", 23.4)]
    assert answer["unknown_temperature"] == 1
    assert "1 place whose temperature is not known" in answer["message"]
    assert "TIA" in names(use(people.alice, TOOL, origin="LHR", **month))
    july = row("ZRH", 1_000, date(day.year, 7, 11))
    saw(july)
    found = use(people.alice, TOOL, origin="LHR", warm=True, month_from=f"{day.year}-07", month_to=f"{day.year}-07")
    assert found["status"] == "no_data"


def test_explore_destinations_takes_only_what_is_known_to_fit(people: People, use: Use, live: None) -> None:
    seat = {"stops": 0, "seats": 4, "taxes": 40, "taxes_currency": "USD"}
    saw(
        row("JFK", 10_000, **seat),
        row("MAD", 9_000, **seat | {"stops": 1}),
        row("DOH", 8_000, **seat | {"seats": 1}),
        row("NRT", 7_000, **seat | {"taxes": 400}),
        row("SYD", 70_000, **seat),
    )
    ask = {"origin": "LHR"}
    assert names(use(people.alice, TOOL, **ask, nonstop=True)) == ["NRT", "DOH", "JFK", "SYD"]
    assert names(use(people.alice, TOOL, **ask, passengers=2)) == ["NRT", "MAD", "JFK", "SYD"]
    assert names(use(people.alice, TOOL, **ask, max_taxes=100)) == ["DOH", "MAD", "JFK", "SYD"]
    assert names(use(people.alice, TOOL, **ask, max_points=9_000)) == ["NRT", "DOH", "MAD"]
    (one,) = use(people.alice, TOOL, **ask, nonstop=True, passengers=2, max_taxes=100, max_points=60_000)[
        "destinations"
    ]
    assert (one["party_points"], one["party_taxes"], one["nonstop"]) == (20_000, 80, True)


def test_explore_destinations_finds_the_fitting_seat_behind_a_cheaper_one(people: People, use: Use, live: None) -> None:
    same = {"seen_at": clock.now() - AGO}
    saw(row("JFK", 10_000, stops=1, **same), row("JFK", 15_000, stops=0, **same))
    saw(row("JFK", 5_000, stops=0, ago=timedelta(days=3)))
    assert [d["points"] for d in use(people.alice, TOOL, origin="LHR", nonstop=True)["destinations"]] == [15_000]


def test_explore_destinations_there_and_back_is_one_price_of_one_programme(
    people: People, use: Use, live: None
) -> None:
    friday = travel_day() + timedelta(days=(4 - travel_day().weekday()) % 7)

    def way_back(points: int, nights: int, **more: Any) -> dict[str, Any]:
        return row("LHR", points, friday + timedelta(days=nights), origin="JFK", **more)

    seat = {"taxes": 100, "taxes_currency": "USD", "stops": 0}
    saw(row("JFK", 10_000, friday, **seat), way_back(12_000, 2, **seat), way_back(1_000, 2, program="flying-blue"))
    saw(way_back(9_000, 5, **seat), row("MAD", 5_000, friday, **seat))
    (weekend,) = use(people.alice, TOOL, origin="LHR", weekend=True, passengers=2)["destinations"]
    assert (weekend["points"], weekend["party_points"], weekend["taxes"]) == (22_000, 44_000, 200)
    days = [friday.isoformat()], [(friday + timedelta(days=2)).isoformat()]
    assert (weekend["best_dates"], weekend["return_dates"]) == days
    (five,) = use(people.alice, TOOL, origin="LHR", nights=5)["destinations"]
    assert (five["points"], five["return_dates"]) == (19_000, [(friday + timedelta(days=5)).isoformat()])
    assert use(people.alice, TOOL, origin="LHR", nights=5, max_taxes=150)["status"] == "no_data"
    assert use(people.alice, TOOL, origin="LHR", nights=4, weekend=True)["status"] == "invalid"


def test_explore_destinations_begins_with_the_answer(people: People, use: Use, live: None) -> None:
    day = travel_day()
    saw(row("CUN", 12_500, day, program="american-airlines-aadvantage", airline="AA", stops=0))
    message = use(people.alice, TOOL, origin="LHR", passengers=2)["message"]
    start = "Cancun for 12,500 AAdvantage miles each, 25,000 for two, nonstop, "
    assert message.replace("ú", "u").startswith(start + format_short_weekday(day))


# the invented world


def test_explore_destinations_answers_a_first_question_in_the_sandbox(people: People, use: Use) -> None:
    month = f"{add_months(clock.today(), 2):%Y-%m}"
    asked = {"origin": "EWR", "warm": True, "nonstop": True, "max_points": 60_000}
    answer = use(people.charlie, TOOL, **asked, month_from=month, month_to=month)
    assert answer["status"] == "ok"
    assert answer["total_found"] >= 3
    assert all(d["nonstop"] and d["points"] <= 60_000 and d["mean_celsius"] >= 20 for d in answer["destinations"])
    assert {d["best_dates"][0][:7] for d in answer["destinations"]} == {month}


def test_explore_destinations_looks_at_a_route_of_the_sandbox_once(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    find_seats = market.find_seats

    def count(question: SeatsQuestion, *more: Any) -> Any:
        asked.append(question.destination)
        return find_seats(question, *more)

    monkeypatch.setattr(market, "find_seats", count)
    for who in (people.alice, people.bob):
        assert use(who, TOOL, origin="INV")["status"] == "ok"
    assert len(asked) == len(set(asked)) > 0


@pytest.mark.parametrize("rank", range(0, 50, 7))
def test_each_big_airport_has_routes_and_seats_in_the_invented_world(rank: int) -> None:
    facts = reference()
    big = sorted(facts.nonstop_routes, key=lambda code: (-facts.count_flights(code), code))[rank]
    ends = (clock.today(), clock.today() + timedelta(days=60))
    questions = [build_question(facts, route, *ends) for route in choose_routes(facts, (big,), 3)]
    assert len(questions) == 3
    assert all(market.find_seats(question, clock.today(), {}) for question in questions)
