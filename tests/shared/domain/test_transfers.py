"""Transfer paths: exact amounts, and never a cheaper way missed."""

from dataclasses import replace
from datetime import date
from itertools import pairwise, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.transfers import Bonus, Edge, TransferPath, build_network, count_amounts, find_paths
from shared.reference.load import reference
from tests.shared.domain.edges import edge

NAMES = ("a", "b", "c", "d", "e")


def test_increments_and_minimums_round_the_sent_points_up() -> None:
    assert edge("a", "b", block=1000).points_to_send(12_300) == 13_000
    assert edge("a", "b", block=1000, least=5000).points_to_send(100) == 5_000
    assert edge("a", "b", (3, 1), block=3000, least=3000).points_to_send(20_001) == 63_000


def test_a_bonus_lowers_what_must_be_sent() -> None:
    assert edge("a", "b", block=1000, bonus=30).points_to_send(65_000) == 50_000
    assert edge("a", "b", block=1000, bonus=30).points_received(50_000) == 65_000


@given(needed=st.integers(1, 300_000), block=st.sampled_from([1, 3, 1000, 3000]))
def test_extra_points_for_large_amounts_are_counted_to_the_point(needed: int, block: int) -> None:
    way = replace(edge("a", "b", (3, 1), block=block, least=3000), step=60_000, step_bonus=5_000)
    amount = way.points_to_send(needed)
    assert way.points_received(amount) >= needed
    assert amount % block == 0
    assert amount - block < 3000 or way.points_received(amount - block) < needed


def test_sixty_thousand_marriott_points_bring_twenty_five_thousand_miles() -> None:
    routes = reference().routes(date(2026, 11, 21))
    amount = {
        goal: find_paths(routes, "marriott-bonvoy", goal, needed, 1)[0].source_points
        for goal, needed in (
            ("air-canada-aeroplan", 25_000),
            ("american-airlines-aadvantage", 25_000),
            ("united-mileageplus", 30_000),
        )
    }
    assert amount == {
        "air-canada-aeroplan": 60_000,
        "american-airlines-aadvantage": 75_000,
        "united-mileageplus": 60_000,
    }


def test_a_targeted_bonus_is_not_counted_on() -> None:
    offered = replace(edge("a", "b", block=1000), bonus=Bonus(100, None, date(2026, 12, 31), targeted=True))
    assert offered.points_to_send(65_000) == 65_000
    assert TransferPath((offered,)).bonus_ends_on is None


def test_every_real_path_pays_its_minimums_in_whole_blocks() -> None:
    looked_at = 0
    for goal in reference().programs:
        for path in find_paths(reference().routes(date(2026, 9, 1)), "amex-membership-rewards", goal, 37_501):
            looked_at += 1
            for step, amount in zip(path.edges, path.amounts or (), strict=True):
                assert amount % (step.increment or 1) == 0
                assert amount >= (step.minimum or 1)
            assert (path.points_delivered or 0) >= 37_501
    assert looked_at > 50


def test_a_path_reckons_back_from_the_target_and_counts_what_stays_behind() -> None:
    way = (edge("a", "b", block=1000), edge("b", "c", (5, 4), block=250))
    assert count_amounts(way, 10_100) == (13_000, 12_750)
    path = TransferPath(way, count_amounts(way, 10_100))
    assert (path.points_delivered, path.points_stranded) == (10_200, 250)


def test_no_programme_is_visited_twice() -> None:
    routes = build_network([edge("a", "b"), edge("b", "a"), edge("b", "c"), edge("c", "b")])
    assert [[e.target for e in p.edges] for p in find_paths(routes, "a", "c")] == [["b", "c"]]


def test_hops_are_limited() -> None:
    routes = build_network([edge("a", "b"), edge("b", "c"), edge("c", "d")])
    assert find_paths(routes, "a", "d", max_hops=2) == []
    assert len(find_paths(routes, "a", "d", max_hops=3)) == 1


edges = st.builds(
    edge,
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.sampled_from((1, 250, 1000)),
    st.sampled_from((1, 1000, 3000)),
    st.sampled_from((0, 15, 30)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(edges, max_size=14, unique_by=lambda e: (e.source, e.target)), st.integers(1, 200_000))
def test_paths_deliver_enough_and_brute_force_finds_nothing_cheaper(some: list[Edge], needed: int) -> None:
    some = [e for e in some if e.source != e.target]
    result = find_paths(build_network(some), "a", "e", needed, 3)
    by_pair = {(e.source, e.target): e for e in some}
    every = []
    for count in range(3):
        for between in permutations([n for n in NAMES if n not in "ae"], count):
            stops = ["a", *between, "e"]
            way = [by_pair.get(pair) for pair in pairwise(stops)]
            if all(way):
                every.append(_fewest([w for w in way if w], needed))
    assert sorted(p.source_points or 0 for p in result) == sorted(every)
    assert all((p.points_delivered or 0) >= needed for p in result)


def _fewest(way: list[Edge], needed: int) -> int:
    """The fewest source points by trying: each step's cheapest amount that feeds the next."""
    for e in reversed(way):
        block = e.increment or 1
        low, high = 0, 1
        while e.points_received(high * block) < needed or high * block < (e.minimum or 1):
            high *= 2
        while low < high:
            middle = (low + high) // 2
            enough = e.points_received(middle * block) >= needed and middle * block >= (e.minimum or 1) and middle > 0
            low, high = (low, middle) if enough else (middle + 1, high)
        needed = low * block
    return needed
