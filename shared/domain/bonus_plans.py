"""Welcome bonuses one after another: which card, who opens it, and when, within the available spending."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from shared.domain.dates import add_months
from shared.domain.issuer_rules import IssuerRule, OwnCard, check_rule

MAX_MONTHS = 12


@dataclass(frozen=True)
class BonusCard:
    """A card whose bonus can be planned. Amounts are in one currency; `last_day` is the offer's."""

    slug: str
    issuer: str
    country: str
    segment: str
    rules: tuple[IssuerRule, ...]
    worth: Decimal  # of the bonus, less the fee of the first year
    spend: Decimal
    months: int
    last_day: date | None


@dataclass(frozen=True)
class Person:
    """A member of the household and their cards."""

    name: str
    cards: tuple[OwnCard, ...]

    def may_open(self, card: BonusCard, on: date) -> bool:
        """Whether no known rule prevents the card on a day; a rule that cannot be checked does."""
        if any(own.slug == card.slug and own.is_open(on) for own in self.cards):
            return False
        return all(check_rule(rule, card.slug, self.cards, on).applies == "no" for rule in card.rules)


@dataclass(frozen=True)
class BonusStep:
    """A card opened on a day; `done_on` is the day by which the spending since then has met its bonus."""

    person: str
    card: BonusCard
    opens_on: date
    done_on: date


def plan_bonuses(
    people: Sequence[Person],
    cards: Iterable[BonusCard],
    monthly: Decimal,
    today: date,
    months: int,
    promised: Decimal = Decimal(0),
) -> list[BonusStep]:
    """Plans the bonuses of that many months, one at a time: the best per month is opened next.

    `monthly` is the household's spending, `promised` what open bonuses still need, which comes first.
    """
    if monthly <= 0:
        return []
    offers = [card for card in cards if card.worth > 0 and _count_months(card.spend, monthly) <= card.months]
    household, steps = list(people), list[BonusStep]()
    month = math.ceil(promised / monthly)
    while month < months:
        day = add_months(today, month)
        fits = [
            (card, at)
            for card in offers
            for at, person in enumerate(household)
            if month + _count_months(card.spend, monthly) <= months
            and (card.last_day is None or day <= card.last_day)
            and person.may_open(card, day)
        ]
        if not fits:
            month += 1
            continue
        card, at = max(fits, key=lambda fit: (fit[0].worth / _count_months(fit[0].spend, monthly), -fit[1]))
        month += _count_months(card.spend, monthly)
        step = BonusStep(household[at].name, card, day, add_months(today, month))
        household[at] = replace(household[at], cards=(*household[at].cards, _open(step)))
        steps.append(step)
    return steps


def _count_months(spend: Decimal, monthly: Decimal) -> int:
    """The months whose spending a bonus takes up; at least one, so that no two cards are opened together."""
    return max(1, math.ceil(spend / monthly))


def _open(step: BonusStep) -> OwnCard:
    card = step.card
    return OwnCard(card.slug, card.issuer, card.country, card.segment, step.opens_on, None, True, step.done_on)
