"""Award flights seen in earlier searches: which are listed, whose ids they bear, and what they cost in card points."""

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import event, text, update

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import engine, transaction
from shared.db.observations import AwardObservation, FareObservation, write, write_fares
from shared.domain.dates import add_months
from shared.reference.load import reference
from shared.services.search.award_ids import sighting_of
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_seats import live
from tests.support.long_ids import build_long_flight_id
from tests.support.people import People

__all__ = ["live"]


def travel_day() -> date:
    return add_months(clock.today(), 1)


OWN = "british-airways-club"
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


def row(points: int = 50_000, day: date | None = None, ago: timedelta = HOUR, **more: Any) -> dict[str, Any]:
    day = day or travel_day()
    facts = {
        "source": "one",
        "airline": "BA",
        "program": OWN,
        "origin": "LHR",
        "destination": "JFK",
        "cabin": "business",
        "taxes": Decimal("300.00"),
        "taxes_currency": "USD",
        "seats": 2,
        "seen_at": clock.now() - ago,
        "provider_checked_at": None,
        "asker_id": None,
    }
    return facts | {"points": points, "date": day} | more


def fare(price: str, **more: Any) -> dict[str, Any]:
    facts = {
        "source": "one",
        "origin": "LHR",
        "destination": "JFK",
        "date": travel_day(),
        "return_date": None,
        "cabin": "business",
        "passengers": 1,
        "currency": "USD",
        "carriers": ["BA"],
        "stops": 0,
        "seen_at": clock.now() - HOUR,
        "provider_checked_at": None,
        "asker_id": None,
    }
    return facts | {"price": Decimal(price)} | more


def saw(*rows: dict[str, Any]) -> None:
    with transaction() as session:
        write(session, [r for r in rows if "points" in r])
        write_fares(session, [r for r in rows if "price" in r])


def listed(use: Use, who: Caller, **asked: Any) -> list[Any]:
    found = use(who, "list_flights", **asked)
    assert found["status"] == "ok"
    assert found["paging"]["total"] >= len(found["flights"])
    rows: list[Any] = found["flights"]
    return rows


def first_id(use: Use, who: Caller) -> str:
    given: str = listed(use, who)[0]["flight_id"]
    return given


# the list


def test_list_flights_shows_what_was_last_seen_of_each_flight(people: People, use: Use, live: None) -> None:
    saw(row(40_000, ago=timedelta(days=3)), row(50_000), row(60_000, cabin="first", seats=None))
    answer = use(people.bob, "list_flights", sort="points")
    assert (answer["status"], answer["paging"]) == ("ok", {"page": 1, "per_page": 10, "total": 2, "has_more": False})
    assert answer["names"] == {"BA": "British Airways", OWN: "The British Airways Club"}
    shown = answer["flights"][0]
    assert shown.pop("flight_id").startswith("flt_")
    assert shown.pop("seen_at")
    assert shown == {
        "airline": "BA",
        "program": OWN,
        "origin": "LHR",
        "destination": "JFK",
        "date": travel_day().isoformat(),
        "cabin": "business",
        "points": 50_000,
        "taxes": 300.0,
        "taxes_currency": "USD",
        "per": "person",
        "seats": 2,
        "value_cents_per_point": None,
        "source": "one",
    }
    assert (answer["freshness"]["mode"], answer["freshness"]["source"]) == ("cached", "one")
    assert answer["freshness"]["age_seconds"] // 60 == 60


def test_list_flights_leaves_out_past_days_and_what_was_seen_long_ago(people: People, use: Use, live: None) -> None:
    saw(row(day=clock.today() - timedelta(days=1)), row(ago=timedelta(days=15)), row(day=clock.today(), cabin="first"))
    assert [f["cabin"] for f in listed(use, people.bob)] == ["first"]


def test_list_flights_with_nothing_seen_says_so(people: People, use: Use, live: None) -> None:
    answer = use(people.bob, "list_flights")
    assert (answer["status"], answer["flights"], answer["freshness"]["mode"]) == ("ok", [], "none")
    assert "Searches and monitors add them" in answer["message"]


@pytest.mark.parametrize(
    ("asked", "airports"),
    [
        ({"origin": "lon"}, {"LHR", "LGW"}),
        ({"destination": "MAD"}, {"LGW"}),
        ({"program": "Iberia Club"}, {"LGW"}),
        ({"airline": "iberia"}, {"CDG"}),
        ({"cabin": "first"}, {"CDG"}),
        ({"month": lambda: f"{add_months(travel_day(), 2):%Y-%m}"}, {"LGW"}),
        ({"max_points": 20_000}, {"CDG"}),
        ({"origin": "LHR", "destination": "MAD"}, set()),
    ],
)
def test_list_flights_filters(people: People, use: Use, live: None, asked: dict[str, Any], airports: set[str]) -> None:
    asked = evaluate(asked)
    saw(
        row(),
        row(origin="LGW", destination="MAD", program="iberia-club", day=add_months(travel_day(), 2)),
        row(20_000, origin="CDG", airline="IB", cabin="first"),
    )
    assert {f["origin"] for f in listed(use, people.bob, **asked)} == airports


def test_list_flights_below_a_price_does_not_bring_back_an_older_price(people: People, use: Use, live: None) -> None:
    saw(row(20_000, ago=timedelta(days=2)), row(90_000))
    assert listed(use, people.bob, max_points=30_000) == []


def test_list_flights_sorts_by_time_points_and_value(people: People, use: Use, live: None) -> None:
    saw(
        row(30_000, ago=2 * HOUR, cabin="first"),
        row(50_000, ago=3 * HOUR),
        row(20_000, ago=HOUR, cabin="economy"),
        fare("2300"),
        fare("1500", cabin="first"),
    )
    points = {sort: [f["points"] for f in listed(use, people.bob, sort=sort)] for sort in ("newest", "points", "value")}
    assert points == {
        "newest": [20_000, 30_000, 50_000],
        "points": [20_000, 30_000, 50_000],
        "value": [30_000, 50_000, 20_000],
    }
    values = [f["value_cents_per_point"] for f in listed(use, people.bob, sort="value")]
    assert values == [4.0, 4.0, None]


@pytest.mark.parametrize(
    ("more", "value"),
    [
        ({}, 1.4),
        ({"passengers": 2}, 0.4),
        ({"currency": "GBP"}, None),
        ({"return_date": travel_day}, None),
        ({"cabin": "first"}, None),
        ({"city_wide": True}, None),
        ({"seen_at": lambda: clock.now() - timedelta(days=20)}, None),
    ],
)
def test_list_flights_values_a_point_only_from_a_fare_that_compares(
    people: People, use: Use, live: None, more: dict[str, Any], value: float | None
) -> None:
    more = evaluate(more)
    saw(row(), fare("1000", **more))
    assert [f["value_cents_per_point"] for f in listed(use, people.bob)] == [value]


def test_list_flights_without_known_taxes_has_no_value(people: People, use: Use, live: None) -> None:
    saw(row(taxes=None), fare("1000"))
    assert [f["value_cents_per_point"] for f in listed(use, people.bob)] == [None]


def test_list_flights_values_a_point_from_the_newest_fare(people: People, use: Use, live: None) -> None:
    saw(row(), fare("9000", seen_at=clock.now() - 9 * HOUR), fare("800"))
    assert [f["value_cents_per_point"] for f in listed(use, people.bob)] == [1.0]


def test_list_flights_affordable_only_counts_saved_balances_and_transfers(people: People, use: Use, live: None) -> None:
    saw(row(50_000), row(20_000, program="flying-blue"), row(90_000, program="delta-skymiles"))
    none = use(people.alice, "list_flights", affordable_only=True)
    assert (none["flights"], "No points balances" in none["message"]) == ([], True)
    use(people.alice, "update_points_balance", program="flying-blue", balance=20_000)
    assert [f["program"] for f in listed(use, people.alice, affordable_only=True)] == ["flying-blue"]
    use(people.alice, "update_points_balance", program="amex-membership-rewards", balance=50_000)
    assert {f["program"] for f in listed(use, people.alice, affordable_only=True)} == {"flying-blue", OWN}


def test_list_flights_gives_pages(people: People, use: Use, live: None) -> None:
    saw(*(row(1_000 * n, travel_day() + timedelta(days=n)) for n in range(1, 8)))
    pages = [use(people.bob, "list_flights", sort="points", per_page=3, page=n) for n in (1, 2, 3, 4)]
    assert [[f["points"] for f in p["flights"]] for p in pages] == [
        [1_000, 2_000, 3_000],
        [4_000, 5_000, 6_000],
        [7_000],
        [],
    ]
    assert [p["paging"]["total"] for p in pages] == [7, 7, 7, 7]
    assert [p["paging"]["has_more"] for p in pages] == [True, True, False, False]


def test_list_flights_shows_nobody_what_anothers_connection_saw(people: People, use: Use, live: None) -> None:
    saw(row(asker_id=people.alice.account_id), fare("1000", asker_id=people.alice.account_id), row(cabin="first"))
    assert [f["cabin"] for f in listed(use, people.charlie, sort="points")] == ["first"]
    mine = {f["cabin"]: f["value_cents_per_point"] for f in listed(use, people.alice)}
    assert mine == {"business": 1.4, "first": None}


def test_list_flights_believes_an_own_sighting_beside_a_shared_one(people: People, use: Use, live: None) -> None:
    saw(row(50_000, ago=2 * HOUR), row(45_000, asker_id=people.alice.account_id))
    assert [f["points"] for f in listed(use, people.alice)] == [45_000]
    assert [f["points"] for f in listed(use, people.charlie)] == [50_000]


def test_list_flights_shows_invented_flights_as_such_in_the_sandbox(people: People, use: Use) -> None:
    asked = {"origin": "LHR", "destination": "JFK", "date": (clock.today() + timedelta(days=60)).isoformat()}
    use(people.alice, "search_all_airlines", **asked)
    answer = use(people.alice, "list_flights")
    assert answer["data_mode"] == "sandbox"
    assert {f["source"] for f in answer["flights"]} == {"sandbox"}
    assert answer["freshness"]["mode"] == "sandbox"


# one flight


@pytest.mark.spec("s4.4.get_flight.result")
def test_get_flight_prices_it_in_each_card_currency(people: People, use: Use, live: None) -> None:
    saw(row(), fare("600"))
    answer = use(people.alice, "get_flight", flight_id=first_id(use, people.alice))
    assert answer["status"] == "ok"
    assert answer["flight"]["points"] == 50_000
    cards = {c["currency"]: c for c in answer["card_currencies"]}
    assert {"amex-membership-rewards", "chase-ultimate-rewards", "hsbc-premier-rewards-uk"} <= set(cards)
    chase = cards["chase-ultimate-rewards"]
    assert (chase["points_needed"], chase["route"]) == (50_000, ["chase-ultimate-rewards", OWN])
    assert (chase["ratio"], chase["transfer_time"], chase["portal_points"]) == (1.0, "instant", 60_000)
    assert chase["cheaper"] == "transfer"
    assert cards["hsbc-premier-rewards-uk"]["portal_points"] is None
    assert answer["advice"] == "transfer"
    assert answer["transfer_path"]["source_points"] == answer["card_currencies"][0]["points_needed"]
    assert answer["taxes"] == {"amount": 300.0, "currency": "USD", "estimated": False}
    worth = [c["worth_usd"] for c in answer["card_currencies"]]
    assert (chase["worth_usd"], worth) == (1_000, sorted(filter(None, worth)) + [None] * worth.count(None))
    assert f"worth {worth[0]:,.0f} USD" in answer["message"]


def test_get_flight_shows_a_running_bonus(people: People, use: Use, live: None) -> None:
    edges = [
        (e, p)
        for p, found in reference().routes(clock.today()).items()
        for e in found
        if e.bonus and not e.bonus.targeted and reference().programs[p].kind == "bank"
    ]
    saw(*(row(program=e.target) for e, _ in edges), row())
    for flight in listed(use, people.alice):
        answer = use(people.alice, "get_flight", flight_id=flight["flight_id"])
        ways = {c["currency"]: c["bonus"] for c in answer["card_currencies"] if len(c["route"]) == 2}
        running = {p: e.bonus.percent for e, p in edges if e.bonus and e.target == flight["program"]}
        assert {c: b["percent"] for c, b in ways.items() if b} == {c: n for c, n in running.items() if c in ways}


def test_get_flight_advises_the_portal_where_it_takes_fewer_points(people: People, use: Use, live: None) -> None:
    saw(row(ago=timedelta(days=3)), fare("450.01"))
    answer = use(people.alice, "get_flight", flight_id=first_id(use, people.alice))
    assert answer["advice"] == "portal"
    cards = {c["currency"]: (c["portal_points"], c["cheaper"]) for c in answer["card_currencies"]}
    assert cards["chase-ultimate-rewards"] == (45_001, "portal")
    assert cards["amex-membership-rewards-uk"] == (None, "transfer")


def test_get_flight_advises_to_wait_when_the_seat_was_seen_too_long_ago(people: People, use: Use, live: None) -> None:
    saw(row(provider_checked_at=clock.now() - timedelta(hours=30)))
    answer = use(people.alice, "get_flight", flight_id=first_id(use, people.alice))
    assert (answer["advice"], answer["freshness"]["provider_age_seconds"] // 3600) == ("wait", 30)
    assert "search again first" in answer["message"]
    assert f"50,000 points of {reference().programs[OWN].name} per person, 300 USD taxes." in answer["message"]
    assert "No cash fare was seen" in answer["message"]


def test_get_flight_without_a_way_for_any_card_advises_to_wait(people: People, use: Use, live: None) -> None:
    reached = {e.target for edges in reference().routes(clock.today()).values() for e in edges}
    nobody = next(p.slug for p in reference().programs.values() if p.kind == "airline" and p.slug not in reached)
    saw(row(program=nobody))
    answer = use(people.alice, "get_flight", flight_id=first_id(use, people.alice))
    assert (answer["card_currencies"], answer["transfer_path"], answer["advice"]) == ([], None, "wait")


def test_get_flight_with_unknown_taxes_shows_the_average_and_says_so(people: People, use: Use, live: None) -> None:
    saw(row(taxes=None, taxes_currency=None))
    given = first_id(use, people.alice)
    none = use(people.alice, "get_flight", flight_id=given)
    assert none["taxes"] == {"amount": None, "currency": None, "estimated": False}
    saw(
        *(
            row(taxes=Decimal(n), day=travel_day() + timedelta(days=1), taxes_currency="USD", ago=2 * HOUR)
            for n in (100, 201)
        ),
        row(taxes=Decimal(9), day=travel_day() + timedelta(days=1), taxes_currency="GBP", ago=2 * HOUR),
    )
    average = use(people.alice, "get_flight", flight_id=given)
    assert average["taxes"] == {"amount": 150.5, "currency": "USD", "estimated": True}


def test_get_flight_answers_an_older_id_with_what_was_seen_since(people: People, use: Use, live: None) -> None:
    saw(row(40_000, ago=timedelta(days=2)))
    given = first_id(use, people.alice)
    saw(row(70_000))
    answer = use(people.alice, "get_flight", flight_id=given)
    assert (answer["flight"]["flight_id"], answer["flight"]["points"], answer["advice"]) == (given, 70_000, "transfer")


@pytest.mark.spec("s4.4.get_flight.premium")
def test_get_flight_is_premium_and_knows_only_ids_of_list_flights(people: People, use: Use, live: None) -> None:
    saw(row())
    given = first_id(use, people.alice)
    assert use(people.bob, "get_flight", flight_id=first_id(use, people.bob))["status"] == "paywall"
    assert use(people.charlie, "get_flight", flight_id=given)["status"] == "not_found"
    number = sighting_of(people.alice.account_id, given)
    long = build_long_flight_id(people.alice.account_id, number or 0)
    forged = (f"flt_{number}_{'0' * 24}", given[:-12] + "0" * 12, long[:-4] + "0000", long[:-6])
    for wrong in ("", str(number), f"flt_{number}", *forged, f"flt_{'9' * 40}_{'0' * 20}"[:64], "\u0661"):
        assert use(people.alice, "get_flight", flight_id=wrong)["status"] == "not_found"
    assert use(people.alice, "get_flight")["status"] == "invalid"
    assert len(given) == 24
    for right in (given, long):
        assert use(people.alice, "get_flight", flight_id=right)["status"] == "ok"
    assert use(people.charlie, "get_flight", flight_id=long)["status"] == "not_found"


def test_get_flight_that_another_connection_saw_is_not_found(people: People, use: Use, live: None) -> None:
    saw(row(asker_id=people.alice.account_id))
    given = first_id(use, people.alice)
    with transaction() as session:
        session.execute(update(AwardObservation).values(asker_id=people.charlie.account_id))
    assert use(people.alice, "get_flight", flight_id=given)["status"] == "not_found"


def _plan_of_page(use: Use, who: Caller, **asked: Any) -> str:
    """How the database reads one page, with how often it went through each part."""
    asked_of_it: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_rest: Any) -> None:
        asked_of_it.append((statement, values))

    event.listen(engine(), "before_cursor_execute", note)
    try:
        listed(use, who, **asked)
    finally:
        event.remove(engine(), "before_cursor_execute", note)
    statement, values = next(one for one in asked_of_it if "fare_observations" in one[0])
    with engine().connect() as connection:
        return "\n".join(connection.exec_driver_sql(f"explain (analyze, costs off) {statement}", values).scalars())


@pytest.mark.parametrize(("sort", "looked_up"), [("newest", 10), ("points", 10), ("value", 30)])
def test_list_flights_looks_up_the_fares_of_those_it_shows(
    people: People, use: Use, live: None, sort: str, looked_up: int
) -> None:
    """To join all fares cost six times as much as the rest of the list."""
    days = [travel_day() + timedelta(days=number) for number in range(30)]
    saw(*(row(day=day) for day in days), *(fare("1800.00", date=day) for day in days))
    plan = _plan_of_page(use, people.bob, sort=sort)
    assert re.findall(r"SubPlan 1\n +->  Limit \(actual .*loops=(\d+)\)", plan) == [str(looked_up)]


def test_list_flights_of_a_programme_with_few_offers_reads_those_alone(people: People, use: Use, live: None) -> None:
    """To look for them in all offers took 1.4 s of ten million."""
    saw(row(), *(row(day=travel_day() + timedelta(days=number)) for number in range(30)))
    with transaction() as session:
        columns = [c.name for c in AwardObservation.__table__.columns if c.name not in ("id", "program", "airline")]
        copied, many = ", ".join(columns), "award_observations, generate_series(1, 200)"
        copies = f"select 'aeroplan', 'AC', {copied} from {many}"
        session.execute(text(f"insert into award_observations (program, airline, {copied}) {copies}"))
        session.execute(text("analyze award_observations"))
    for asked in ({"program": "flying-blue"}, {"airline": "QF"}):
        assert "ix_award_observations_program" in _plan_of_page(use, people.bob, **asked)


def test_list_flights_reads_no_fares_older_than_the_newest_of_a_day(people: People, use: Use, live: None) -> None:
    saw(row(), fare("1800.00"))
    with transaction() as session:
        columns = [c.name for c in FareObservation.__table__.columns if c.name not in ("id", "seen_at")]
        copied, many = ", ".join(columns), "fare_observations, generate_series(1, 2000) as n"
        copies = f"select seen_at - n * interval '1 second', {copied} from {many}"
        session.execute(text(f"insert into fare_observations (seen_at, {copied}) {copies}"))
        session.execute(text("analyze fare_observations"))
    plan = _plan_of_page(use, people.bob, sort="value")
    read = re.search(r"using ix_fare_observations_route on fare_observations \(actual .*rows=([0-9.]+) ", plan)
    assert read is not None, plan
    assert float(read[1]) <= 3
