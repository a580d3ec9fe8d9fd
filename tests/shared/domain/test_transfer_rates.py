"""The ratio counted where cards of one currency give different ones."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.transfers import Edge, pick_rates
from tests.shared.domain.edges import edge

RESERVE = replace(edge("bank", "club"), cards=("reserve",))
PREFERRED = replace(edge("bank", "club", (4, 3)), cards=("preferred", "ink"))
PLAIN = edge("bank", "air")


def pick(*held: str) -> Edge:
    return next(e for e in pick_rates([RESERVE, PREFERRED, PLAIN], held) if e.target == "club")


def test_without_a_known_card_the_lowest_ratio_counts() -> None:
    way = pick()
    assert (way.ratio_from, way.ratio_to, way.cards_held) == (4, 3, ())
    assert [(r.cards, r.ratio_from, r.ratio_to) for r in way.rates] == [
        (("reserve",), 1, 1),
        (("preferred", "ink"), 4, 3),
    ]


def test_a_card_that_decides_nothing_leaves_the_lowest() -> None:
    assert pick("freedom").ratio_from == 4


def test_the_best_of_several_cards_counts() -> None:
    assert pick("ink").ratio_from == 4
    assert pick("ink", "reserve").ratio_from == 1
    assert pick("ink", "reserve").cards_held == ("reserve",)


def test_a_route_with_one_ratio_for_every_card_stays_as_it_is() -> None:
    assert list(pick_rates([PLAIN], ["reserve"])) == [PLAIN]


@given(
    ratios=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5),
    held=st.sets(st.sampled_from("abcde")),
)
def test_never_more_than_the_cards_at_hand_give(ratios: list[tuple[int, int]], held: set[str]) -> None:
    rows = [replace(edge("bank", "club", r), cards=(card,)) for r, card in zip(ratios, "abcde", strict=False)]
    (way,) = pick_rates(rows, sorted(held))
    yields = {row.cards[0]: Fraction(row.ratio_to) / row.ratio_from for row in rows}
    own = [yields[card] for card in held if card in yields]
    assert way.ratio_to / way.ratio_from == (max(own) if own else min(yields.values()))
