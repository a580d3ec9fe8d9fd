"""Plans of welcome bonuses: within the spending, one at a time, and never against a rule."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.bonus_plans import BonusCard, Person, plan_bonuses
from shared.domain.dates import add_months
from shared.domain.issuer_rules import OwnCard, check_rule

TODAY = date(2026, 11, 29)


@dataclass(frozen=True)
class Rule:
    kind: str
    issuer: str = "Bank"
    country: str = "US"
    cards: tuple[str, ...] = ("*",)
    blockers: tuple[str, ...] = ()
    personal_only: bool = False
    limit: int | None = None
    months: int | None = None
    days: int | None = None
    text: str = "Bank declines"


ONCE, SLOW = Rule("bonus_card"), Rule("opened_any", limit=1, months=3)


def offer(slug: str, worth: int, spend: int, *rules: Rule, months: int = 3, last_day: date | None = None) -> BonusCard:
    return BonusCard(slug, "Bank", "US", "personal", rules, Decimal(worth), Decimal(spend), months, last_day)


def test_two_people_take_turns_where_a_rule_makes_one_wait() -> None:
    cards = [offer("us-a", 900, 3_000, ONCE, SLOW), offer("us-b", 500, 1_000, ONCE, SLOW)]
    steps = plan_bonuses([Person("", ()), Person("Sam", ())], cards, Decimal(1_000), TODAY, 12)
    assert [(s.person, s.card.slug, s.opens_on) for s in steps] == [
        ("", "us-b", date(2026, 11, 29)),
        ("Sam", "us-b", date(2026, 12, 29)),
        ("", "us-a", date(2027, 3, 29)),
        ("Sam", "us-a", date(2027, 6, 29)),
    ]


def test_spending_that_is_promised_or_too_small_plans_nothing() -> None:
    card = offer("us-a", 900, 3_000, ONCE)
    assert plan_bonuses([Person("", ())], [card], Decimal(900), TODAY, 12) == []  # four months for a bonus of three
    late = plan_bonuses([Person("", ())], [card], Decimal(1_000), TODAY, 12, promised=Decimal(1_500))
    assert [s.opens_on for s in late] == [date(2027, 1, 29)]
    ended = offer("us-a", 900, 3_000, ONCE, last_day=date(2027, 1, 28))
    assert plan_bonuses([Person("", ())], [ended], Decimal(1_000), TODAY, 12, promised=Decimal(1_500)) == []


DAYS = st.dates(date(2022, 1, 1), TODAY)
OWN = st.builds(
    lambda slug, day: OwnCard(slug, "Bank", "US", "personal", day, None, True, day),
    st.sampled_from(["us-a", "us-b", "us-c"]),
    DAYS,
)
OFFERS = st.builds(
    lambda slug, worth, spend, limit, months: offer(
        slug, worth, spend, ONCE, Rule("opened_any", limit=limit, months=months)
    ),
    st.sampled_from(["us-a", "us-b", "us-c", "us-d", "us-e"]),
    st.integers(1, 2_000),
    st.integers(0, 6_000),
    st.integers(1, 5),
    st.integers(1, 24),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(OWN, max_size=5), min_size=1, max_size=2),
    st.lists(OFFERS, max_size=5, unique_by=lambda c: c.slug),
    st.integers(1, 4_000),
)
def test_a_plan_never_breaks_a_rule_nor_spends_a_sum_twice(
    own: list[list[OwnCard]], cards: list[BonusCard], monthly: int
) -> None:
    people = [Person(str(n), tuple(held)) for n, held in enumerate(own)]
    steps = plan_bonuses(people, cards, Decimal(monthly), TODAY, 12)
    held = {person.name: list(person.cards) for person in people}
    before = TODAY
    for step in steps:
        assert before <= step.opens_on < step.done_on <= add_months(TODAY, 12)
        assert step.done_on <= add_months(step.opens_on, step.card.months + 1)
        months = round((step.done_on - step.opens_on).days / 30.4)
        assert step.card.spend <= monthly * months
        for rule in step.card.rules:
            assert check_rule(rule, step.card.slug, held[step.person], step.opens_on).applies == "no"
        opened = OwnCard(step.card.slug, "Bank", "US", "personal", step.opens_on, None, True, step.done_on)
        held[step.person].append(opened)
        before = step.done_on
