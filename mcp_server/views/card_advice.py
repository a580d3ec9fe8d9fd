"""Recommendations of cards as results show them: what a card is worth, and the reasons in sentences."""

from datetime import date
from typing import Literal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.results import Money, Part
from mcp_server.views.card_purchases import PurchaseValue, to_purchase_value
from mcp_server.views.card_reasons import explain
from mcp_server.views.own_cards import Wallet
from mcp_server.views.scored_cards import ScoredCard, Spending, convert_total, name_category
from shared.domain import card_credits, card_value, issuer_rules, welcome_offers
from shared.domain.issuer_rules import RuleCheck
from shared.domain.plurals import pluralize
from shared.reference import cards as catalogue
from shared.reference.load import Reference
from shared.reference.rows.travel import IssuerRule


class Breakdown(Part):
    """first_year_value is bonus + earn + credits - fee; None is unknown and counts as nothing."""

    bonus: Money | None
    earn: Money | None
    credits: Money | None
    fee: Money | None


class MissingCard(Part):
    slug: str
    name: str


class OfferReach(Part):
    """Whether all spending, spread evenly over the months, meets what the welcome offer asks for."""

    amount: int | None
    spend: Money | None
    window_months: int | None
    own_spend: Money | None
    reachable: Literal["yes", "no", "unknown"]
    ends_on: date | None
    as_of: str | None


class RuleTold(Verified):
    """A rule of an issuer as it is told, compared with the cards kept; `count` cards were counted since `since`."""

    rule: str
    text: str
    applies: Literal["yes", "no", "unknown"]
    count: int
    since: date | None


class Recommendation(Part):
    """`reaches_goal`: None without a goal. `credits_not_counted`: those of a year that depend on the person."""

    slug: str
    name: str
    held: bool
    first_year_value: Money
    ongoing_value: Money
    currency: str
    breakdown: Breakdown
    goal_points_per_year: int | None
    reaches_goal: Literal["alone", "with_another_card"] | None
    missing_cards: list[MissingCard]
    welcome_offer: OfferReach | None
    credits_not_counted: Money | None
    issuer_rules: list[RuleTold]
    purchase: PurchaseValue | None
    reasons: list[str]


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
    best = listed[0]
    first = f"{best.card.name}{', which you hold' if best.is_held else ''}"
    worth = f"about {best.worth.first_year:,.0f} {best.card.fee_currency} in the first year"
    later = f"{best.worth.ongoing:,.0f} in each later one"
    sentences = [f"{pluralize(total, 'card')} compared; first {first}: {worth}, {later}."]
    if category:
        sentences.append(f"Ranked by what 100 spent on {name_category(category)} brings, then by first-year value.")
    if spending.source == "none":
        sentences.append("Without spending the values rest on welcome bonus and fee alone.")
    if offers := [s.welcome for s in listed if s.welcome and not s.is_held]:
        sentences.append(welcome_offers.describe_ages(offers))
    if any(s.welcome is None and not s.is_held for s in listed):
        sentences.append("Cards without a known welcome bonus are ranked without one.")
    if any(s.ratio is not None and not s.moves for s in listed):
        sentences.append("Cards whose points reach the goal only with another card are ranked below the others.")
    if country is None:
        sentences.append("Cards of every country are compared; send country to compare those of one.")
    return " ".join([*sentences, "Estimates: check fee and offer with the issuer."])


def valuation_date(reference: Reference, listed: list[ScoredCard], goal: str | None) -> str | None:
    """The date of the oldest valuation used."""
    programs = [reference.programs.get(goal or s.card.program or "") for s in listed]
    return min((p.as_of for p in programs if p and p.as_of and p.value_usd_cents is not None), default=None)


def to_recommendation(
    call: Call, s: ScoredCard, spending: Spending, goal: str | None, category: str | None, wallet: Wallet
) -> Recommendation:
    yearly = s.worth.points_per_year
    is_earning_known = spending.source != "none" and yearly is not None and s.ratio is not None and s.moves
    others = catalogue.list_credits(call.reference, s.card.slug, call.today)
    rules = [] if s.is_held else _check_rules(call, s, wallet)
    return Recommendation(
        slug=s.card.slug,
        name=s.card.name,
        held=s.is_held,
        first_year_value=s.worth.first_year,
        ongoing_value=s.worth.ongoing,
        currency=s.card.fee_currency,
        breakdown=Breakdown(bonus=s.worth.bonus, earn=s.worth.earn, credits=s.worth.credits, fee=s.worth.fee),
        goal_points_per_year=int(yearly * s.ratio)
        if is_earning_known and yearly is not None and s.ratio is not None
        else None,
        reaches_goal=None if goal is None else "alone" if s.moves else "with_another_card",
        missing_cards=[MissingCard(slug=c.slug, name=c.name) for c in s.missing],
        welcome_offer=_to_reach(s, spending),
        credits_not_counted=card_credits.sum_uncounted(others, s.card.fee_currency) if others else None,
        issuer_rules=[_to_rule(rule, check) for rule, check in rules],
        purchase=to_purchase_value(s),
        reasons=explain(call, s, spending, goal, category, rules),
    )


def _check_rules(call: Call, s: ScoredCard, wallet: Wallet) -> list[tuple[IssuerRule, RuleCheck]]:
    rules = catalogue.list_issuer_rules(call.reference, s.card, call.today)
    return [(rule, issuer_rules.check_rule(rule, s.card.slug, wallet.cards, call.today)) for rule in rules]


def _to_rule(rule: IssuerRule, check: RuleCheck) -> RuleTold:
    fields = {"rule": rule.rule, "text": f"{rule.text}.", "applies": check.applies}
    return RuleTold.model_validate(describe_verified(rule) | fields | {"count": check.count, "since": check.since})


def _to_reach(s: ScoredCard, spending: Spending) -> OfferReach | None:
    """What the current welcome offer asks for next to the person's spending; None without a known offer, or held."""
    if s.welcome is None or s.is_held:
        return None
    total = convert_total(spending, s.usd_per_unit)
    own_spend = None if total is None or not s.welcome.spend else card_value.count_window_spending(s.offer, total)
    reach = "yes" if card_value.reaches_bonus(s.offer, total) else "no"
    return OfferReach(
        amount=s.welcome.amount,
        spend=s.welcome.spend,
        window_months=s.welcome.months,
        own_spend=None if own_spend is None else round(own_spend, 2),
        reachable="unknown" if total is None and s.welcome.spend else reach,
        ends_on=s.welcome.valid_to,
        as_of=s.welcome.as_of,
    )
