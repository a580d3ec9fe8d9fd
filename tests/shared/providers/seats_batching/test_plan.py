"""Plans of questions: every need is answered once, by a search that covers it, and none costs a page more."""

from collections import Counter
from datetime import date, timedelta
from itertools import product
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.providers.contract import SeatsQuestion
from shared.providers.seats_batching.plan import MAX_AIRPORTS, Group, plan_questions

DAY = date(2027, 3, 1)
PAGE = 100


def wish(origin: str, destination: str, first: int = 0, days: int = 1) -> SeatsQuestion:
    return SeatsQuestion(origin, destination, DAY + timedelta(days=first), DAY + timedelta(days=first + days - 1))


def one_a_day(_origin: str, _destination: str) -> float:
    return 1.0


def uneven(origin: str, destination: str) -> float:
    return (ord(origin[0]) * 7 + ord(destination[0]) * 3) % 11 / 2


wishes = st.lists(
    st.builds(wish, st.sampled_from("ABCD"), st.sampled_from("WXYZ"), st.integers(0, 200), st.integers(1, 60)),
    max_size=25,
)


def covers(group: Group, need: SeatsQuestion) -> bool:
    ends = need.origin in group.origins and need.destination in group.destinations
    return ends and group.earliest <= need.earliest and need.latest <= group.latest


@settings(deadline=None)
@given(wishes, wishes)
def test_each_need_is_in_one_group_which_covers_it_and_there_are_no_more_groups_than_needs(
    needs: list[SeatsQuestion], others: list[SeatsQuestion]
) -> None:
    groups = plan_questions(needs, uneven, PAGE, others)
    planned = [need for group in groups for need in group.questions]
    assert all(covers(group, need) for group in groups for need in group.questions)
    asked, spare = Counter(needs), Counter(others)
    assert asked <= Counter(planned) <= asked + spare
    assert len(groups) <= len(needs)


@settings(deadline=None)
@given(wishes, wishes)
def test_a_group_has_no_more_pages_than_its_first_need_alone(
    needs: list[SeatsQuestion], others: list[SeatsQuestion]
) -> None:
    for group in plan_questions(needs, uneven, PAGE, others):
        first = group.questions[0]
        alone = uneven(first.origin, first.destination) * ((first.latest - first.earliest).days + 1)
        days = (group.latest - group.earliest).days + 1
        rows = sum(uneven(*pair) for pair in product(group.origins, group.destinations)) * days
        assert abs(rows - group.rows) < 1e-6
        assert len(group.questions) == 1 or rows <= PAGE * max(1, ceil(alone / PAGE)) + 1e-6


@settings(deadline=None)
@given(wishes, wishes)
def test_the_same_needs_make_the_same_plan(needs: list[SeatsQuestion], others: list[SeatsQuestion]) -> None:
    plans = [plan_questions(needs, uneven, PAGE, others) for _ in range(2)]
    first, second = [[group.questions for group in plan] for plan in plans]
    assert first == second


def test_windows_that_overlap_are_one_and_routes_of_one_airport_are_a_list() -> None:
    needs = [wish("A", "X", 0, 10), wish("A", "X", 5, 10), wish("A", "Y", 2, 5), wish("A", "Z", 0, 12)]
    (group,) = plan_questions(needs, one_a_day, PAGE)
    assert (group.origins, set(group.destinations)) == (["A"], {"X", "Y", "Z"})
    assert (group.earliest, group.latest, group.rows) == (DAY, DAY + timedelta(days=14), 45)


def test_routes_that_lie_between_are_counted() -> None:
    """A-X and B-Y cost A-Y and B-X too: 4 x 30 days are over a page, and so they stay apart."""
    needs = [wish("A", "X", 0, 30), wish("B", "Y", 0, 30)]
    assert len(plan_questions(needs, one_a_day, PAGE)) == 2
    assert len(plan_questions(needs, one_a_day, 120)) == 1


def test_others_fill_a_page_the_cheapest_first_and_never_cost_one_more() -> None:
    others = [wish("A", "Y", 300, 30), wish("A", "X", 3, 4), wish("A", "Z", 0, 10)]
    (group,) = plan_questions([wish("A", "X", 0, 10)], one_a_day, 30, others)
    assert set(group.questions[1:]) == {others[1], others[2]}


def test_a_need_larger_than_a_page_takes_others_into_its_last_one() -> None:
    (group,) = plan_questions([wish("A", "X", 0, 150)], one_a_day, PAGE, [wish("A", "X", 150, 40)])
    assert (group.rows, len(group.questions)) == (190, 2)


def test_lists_of_airports_stay_short() -> None:
    others = [wish("A", f"X{n}") for n in range(100)]
    (group,) = plan_questions([wish("A", "X")], one_a_day, 1000, others)
    assert len(group.destinations) == MAX_AIRPORTS
