"""Programmes of an account's own laid over the facts: what all know stays as it is, and no point counts twice."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import clock
from shared.domain.funding import Funds, find_payment
from shared.domain.transfer_options import Purse
from shared.errors import NotFound
from shared.reference.load import reference
from shared.reference.own_programs import OwnFacts, OwnReference, OwnTransfer, build_slug, find_own

GOALS = ("flying-blue", "british-airways-club", "qantas-frequent-flyer", "cathay-asia-miles")
ratios = st.integers(1, 5_000)
transfers = st.lists(
    st.builds(OwnTransfer, st.sampled_from(GOALS), ratios, ratios), max_size=3, unique_by=lambda t: t.program
)
programs = st.lists(
    st.builds(
        lambda name, cents, routes: OwnFacts(build_slug(name), name, cents, "BRL", routes),
        st.text(min_size=1, max_size=20).filter(str.strip),
        st.none() | st.decimals(Decimal("0.01"), 100, places=2),
        transfers,
    ),
    max_size=4,
    unique_by=lambda facts: facts.slug,
)


@settings(max_examples=10, deadline=None)
@given(own=programs)
def test_what_is_known_to_all_is_the_same_beside_programmes_of_ones_own(own: list[OwnFacts]) -> None:
    known, today = reference(), clock.today()
    mine = OwnReference(known, own)
    assert {slug: mine.programs[slug] for slug in known.programs} == dict(known.programs)
    assert {slug: edges for slug, edges in mine.routes(today).items() if slug in known.programs} == known.routes(today)
    assert mine.programs.keys() - known.programs.keys() == {facts.slug for facts in own}
    for facts in own:
        assert find_own(mine, facts.slug) == facts
        assert facts.slug not in known.programs
        assert mine.find_programs(facts.slug) == (facts.slug,)
    assert not hasattr(known, "own")


@settings(max_examples=10, deadline=None)
@given(own=programs, points=st.integers(0, 200_000), needed=st.integers(1, 100_000))
def test_a_payment_spends_no_point_of_a_programme_of_ones_own_twice(
    own: list[OwnFacts], points: int, needed: int
) -> None:
    mine = OwnReference(reference(), own)
    purses = [Purse(facts.slug, points, facts.cents) for facts in own]
    needs = {"flying-blue": needed, "british-airways-club": needed}
    payment = find_payment(needs, Funds(mine.routes(clock.today()), purses))
    spent: dict[str, int] = {}
    for goal, ways in (payment or {}).items():
        assert sum(way.points_delivered for way in ways) >= needs[goal]
        for way in ways:
            spent[way.purse.program] = spent.get(way.purse.program, 0) + way.points_sent
    assert all(sent <= points for sent in spent.values())


def test_a_programme_of_ones_own_goes_by_its_whole_name_in_any_letters() -> None:
    names = ("Village Miles", "楽天ポイント")
    own = [OwnFacts(build_slug(name), name, None, None, ()) for name in names]
    mine = OwnReference(reference(), own)
    assert [mine.program(f" {name.upper()} ").name for name in names] == list(names)
    assert len({facts.slug for facts in own}) == 2
    with pytest.raises(NotFound):
        mine.program("Village")
    assert mine.program("Flying Blue").slug == "flying-blue"
