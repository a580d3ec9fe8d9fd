"""Reaching a target from several purses: never more than is held, never less than is needed."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.transfer_options import Purse, find_combinations, find_shortfall, find_ways, send_everything
from shared.domain.transfers import Edge, TransferPath, build_network
from tests.shared.domain.edges import edge

ROUTES = build_network(
    [
        edge("a", "goal", block=1000, least=1000),
        edge("b", "goal", (3, 1), block=3000, least=3000),
        edge("b", "hub", (1, 1), block=500),
        edge("hub", "goal", (5, 4), block=250),
    ]
)


def purses(a: int = 0, b: int = 0, goal: int = 0) -> list[Purse]:
    worth = {"a": Decimal(2), "b": Decimal("0.5"), "goal": Decimal("1.3")}
    return [Purse(name, balances, worth[name]) for name, balances in (("a", a), ("b", b), ("goal", goal))]


def test_ways_are_ranked_by_what_the_points_are_worth() -> None:
    result = find_ways(ROUTES, purses(a=100_000, b=100_000), "goal", 10_000)
    assert [(w.purse.program, w.points_sent, w.cost) for w in result if w.covers] == [
        ("b", 12_500, Decimal("6250.0")),
        ("b", 30_000, Decimal("15000.0")),
        ("a", 10_000, Decimal(20_000)),
    ]


def test_a_purse_that_is_too_small_gives_what_it_can_in_whole_blocks() -> None:
    result = find_ways(ROUTES, purses(a=4_999), "goal", 10_000)
    assert [(w.points_sent, w.points_delivered, w.covers) for w in result] == [(4_000, 4_000, False)]
    assert find_shortfall(result, 10_000) == 6_000
    assert find_ways(ROUTES, purses(a=999), "goal", 10_000) == []


def test_points_in_the_target_programme_need_no_transfer() -> None:
    balances = find_ways(ROUTES, purses(goal=12_000), "goal", 10_000)[0]
    assert (balances.path, balances.points_sent, balances.hops, balances.posting, balances.covers) == (
        None,
        10_000,
        0,
        "instant",
        True,
    )


def test_a_purse_without_a_value_is_ranked_last_and_has_no_price() -> None:
    unknown = Purse("a", 50_000, None)
    result = find_ways(ROUTES, [unknown, *purses(b=100_000)], "goal", 10_000)
    assert result[-1].purse is unknown
    assert result[-1].cost is None


def test_combinations_use_what_is_cheap_first_and_waste_little() -> None:
    balances = purses(a=9_000, b=3_700, goal=2_000)
    best = find_combinations(find_ways(ROUTES, balances, "goal", 10_000), 10_000)[0]
    assert {p.purse.program: p.points_sent for p in best.parts} == {"goal": 2_000, "b": 2_500, "a": 6_000}
    assert best.points_delivered == 10_000
    assert best.cost == 2_000 * Decimal("1.3") + 2_500 * Decimal("0.5") + 6_000 * 2


def test_of_very_many_purses_the_cheapest_and_the_largest_are_combined() -> None:
    routes = build_network([edge(f"p{n}", "goal") for n in range(57)])
    balances = [Purse(f"p{n}", 100 if n < 50 else 9_000, Decimal(1 + n)) for n in range(57)]
    best = find_combinations(find_ways(routes, balances, "goal", 18_100), 18_100)[0]
    assert {p.purse.program: p.points_sent for p in best.parts} == {"p0": 100, "p50": 9_000, "p51": 9_000}


amounts = st.integers(min_value=0, max_value=40_000)


@settings(max_examples=200, deadline=None)
@given(a=amounts, b=amounts, goal=amounts, needed=st.integers(min_value=1, max_value=60_000))
def test_nothing_is_promised_that_the_purses_do_not_hold(a: int, b: int, goal: int, needed: int) -> None:
    balances = {p.program: p.points for p in purses(a, b, goal)}
    result = find_ways(ROUTES, purses(a, b, goal), "goal", needed)
    for way in result:
        assert 0 < way.points_sent <= balances[way.purse.program]
        assert way.covers == (way.points_delivered >= needed)
    together = find_combinations(result, needed)
    for combination in together:
        assert combination.points_delivered >= needed
        assert all(p.points_sent <= balances[p.purse.program] for p in combination.parts)
        assert len({p.purse.program for p in combination.parts}) == len(combination.parts)
    assert [c.cost for c in together] == sorted(c.cost for c in together if c.cost is not None)
    if together or any(w.covers for w in result):
        assert find_shortfall(result, needed) == 0


@settings(max_examples=200, deadline=None)
@given(held=amounts, block=st.sampled_from([1, 250, 1000, 3000]), least=st.integers(1, 5_000))
def test_sending_everything_keeps_to_blocks_and_minimums(held: int, block: int, least: int) -> None:
    step: Edge = replace(edge("a", "goal", block=block), minimum=least)
    whole = send_everything(TransferPath((step,)), held)
    if whole is None:
        assert held // block * block < max(least, 1)
    else:
        assert whole.amounts is not None
        assert held - whole.amounts[0] < block
        assert whole.amounts[0] % block == 0
        assert whole.amounts[0] >= least
