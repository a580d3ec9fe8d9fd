"""Recommendations of cards as results show them: what a card is worth, and the reasons in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import Money, Part
from shared.domain import card_value, welcome_offers
from shared.domain.card_value import CardOffer, CardValue
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.reference import cards as catalogue
from shared.reference.exchange_rates import describe_rate, find_exchange_rate
from shared.reference.load import Reference
from shared.reference.rows.travel import CatalogCard, WelcomeOffer


class Breakdown(Part):
    """first_year_value is bonus + earn + credits - fee; None is unknown and counts as nothing."""

    bonus: Money | None
    earn: Money | None
    credits: Money
    fee: Money | None


class Recommendation(Part):
    slug: str
    name: str
    first_year_value: Money
    ongoing_value: Money
    currency: str
    breakdown: Breakdown
    goal_points_per_year: int | None
    reasons: list[str]


@dataclass(frozen=True)
class Spending:
    """A year's spending by category in US dollars, and where it is from."""

    source: Literal["imported", "argument", "none"]
    months: int
    usd: Mapping[str, Decimal]
    total_usd: Decimal | None = None  # of all categories; None when nothing is known

    def within(self, category: str | None) -> "Spending":
        if category is None or self.source == "none":
            return self
        return replace(self, usd={category: self.usd.get(category, Decimal(0))})


@dataclass(frozen=True)
class ScoredCard:
    """A card with what it is worth; `per_hundred` is the return on 100 of the one category asked about."""

    card: CatalogCard
    offer: CardOffer
    worth: CardValue
    ratio: Fraction | None
    per_hundred: Decimal | None
    usd_per_unit: Decimal
    is_held: bool
    was_held: bool
    is_marginal: bool  # other cards held earn on this spending too
    welcome: WelcomeOffer | None  # None: no current one is known

    @property
    def order(self) -> tuple[Any, ...]:
        unknown = self.offer.point is None and self.worth.earn is None
        return (unknown, -(self.per_hundred or 0), -self.worth.first_year * self.usd_per_unit, self.card.slug)


def convert_total(spending: Spending, usd_per_unit: Decimal) -> Decimal | None:
    return None if spending.total_usd is None else spending.total_usd / usd_per_unit


def describe_no_match(reference: Reference, country: str | None, goal: str | None) -> str:
    countries = sorted({c.country for c in reference.cards.values()})
    if country is not None and country not in countries:
        return f"No card of {country} is known here; the catalogue has cards of {', '.join(countries)}."
    return (
        f"No card known here earns points that reach {reference.programs[goal].name}."
        if goal
        else "No card known here fits these wishes."
    )


def describe_ranking(
    listed: list[ScoredCard], spending: Spending, category: str | None, country: str | None, total: int
) -> str:
    sentences = [f"{pluralize(total, 'card')} compared; first {listed[0].card.name}."]
    if category:
        sentences.append(f"Ranked by what 100 spent on {_category_name(category)} brings, then by first-year value.")
    if spending.source == "none":
        sentences.append("Without spending the values rest on welcome bonus and fee alone.")
    if offers := [s.welcome for s in listed if s.welcome and not s.is_held]:
        sentences.append(welcome_offers.describe_ages(offers))
    if any(s.welcome is None for s in listed):
        sentences.append("Cards without a known welcome bonus are ranked without one.")
    if country is None:
        sentences.append("Cards of every country are compared; send country to compare those of one.")
    return " ".join([*sentences, "Estimates: check fee and offer with the issuer."])


def valuation_date(reference: Reference, listed: list[ScoredCard], goal: str | None) -> str | None:
    """The date of the oldest valuation used."""
    programs = [reference.programs.get(goal or s.card.program or "") for s in listed]
    return min((p.as_of for p in programs if p and p.as_of and p.value_usd_cents is not None), default=None)


def to_recommendation(
    call: Call, s: ScoredCard, spending: Spending, goal: str | None, category: str | None
) -> Recommendation:
    yearly = s.worth.points_per_year
    is_earning_known = spending.source != "none" and yearly is not None and s.ratio is not None
    return Recommendation(
        slug=s.card.slug,
        name=s.card.name,
        first_year_value=s.worth.first_year,
        ongoing_value=s.worth.ongoing,
        currency=s.card.fee_currency,
        breakdown=Breakdown(bonus=s.worth.bonus, earn=s.worth.earn, credits=s.worth.credits, fee=s.worth.fee),
        goal_points_per_year=int(yearly * s.ratio)
        if is_earning_known and yearly is not None and s.ratio is not None
        else None,
        reasons=[
            *_explain_bonus(call, s, spending),
            *_explain_earning(call.reference, s, spending, category),
            *_explain_goal(call.reference, s, goal),
            *_explain_confidence(call.reference, s),
        ],
    )


def _category_name(category: str) -> str:
    return category.replace("_", " ")


def _explain_bonus(call: Call, s: ScoredCard, spending: Spending) -> list[str]:
    if s.is_held:
        return ["You hold this card: no welcome bonus is counted."]
    unit = catalogue.find_currency_name(call.reference, s.card)
    if s.welcome is None:
        past = catalogue.find_welcome_offer(call.reference, s.card.slug, call.today)
        if past is None:
            return ["No welcome bonus is known; none is counted."]
        return [f"{welcome_offers.describe_past(past, unit, s.card.fee_currency)} It is not counted."]
    terms = welcome_offers.describe_terms(s.welcome, unit, s.card.fee_currency)
    words = [f"Bonus {terms}, {welcome_offers.describe_age(s.welcome)}."]
    if s.welcome.is_maximum:
        words.append("The issuer tells the amount when you apply; the most is counted.")
    if not card_value.reaches_bonus(s.offer, convert_total(spending, s.usd_per_unit)):
        words.append("Your spending does not reach it, so it is not counted.")
    if s.was_held:
        words.append("You held this card before; many issuers pay a bonus only once.")
    return words


def _explain_earning(reference: Reference, s: ScoredCard, spending: Spending, category: str | None) -> list[str]:
    words = []
    if s.per_hundred is not None and category:
        words.append(f"100 {s.card.fee_currency} on {_category_name(category)} bring {s.per_hundred:.2f} back.")
    if spending.source != "none" and s.worth.points_per_year:
        words.append(
            f"Earns {s.worth.points_per_year:,} {catalogue.find_currency_name(reference, s.card)} a year"
            " on this spending."
        )
    if spending.source != "none" and s.worth.earn is not None and s.is_marginal:
        words.append("Earnings count only beyond what the cards you hold bring.")
    special = [f"{r.category} {r.multiplier.normalize():f}" for r in card_value.list_conditional_rates(s.offer.rates)]
    if special:
        words.append(f"Not counted, as they depend on where and how you pay: {', '.join(special)}.")
    return words


def _explain_goal(reference: Reference, s: ScoredCard, goal: str | None) -> list[str]:
    if goal is None or s.ratio is None or s.card.program == goal:
        return []
    name = reference.programs[goal].name
    part = {"with-premium-card": ", only together with a premium card of the issuer", "partial": ", to some partners"}
    gets = Decimal(s.ratio.numerator) / s.ratio.denominator
    return [f"Points move to {name}, {gets.normalize():.4g} for 1{part.get(s.card.transferable, '')}."]


def _explain_confidence(reference: Reference, s: ScoredCard) -> list[str]:
    words = []
    if s.card.status == "unknown":
        words.append("It is not known whether this card is still offered.")
    if s.offer.point is None:
        words.append("No value of its points is known, so what it earns is left out and it is ranked last.")
    program = reference.programs.get(s.card.program or "")
    if s.offer.point is not None and program and program.kind == "bank" and program.home_country != s.card.country:
        words.append(f"Its points are valued like those of {program.name} in {program.home_country}.")
    rate = find_exchange_rate(s.card.fee_currency)
    if rate and s.card.fee_currency != "USD":
        words.append(f"Valuations are in US cents; {describe_rate(rate)}.")
    if s.card.annual_fee is None:
        words.append("The annual fee is unknown and not deducted.")
    low = ", an estimate of low confidence" if s.card.confidence == "low" else ""
    words.append(
        f"Fee {'unaudited' if s.card.audited_on is None else f'audited on {format_day(s.card.audited_on)}'}{low}."
    )
    return words
