"""Planning trips on points: pairing dates, paying from balances once each, order, and the way out of a lost seat."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.airport_pairs import JourneyEnd
from shared.domain.funding import Funds, find_payment
from shared.domain.transfer_options import Purse
from shared.domain.transfers import build_network
from shared.domain.trip_plans import (
    Journey,
    Leg,
    PlanSeat,
    find_fallback,
    find_payable,
    join_legs,
    rank_journeys,
)
from tests.shared.domain.edges import edge

DAY = date(2027, 3, 1)
ROUTES = build_network([edge("bank", "air"), edge("bank", "other"), edge("club", "air", ratio=(2, 1))])


def seat(program: str = "air", points: int = 10_000, **more: object) -> PlanSeat[str]:
    facts: dict[str, object] = {
        "offer": "x",
        "program": program,
        "flight": f"XX|{more.get('day', DAY)}",
        "points": points,
        "taxes": Decimal(50),
        "value": Decimal("1.5"),
        "day": DAY,
        "lands_on": more.get("day", DAY),
        "stops": 0,
    }
    return PlanSeat(**(facts | more))  # type: ignore[arg-type]


def purse(program: str, points: int, value: str | None = "1.5") -> Purse:
    return Purse(program, points, None if value is None else Decimal(value))


def leg(start: str, end: str, nights: int = 0) -> Leg:
    return Leg(JourneyEnd(start, (start,)), JourneyEnd(end, (end,)), nights)


def journey(*seats: PlanSeat[str]) -> Journey[str]:
    return Journey(seats)


def test_the_way_back_is_so_many_nights_after_the_way_out_lands() -> None:
    out = leg("AAA", "BBB")
    overnight = seat(lands_on=DAY + timedelta(days=1), ends=("AAA", "BBB"))
    same_day = seat(ends=("AAA", "BBB"))
    backs = [seat(day=DAY + timedelta(days=n), ends=("BBB", "AAA")) for n in (6, 7, 8, 9)]
    result = list(join_legs([[overnight, same_day], backs], [out, leg("BBB", "AAA", 7)]))
    assert [(j.out is overnight, j.back and (j.back.day - DAY).days) for j in result] == [(True, 8), (False, 7)]
    assert list(join_legs([[overnight]], [out])) == [journey(overnight)]
    assert list(join_legs([[overnight], []], [out, leg("BBB", "AAA", 7)])) == []


def test_a_night_more_or_less_will_do_where_the_leg_says_so_but_one_night_stays() -> None:
    out = seat(ends=("AAA", "BBB"))
    backs = [seat(day=DAY + timedelta(days=n), ends=("BBB", "AAA")) for n in range(5)]
    for nights, fitting in ((2, [1, 2, 3]), (1, [1, 2]), (0, [0, 1])):
        home = replace(leg("BBB", "AAA", nights), slack=1)
        assert [j.nights for j in join_legs([[out], backs], [leg("AAA", "BBB"), home])] == [[n] for n in fitting]


@settings(max_examples=50, deadline=None)
@given(st.integers(1_000, 30_000), st.integers(1_000, 30_000))
def test_a_seat_is_ranked_by_the_points_that_are_spent_for_it(own: int, dear: int) -> None:
    held = Funds(build_network([edge("bank", "dear", ratio=(3, 1))]), [purse("bank", 90_000), purse("air", 90_000)])
    seats = find_payable([seat("air", own), seat("dear", dear, value=Decimal("0.1"))], held)
    cheapest = min(seats, key=lambda s: s.rough)
    assert own == 3 * dear or (cheapest.program == "air") == (own < 3 * dear)


def test_home_from_another_place_leaves_from_there_and_ends_where_the_journey_began() -> None:
    out, near = seat(ends=("AAA", "BBB")), seat(ends=("NEAR", "BBB"))
    backs = [seat(day=DAY + timedelta(days=7), ends=("CCC", "AAA")), seat(day=DAY, ends=("BBB", "AAA"))]
    (found,) = join_legs([[out, near], backs], [leg("AAA", "BBB"), leg("CCC", "AAA", 7)])
    assert (found.out, found.back, found.onward) == (out, backs[0], ())


def test_both_ways_of_one_programme_are_paid_together() -> None:
    assert journey(seat(points=10_000), seat(points=15_000)).needs == {"air": 25_000}
    assert journey(seat(), seat("other", 7_000)).needs == {"air": 10_000, "other": 7_000}
    assert journey(seat(), seat(taxes=None)).taxes is None


def test_no_balance_is_spent_twice() -> None:
    assert find_payment({"air": 10_000, "other": 10_000}, Funds(ROUTES, [purse("bank", 15_000)])) is None
    paid = find_payment({"air": 10_000, "other": 10_000}, Funds(ROUTES, [purse("bank", 20_000)]))
    assert paid is not None
    assert sum(w.points_sent for ways in paid.values() for w in ways) == 20_000


def test_the_cheapest_points_pay_and_own_points_need_no_transfer() -> None:
    paid = find_payment({"air": 10_000}, Funds(ROUTES, [purse("bank", 50_000, "2.0"), purse("air", 50_000, "1.2")]))
    assert paid is not None
    assert [(w.purse.program, w.path) for w in paid["air"]] == [("air", None)]
    mixed = find_payment({"air": 10_000}, Funds(ROUTES, [purse("bank", 6_000), purse("air", 4_000)]))
    assert mixed is not None
    assert {w.purse.program: w.points_delivered for w in mixed["air"]} == {"air": 4_000, "bank": 6_000}


def test_the_cost_is_the_taxes_and_what_the_points_spent_are_worth() -> None:
    plans = rank_journeys([journey(seat())], Funds(ROUTES, [purse("club", 40_000, "0.6")]))
    assert plans[0].cost == 50 + 20_000 * Decimal("0.6") / 100  # two club points for one
    assert rank_journeys([journey(seat(taxes=None))], Funds(ROUTES, [purse("air", 10_000)]))[0].cost is None
    assert rank_journeys([journey(seat())], Funds(ROUTES, [purse("air", 10_000, None)]))[0].cost is None
    assert rank_journeys([journey(seat())], Funds(ROUTES, [purse("air", 9_999)])) == []


def test_plans_whose_cost_is_known_come_first_and_cheapest_first() -> None:
    expected = [
        journey(seat(points=n, taxes=t)) for n, t in ((30_000, Decimal(5)), (10_000, None), (20_000, Decimal(5)))
    ]
    plans = rank_journeys(expected, Funds(ROUTES, [purse("air", 50_000)]))
    assert [p.journey.out.points for p in plans] == [20_000, 30_000, 10_000]


def test_the_fallback_is_on_another_flight() -> None:
    later, funds = DAY + timedelta(days=1), Funds(ROUTES, [purse("air", 50_000)])
    plans = rank_journeys(
        [journey(seat()), journey(seat(points=10_500)), journey(seat(points=11_000, day=later, flight="YY"))], funds
    )
    other = find_fallback(plans, funds)
    assert other is not None
    assert (plans[0].journey.out.points, other.journey.out.points) == (10_000, 11_000)
    assert find_fallback(plans[:2], funds) is None
    assert find_fallback([], funds) is None
    back = seat(flight="back")
    same = rank_journeys([journey(seat(), back), journey(seat(flight="YY"), back)], funds)
    assert find_fallback(same, funds) is same[1]


def test_the_fallback_spends_other_points_where_they_are_enough() -> None:
    options = [journey(seat(flight=f"X{n}", points=10_000 + n)) for n in range(3)]
    funds = Funds(ROUTES, [purse("air", 50_000, "1.0"), purse("bank", 10_001, "2.0")])
    plans = rank_journeys(options, funds)
    other = find_fallback(plans, funds)
    assert other is not None
    assert (plans[0].spent_programs, other.spent_programs, other.journey.needs) == ({"air"}, {"bank"}, {"air": 10_001})
    few = Funds(ROUTES, [purse("air", 50_000, "1.0"), purse("bank", 10_000, "2.0")])
    same = find_fallback(rank_journeys(options, few), few)
    assert same is not None
    assert same.spent_programs == {"air"}


@st.composite
def tours(draw: st.DrawFn) -> tuple[list[Leg], list[list[PlanSeat[str]]], dict[str, int]]:
    """A trip over two to six places and home, with seats on each leg, and points held."""
    places = ["HOME", *(f"P{n}" for n in range(draw(st.integers(2, 6))))]
    nights = [draw(st.integers(1, 3)) for _ in places]
    ends = list(pairwise([*places, "HOME"]))
    legs = [leg(a, b, n if a != "HOME" else 0) for (a, b), n in zip(ends, nights, strict=True)]
    sides: list[list[PlanSeat[str]]] = []
    earliest = DAY
    for one in legs:
        earliest += timedelta(days=one.nights)
        rows = draw(
            st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 9)), min_size=1, max_size=5)
        )
        sides.append(
            [
                seat(
                    draw(st.sampled_from(["air", "other"])),
                    1_000 * points,
                    day=earliest + timedelta(days=late),
                    lands_on=earliest + timedelta(days=late + lands),
                    ends=(one.start.code, one.end.code),
                )
                for late, lands, points in rows
            ]
        )
    programs = st.sampled_from(["bank", "air", "club", "other"])
    return legs, sides, draw(st.dictionaries(programs, st.integers(0, 60_000), max_size=4))


@settings(max_examples=30, deadline=None)
@given(tours())
def test_a_tour_keeps_its_nights_and_costs_the_sum_of_its_legs(
    tour: tuple[list[Leg], list[list[PlanSeat[str]]], dict[str, int]],
) -> None:
    legs, sides, held = tour
    funds = Funds(ROUTES, [purse(p, n) for p, n in held.items()])
    payable = [find_payable(side, funds) for side in sides]
    for plan in rank_journeys(join_legs(payable, legs, lambda needs: funds.pay(needs) is not None), funds):
        seats = plan.journey.seats
        assert [s.ends for s in seats] == [(one.start.code, one.end.code) for one in legs]
        stays = [(after.day - before.lands_on).days for before, after in pairwise(seats)]
        assert stays == [one.nights for one in legs[1:]]
        assert plan.journey.back is seats[-1]
        assert sum(plan.journey.needs.values()) == sum(s.points for s in seats)
        assert plan.journey.taxes == sum(s.taxes or 0 for s in seats)
        spent: dict[str, int] = {}
        for way in (w for ways in plan.ways.values() for w in ways):
            spent[way.purse.program] = spent.get(way.purse.program, 0) + way.points_sent
        assert all(n <= held[p] for p, n in spent.items())
        worth = sum(n * Decimal("1.5") / 100 for n in spent.values())
        assert plan.cost == sum(s.taxes or 0 for s in seats) + worth


def test_only_seats_that_can_be_paid_are_kept_and_few_of_each_day() -> None:
    many = [seat(points=n) for n in range(5_000, 12_000, 1_000)]
    stored = find_payable([*many, seat("unknown", 1), seat("other", 6_000)], Funds(ROUTES, [purse("bank", 8_000)]))
    assert sorted((s.program, s.points) for s in stored) == [
        ("air", 5_000),
        ("air", 6_000),
        ("air", 7_000),
        ("other", 6_000),
    ]


@given(
    prices=st.lists(st.integers(1_000, 90_000), min_size=1, max_size=6),
    held=st.dictionaries(st.sampled_from(["bank", "air", "club", "other"]), st.integers(0, 100_000), max_size=4),
)
def test_a_plan_is_never_paid_with_more_than_is_held(prices: list[int], held: dict[str, int]) -> None:
    purses = [purse(p, n) for p, n in held.items()]
    for plan in rank_journeys([journey(seat(points=p), seat("other", p)) for p in prices], Funds(ROUTES, purses)):
        for program, needed in plan.journey.needs.items():
            assert sum(w.points_delivered for w in plan.ways[program]) >= needed
        spent: dict[str, int] = {}
        for way in (w for ways in plan.ways.values() for w in ways):
            spent[way.purse.program] = spent.get(way.purse.program, 0) + way.points_sent
        assert all(n <= held[p] for p, n in spent.items())
