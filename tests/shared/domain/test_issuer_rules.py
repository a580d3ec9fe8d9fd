"""Rules of issuers compared with the cards kept: windows, limits, bonuses, and what is not known."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.issuer_rules import KINDS, OwnCard, check_rule, describe_check, describe_refusal, find_start, judge

TODAY = date(2026, 11, 22)
CARD = OwnCard("us-b", "Bank", "US", "personal", date(2026, 1, 5), None, False, None)


@dataclass(frozen=True)
class Rule:
    kind: str
    issuer: str = "Bank"
    country: str = "US"
    cards: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    personal_only: bool = False
    limit: int | None = None
    months: int | None = None
    days: int | None = None
    text: str = "Bank declines"


@pytest.mark.parametrize(
    ("rule", "today", "start"),
    [
        (Rule("opened_any", months=24), TODAY, date(2024, 11, 22)),
        (Rule("opened_any", months=6), date(2026, 8, 31), date(2026, 2, 28)),
        (Rule("opened_any", months=12), date(2028, 2, 29), date(2027, 2, 28)),
        (Rule("opened_any", days=8), TODAY, date(2026, 11, 14)),
        (Rule("bonus_card"), TODAY, None),
    ],
)
def test_a_rule_looks_back_so_many_months_or_days(rule: Rule, today: date, start: date | None) -> None:
    assert find_start(rule, today) == start


def test_cards_of_any_bank_count_but_no_business_card() -> None:
    rule = Rule("opened_any", personal_only=True, limit=2, months=24)
    others = [
        replace(CARD, issuer="Other"),
        replace(CARD, segment="business"),
        replace(CARD, opened_on=date(2024, 1, 1)),
    ]
    assert check_rule(rule, "us-a", others, TODAY).applies == "no"
    two = check_rule(rule, "us-a", [CARD, *others], TODAY)
    assert (two.applies, two.count) == ("yes", 2)
    assert describe_check(rule, two) == "You opened 2 cards since 22 Nov 2024: Bank declines. Possible from 6 Jan 2028."


def test_a_card_without_its_opening_day_leaves_the_rule_open() -> None:
    rule = Rule("opened_issuer", limit=1, months=6)
    check = check_rule(rule, "us-a", [replace(CARD, opened_on=None)], TODAY)
    assert (check.applies, check.undated) == ("unknown", 1)
    assert describe_check(rule, check) == ("Bank declines. Not checked: 1 card kept here without the day that decides.")


def test_the_first_day_of_the_window_counts() -> None:
    rule = Rule("opened_issuer", limit=1, days=8)
    assert check_rule(rule, "us-a", [replace(CARD, opened_on=date(2026, 11, 14))], TODAY).applies == "yes"
    assert check_rule(rule, "us-a", [replace(CARD, opened_on=date(2026, 11, 13))], TODAY).applies == "no"


def test_open_cards_of_the_issuer_count_up_to_a_limit() -> None:
    rule = Rule("open_issuer", limit=2)
    assert check_rule(rule, "us-a", [CARD, replace(CARD, closed_on=TODAY)], TODAY).applies == "no"
    assert check_rule(rule, "us-a", [CARD, CARD], TODAY).applies == "yes"


def test_a_bonus_counts_by_its_day_and_an_unmarked_card_is_not_known() -> None:
    rule = Rule("bonus_card", months=48)
    paid = replace(CARD, bonus_earned=True, bonus_earned_on=date(2023, 5, 1))
    assert check_rule(rule, "us-b", [paid], TODAY).applies == "yes"
    assert check_rule(rule, "us-b", [replace(paid, bonus_earned_on=date(2020, 5, 1))], TODAY).applies == "no"
    assert check_rule(rule, "us-b", [replace(paid, bonus_earned_on=None)], TODAY).applies == "unknown"
    assert check_rule(rule, "us-b", [CARD], TODAY).applies == "unknown"
    assert check_rule(rule, "us-a", [paid], TODAY).applies == "no"  # another card
    assert check_rule(replace(rule, months=None), "us-b", [replace(paid, bonus_earned_on=None)], TODAY).applies == "yes"


def test_having_had_one_of_a_family_or_any_card_of_the_issuer() -> None:
    family = Rule("had_card", cards=("us-b", "us-c"))
    assert check_rule(family, "us-c", [replace(CARD, closed_on=date(2020, 1, 1))], TODAY).applies == "yes"
    recent = Rule("held_issuer", months=24)
    assert check_rule(recent, "us-c", [replace(CARD, closed_on=date(2024, 11, 21))], TODAY).applies == "no"
    assert check_rule(recent, "us-c", [replace(CARD, closed_on=date(2024, 11, 22))], TODAY).applies == "yes"
    assert check_rule(recent, "us-c", [replace(CARD, country="GB")], TODAY).applies == "no"


def test_a_higher_card_of_a_family_stands_against_a_lower_one_and_not_the_other_way_round() -> None:
    """The rule is about the lower card; the cards that stand against it are others."""
    higher = replace(CARD, slug="us-platinum", closed_on=date(2020, 1, 1))
    rule = Rule("had_card", cards=("us-gold",), blockers=("us-platinum",))
    assert check_rule(rule, "us-gold", [higher], TODAY).applies == "yes"
    assert check_rule(rule, "us-gold", [replace(CARD, slug="us-gold")], TODAY).applies == "no"


def test_a_card_of_another_issuer_blocks_where_the_rule_names_it() -> None:
    rule = Rule("opened_card", cards=("us-b",), blockers=("us-other",), days=90)
    other = replace(CARD, slug="us-other", issuer="Other", opened_on=date(2026, 10, 1))
    assert check_rule(rule, "us-b", [CARD], TODAY).applies == "no"
    assert check_rule(rule, "us-b", [other], TODAY).free_on == date(2026, 12, 31)


def test_open_cards_of_a_family_block_until_one_is_closed() -> None:
    rule = Rule("open_card", cards=("us-b", "us-c"), limit=2)
    cards = [replace(CARD, slug="us-c"), replace(CARD, closed_on=date(2027, 2, 1))]
    assert check_rule(rule, "us-c", cards, TODAY).free_on == date(2027, 2, 1)
    assert check_rule(rule, "us-c", cards[:1], TODAY).applies == "no"


def test_what_is_refused_is_said_with_the_last_of_the_days_or_without_one() -> None:
    window, once = Rule("opened_any", limit=1, months=24), Rule("bonus_card")
    paid = replace(CARD, bonus_earned=True)
    checks = [(rule, check_rule(rule, "us-b", [paid], TODAY)) for rule in (window, once)]
    assert judge(checks[:1]).free_on == date(2028, 1, 6)
    assert describe_refusal(judge(checks[:1])).startswith("Not before 6 Jan 2028 as told: until then you would likely")
    assert (judge(checks).refused, judge(checks).free_on) == ("card", None)
    assert "no day is known" in describe_refusal(judge(checks[1:]))
    assert describe_refusal(judge([])) == ""


DAYS = st.dates(date(2020, 1, 1), TODAY)
CARDS = st.builds(
    lambda slug, opened, length, paid: OwnCard(
        slug, "Bank", "US", "personal", opened, opened + timedelta(days=length) if length else None, bool(paid), paid
    ),
    st.sampled_from(["us-a", "us-b", "us-c"]),
    DAYS,
    st.integers(0, 1_500),
    st.none() | DAYS,
)
RULES = st.builds(
    Rule,
    st.sampled_from(KINDS),
    cards=st.just(("us-a", "us-b")),
    limit=st.sampled_from([None, 1, 2, 5]),
    months=st.sampled_from([None, 1, 6, 24]),
    days=st.sampled_from([None, 8, 90]),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(CARDS, max_size=6), RULES, st.sampled_from(["us-a", "us-b"]))
def test_no_card_is_free_before_the_day_its_rule_allows(own: list[OwnCard], rule: Rule, slug: str) -> None:
    """The day that is named against the rule itself, asked on each day before it."""
    check = check_rule(rule, slug, own, TODAY)
    if check.free_on is None:
        return
    last = (check.free_on - TODAY).days - 1
    waiting = [TODAY + timedelta(days=n) for n in (*range(0, last, 30), last)]
    assert last >= 0
    assert {check_rule(rule, slug, own, day).applies for day in waiting} == {"yes"}
    assert check_rule(rule, slug, own, check.free_on).applies != "yes"
