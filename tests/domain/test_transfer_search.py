"""The path search against brute force: random small networks go in, and no cheaper way may exist than those found."""

from datetime import date
from fractions import Fraction
from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.transfers import Bonus, Edge, find_paths, network
from shared.reference.load import reference

NAMES = "abcde"


def _edge(source: str, target: str, give: int, get: int, block: int, least: int, percent: int | None) -> Edge:
    bonus = Bonus(percent, None, date(2026, 12, 31), False) if percent else None
    return Edge(
        source, target, Fraction(give), Fraction(get), block, least, "instant", None, None, None, "US", bonus,
        "https://example.test/", None, None, "high", None,
    )  # fmt: skip


EDGES = st.builds(
    _edge,
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from([1, 250, 1000]),
    st.sampled_from([1, 1000, 2500]),
    st.sampled_from([None, 15, 30, 100]),
)
NETWORKS = st.lists(EDGES.filter(lambda e: e.source != e.target), max_size=9).map(
    lambda edges: list({(e.source, e.target): e for e in edges}.values())
)


def _delivered(way: list[Edge], sent: int) -> int | None:
    """Moves everything that arrives, as far as blocks and minimums let it: forward, and so unlike the search."""
    points = sent
    for edge in way:
        block = edge.increment or 1
        points = points // block * block
        if points < (edge.minimum or 1):
            return None
        points = points * edge.ratio_to * (100 + (edge.bonus.percent if edge.bonus else 0)) // (edge.ratio_from * 100)
    return int(points)


def _ways(edges: list[Edge], hops: int) -> list[list[Edge]]:
    known = {(e.source, e.target): e for e in edges}
    routes = []
    for count in range(hops):
        for between in permutations(NAMES[1:-1], count):
            stops = ["a", *between, "e"]
            steps = [known.get(pair) for pair in pairwise(stops)]
            if all(steps):
                routes.append([s for s in steps if s])
    return routes


@given(NETWORKS, st.integers(1, 60_000), st.integers(1, 3))
def test_every_way_is_found_and_each_delivers_what_is_needed(edges: list[Edge], needed: int, hops: int) -> None:
    found = find_paths(network(edges), "a", "e", needed, hops)
    assert sorted([e.target for e in p.edges] for p in found) == sorted(
        [e.target for e in w] for w in _ways(edges, hops)
    )
    for path in found:
        assert path.delivered is not None
        assert path.delivered >= needed
        assert _delivered(list(path.edges), path.source_points or 0) is not None


@given(NETWORKS, st.integers(1, 60_000))
def test_no_smaller_amount_would_have_been_enough(edges: list[Edge], needed: int) -> None:
    found = find_paths(network(edges), "a", "e", needed, 3)
    assert [p.source_points for p in found] == sorted(p.source_points or 0 for p in found)
    for path in found:
        way, sent = list(path.edges), path.source_points or 0
        assert (_delivered(way, sent) or 0) >= needed
        block = way[0].increment or 1
        assert (_delivered(way, sent - block) or 0) < needed
        assert sent % block == 0


def test_every_real_path_pays_its_minimums_in_whole_blocks() -> None:
    routes = reference().routes(date(2026, 9, 1))
    looked_at = 0
    for goal in reference().programs:
        for path in find_paths(routes, "amex-membership-rewards", goal, 37_501):
            looked_at += 1
            for edge, sent in zip(path.edges, path.amounts or (), strict=True):
                assert sent % (edge.increment or 1) == 0
                assert sent >= (edge.minimum or 1)
            assert (path.delivered or 0) >= 37_501
    assert looked_at > 50
