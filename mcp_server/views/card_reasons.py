"""The reasons of a card recommendation, in sentences."""

from collections.abc import Sequence
from decimal import Decimal

from mcp_server.toolkit.context import Call
from mcp_server.views.scored_cards import ScoredCard, Spending, convert_total, name_category
from shared.domain import card_credits, card_value, issuer_rules, welcome_offers
from shared.domain.dates import format_day
from shared.domain.issuer_rules import RuleCheck
from shared.domain.plurals import pluralize
from shared.reference import cards as catalogue
from shared.reference.exchange_rates import describe_rate, find_exchange_rate
from shared.reference.load import Reference
from shared.reference.rows.travel import IssuerRule


def explain(
    call: Call,
    s: ScoredCard,
    spending: Spending,
    goal: str | None,
    category: str | None,
    rules: Sequence[tuple[IssuerRule, RuleCheck]],
) -> list[str]:
    return [
        *_explain_bonus(call, s, spending),
        *(issuer_rules.describe_check(rule, check) for rule, check in rules if check.applies != "no"),
        *_explain_credits(call, s),
        *_explain_earning(call.reference, s, spending, category),
        *_explain_goal(call.reference, s, goal),
        *_explain_confidence(call.reference, s),
    ]


def _explain_bonus(call: Call, s: ScoredCard, spending: Spending) -> list[str]:
    if s.is_held:
        return ["You hold this card: no welcome bonus and no fee of this year are counted."]
    unit = catalogue.find_currency_name(call.reference, s.card)
    if s.welcome is None:
        past = catalogue.find_welcome_offer(call.reference, s.card.slug, call.today)
        if past is None:
            return ["Its welcome bonus is unknown; none is counted."]
        return [f"{welcome_offers.describe_past(past, unit, s.card.fee_currency)} It is not counted."]
    terms = welcome_offers.describe_terms(s.welcome, unit, s.card.fee_currency)
    words = [f"Bonus {terms}, {welcome_offers.describe_age(s.welcome)}."]
    if s.welcome.is_maximum:
        words.append("The issuer tells the amount when you apply; the most is counted.")
    words += _explain_reach(s, convert_total(spending, s.usd_per_unit))
    if s.was_held:
        words.append("You held this card before; many issuers pay a bonus only once.")
    return words


def _explain_reach(s: ScoredCard, total: Decimal | None) -> list[str]:
    if not s.offer.bonus_spend:
        return []
    if total is None:
        return ["Whether your spending reaches it is not known."]
    months = pluralize(s.offer.bonus_months or 12, "month")
    own = f"about {card_value.count_window_spending(s.offer, total):,.0f} {s.card.fee_currency} in {months}"
    if card_value.reaches_bonus(s.offer, total):
        return [f"Your spending of {own} reaches it."]
    return [f"Your spending of {own} does not reach it, so it is not counted."]


def _explain_credits(call: Call, s: ScoredCard) -> list[str]:
    others = catalogue.list_credits(call.reference, s.card.slug, call.today)
    if not others:
        return ["Its credits are unknown; none is counted."] if s.card.annual_fee else []
    uncounted = card_credits.sum_uncounted(others, s.card.fee_currency)
    if not uncounted:
        return []
    names = [c.name for c in others if not c.counts]
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    amount = f"{uncounted:,.0f} {s.card.fee_currency} a year"
    return [f"Credits of up to {amount} depend on where you buy and are not counted: {listed}."]


def _explain_earning(reference: Reference, s: ScoredCard, spending: Spending, category: str | None) -> list[str]:
    words = []
    if s.per_hundred is not None and category:
        words.append(f"100 {s.card.fee_currency} on {name_category(category)} bring {s.per_hundred:.2f} back.")
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
    if not s.moves:
        return [_explain_missing(reference, s, goal)]
    if goal is None or s.ratio is None or s.card.program == goal:
        return []
    name = reference.programs[goal].name
    part = {"with-premium-card": ", together with a card you hold", "partial": ", to some partners"}
    gets = Decimal(s.ratio.numerator) / s.ratio.denominator
    return [f"Points move to {name}, {gets.normalize():.4g} for 1{part.get(s.card.transferable, '')}."]


def _explain_missing(reference: Reference, s: ScoredCard, goal: str | None) -> str:
    """`Chase Freedom Unlimited points move to World of Hyatt only with a Chase Sapphire Reserve or ...`"""
    target = reference.programs[goal].name if goal else "other programmes"
    names = [c.name for c in s.missing]
    cards = " or ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "a premium card of the issuer"
    lack = "which you do not hold" if len(names) < 2 else "none of which you hold"
    return f"{s.card.name} points move to {target} only with {cards}, {lack}; they are counted as cash, 1 US cent each."


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
