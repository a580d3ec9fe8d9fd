"""Rules of issuers compared with the cards kept: windows, limits, bonuses, and what is not known."""

from dataclasses import dataclass, replace
from datetime import date

import pytest

from shared.domain.issuer_rules import OwnCard, check_rule, describe_check, find_start

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
    assert describe_check(rule, two) == "You opened 2 cards since 22 Nov 2024: Bank declines."


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
