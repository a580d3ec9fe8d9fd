"""How far balances reach, held against the paths that transfer tools find."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.transfers import Edge, Reach, build_network, find_reach, find_sensible_paths, first_covering
from shared.reference.load import reference
from tests.shared.domain.edges import edge

DAY = date(2026, 11, 21)


def test_what_is_held_in_a_programme_comes_before_what_could_be_transferred() -> None:
    purses = find_reach(build_network([edge("bank", "miles")]), {"miles": 10_000, "bank": 90_000})
    assert first_covering(purses["miles"], 9_000) == Reach("miles", 10_000, 10_000)
    assert first_covering(purses["miles"], 50_000) == Reach("bank", 90_000, 90_000)
    assert first_covering(purses["miles"], 90_001) is None


def test_of_several_balances_the_largest_that_covers_it_is_named() -> None:
    purses = find_reach(build_network([edge("a", "miles"), edge("b", "miles", (2, 1))]), {"a": 30_000, "b": 80_000})
    assert [p.source for p in purses["miles"]] == ["b", "a"]
    result = first_covering(purses["miles"], 25_000)
    assert result is not None
    assert result.source == "b"


def test_blocks_minimums_and_bonuses_count() -> None:
    routes = build_network([edge("bank", "miles", block=1000, least=5000, bonus=30)])
    assert "miles" not in find_reach(routes, {"bank": 4_900})
    assert find_reach(routes, {"bank": 5_999})["miles"] == [Reach("bank", 5_999, 6_500)]


def test_points_count_in_two_steps_and_for_a_third_of_them_at_least() -> None:
    routes = build_network([edge("a", "b"), edge("b", "c"), edge("c", "d")])
    assert set(find_reach(routes, {"a": 1})) == {"a", "b", "c"}
    routes = build_network(
        [edge("a", "b", (3, 1)), edge("b", "c", (1, 2)), edge("a", "d", (4, 1)), edge("b", "e", (2, 1))]
    )
    assert set(find_reach(routes, {"a": 30_000})) == {"a", "b", "c"}


def test_nothing_held_reaches_nothing() -> None:
    assert find_reach(build_network([edge("a", "b")]), {"a": 0}) == {}


NAMES = ("a", "b", "c", "d")
EDGES = st.lists(
    st.builds(
        lambda ends, ratio, block, least: edge(ends[0], ends[1], ratio, block, least),
        st.sampled_from([(s, t) for s in NAMES for t in NAMES if s != t]),
        st.sampled_from([(1, 1), (3, 1), (2, 1), (5, 4)]),
        st.sampled_from([1, 250, 1000]),
        st.sampled_from([1, 2000]),
    ),
    max_size=8,
    unique_by=lambda e: (e.source, e.target),
)


@given(edges=EDGES, held=st.integers(1, 50_000), needed=st.integers(1, 50_000))
@settings(deadline=None)
def test_a_balance_covers_exactly_what_a_transfer_path_finds_affordable(
    edges: list[Edge], held: int, needed: int
) -> None:
    routes = build_network(edges)
    purses = find_reach(routes, {"a": held})
    for goal in NAMES[1:]:
        paths = find_sensible_paths(routes, "a", goal, needed)
        affordable = any((p.source_points or 0) <= held for p in paths)
        assert (first_covering(purses.get(goal, []), needed) is not None) == affordable


def test_the_known_routes_give_the_same_answer_as_the_paths() -> None:
    routes = reference().routes(DAY)
    purses = find_reach(routes, {"chase-ultimate-rewards": 60_000})
    for goal in ("british-airways-club", "qatar-airways-privilege-club", "flying-blue", "jal-mileage-bank"):
        paths = find_sensible_paths(routes, "chase-ultimate-rewards", goal, 55_000)
        affordable = any((p.source_points or 0) <= 60_000 for p in paths)
        assert (first_covering(purses.get(goal, []), 55_000) is not None) == affordable
