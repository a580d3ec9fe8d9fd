"""Card recommendations for results: a card's worth, who refuses it until when, and the reasons."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Literal

from mcp_server.toolkit import Call, Money, Part
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.card_purchases import PurchaseValue, to_purchase_value
from mcp_server.views.scored_cards import ScoredCard, Spending, convert_total, name_category
from shared.domain import card_credits, card_value, issuer_rules, welcome_offers
from shared.domain.dates import format_day
from shared.domain.issuer_rules import RuleCheck
from shared.domain.plurals import name_points, pluralize
from shared.reference import cards as catalogue
from shared.reference.ages import find_page_day
from shared.reference.exchange_rates import describe_rate, find_exchange_rate
from shared.reference.load import Reference
from shared.reference.rows.travel import IssuerRule

MAX_NOT_YET = 10
MAX_NOT_YET_IN_MESSAGE = 2


def explain(
    call: Call,
    s: ScoredCard,
    spending: Spending,
    goal: str | None,
    category: str | None,
) -> list[str]:
    return [
        *filter(None, [issuer_rules.describe_refusal(s.eligibility)]),
        *_explain_bonus(call, s, spending),
        *(issuer_rules.describe_check(rule, check) for rule, check in s.rules if check.applies != "no"),
        *_explain_credits(call, s),
        *_explain_earning(call, s, spending, category),
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
    words += _explain_reach(s, spending)
    if s.was_held:
        words.append("You held this card before; many issuers pay a bonus only once.")
    return words


def _explain_reach(s: ScoredCard, spending: Spending) -> list[str]:
    total = convert_total(spending, s.usd_per_unit)
    if not s.offer.bonus_spend:
        return []
    if total is None:
        return ["Whether your spending reaches it is not known."]
    months = "" if spending.is_once else f" in {pluralize(s.offer.bonus_months or 12, 'month')}"
    own = f"about {card_value.count_window_spending(s.offer, total):,.0f} {s.card.fee_currency}{months}"
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
    credit_names = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    amount = f"{uncounted:,.0f} {s.card.fee_currency} a year"
    return [f"Credits of up to {amount} depend on where you buy and are not counted: {credit_names}."]


def _explain_earning(call: Call, s: ScoredCard, spending: Spending, category: str | None) -> list[str]:
    words, reference = [], call.reference
    if s.per_hundred is not None and category:
        words.append(f"100 {s.card.fee_currency} on {name_category(category)} bring {s.per_hundred:.2f} back.")
        if remark := catalogue.find_remark(reference, s.card.slug, category, call.today):
            words.append(f"The rate holds for {remark}.")
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
    way = f"{name_points(s.card.name)} move to {target} only with {cards}, {lack};"
    return f"{way} they are counted as cash, 1 US cent each."


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
    words.append(f"Fee {f'checked {format_day(day)}' if (day := find_page_day(s.card)) else 'not checked'}{low}.")
    return words


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
    """A rule of an issuer as it is told, compared with the cards kept; `count` cards were counted since `since`.

    `free_on`: the first day on which a rule that applies no longer does; None where no such day is known.
    """

    rule: str
    text: str
    applies: Literal["yes", "no", "unknown"]
    count: int
    since: date | None
    free_on: date | None


class NotYet(Part):
    """A card whose worth would put it on the list, but whose issuer would refuse it or its bonus today."""

    slug: str
    name: str
    refused: Literal["card", "bonus"]
    free_on: date | None
    reason: str


class Recommendation(Part):
    """`reaches_goal`: None without a goal. `credits_not_counted`: those of a year that depend on the person.

    `refused` and `free_on`: what the rules told refuse today, and the first day on which none of them does.
    """

    slug: str
    name: str
    held: bool
    refused: Literal["card", "bonus"] | None
    free_on: date | None
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
    unvalued = [c for c in reference.cards.values() if c.country == country and not find_exchange_rate(c.fee_currency)]
    if unvalued:
        cards = tell_rows(len(unvalued), f"card of {country}", (c.name for c in unvalued), f"cards of {country}")
        return f"No exchange rate of {unvalued[0].fee_currency} is known, so these cannot be ranked: {cards}"
    return (
        f"No card known here earns points that reach {reference.programs[goal].name}."
        if goal
        else "No card known here fits these wishes."
    )


def describe_ranking(
    listed: list[ScoredCard],
    spending: Spending,
    category: str | None,
    country: str | None,
    total: int,
    not_yet: Sequence[NotYet],
) -> list[str]:
    """The best card, which others the issuers refuse, and how the order came about: the most telling first."""
    best = listed[0]
    first = f"{best.card.name}{', which you hold' if best.is_held else ''}"
    worth = f"about {best.worth.first_year:,.0f} {best.card.fee_currency}"
    later = f"in the first year, {best.worth.ongoing:,.0f} in each later one"
    years = "a year" if best.worth.ongoing == best.worth.first_year else later
    lead = f"First of {pluralize(total, 'card')}"
    if best.eligibility.refused:  # the refused come last, so nothing else is possible either
        day = f" from {format_day(best.eligibility.free_on)}" if best.eligibility.free_on else ""
        lead = f"Issuers' rules stand against each of {pluralize(total, 'card')} today. First{day}"
    sentences = [f"{lead}: {first}, {worth} {years}."]
    # A fee alone is no reason to put one card first.
    if not category and not any(a for s in listed for a in (s.worth.bonus, s.worth.earn, s.worth.credits)):
        names = tell_rows(total, "card", (s.card.name for s in listed))
        also = "and no spending is given" if spending.source == "none" else "nor what its points are worth"
        sentences = [f"None can be valued, for no bonus is known {also}: {names}"]
    doubtful = [rule.text for rule, check in best.rules if best.was_held and check.applies == "unknown"]
    sentences += [f"You had it before, so its bonus is in doubt: {text}." for text in doubtful[:1]]
    if not best.eligibility.refused:
        sentences += _describe_not_yet(not_yet)
    if category:
        sentences.append(f"Ranked by what 100 spent on {name_category(category)} brings, then by first-year value.")
    if spending.source == "none":
        sentences.append("Without spending: welcome bonus and fee alone.")
    if offers := [s.welcome for s in listed if s.welcome and not s.is_held]:
        sentences.append(welcome_offers.describe_ages(offers))
    if any(s.welcome is None and not s.is_held for s in listed):
        sentences.append("Cards without a known welcome bonus count none.")
    if any(s.ratio is not None and not s.moves for s in listed):
        sentences.append("Cards whose points reach the goal only with another card are ranked below the others.")
    if country is None:
        sentences.append("Cards of every country; country names those of one.")
    sentences.append("Estimates: check fee and offer with the issuer.")
    return sentences


def valuation_date(reference: Reference, listed: list[ScoredCard], goal: str | None) -> str | None:
    """The date of the oldest valuation used."""
    programs = [reference.programs.get(goal or s.card.program or "") for s in listed]
    return min((p.as_of for p in programs if p and p.as_of and p.value_usd_cents is not None), default=None)


def to_recommendation(
    call: Call, s: ScoredCard, spending: Spending, goal: str | None, category: str | None
) -> Recommendation:
    yearly = s.worth.points_per_year
    is_earning_known = spending.source != "none" and yearly is not None and s.ratio is not None and s.moves
    others = catalogue.list_credits(call.reference, s.card.slug, call.today)
    return Recommendation(
        slug=s.card.slug,
        name=s.card.name,
        held=s.is_held,
        refused=s.eligibility.refused,
        free_on=s.eligibility.free_on,
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
        issuer_rules=[_to_rule(rule, check) for rule, check in s.rules],
        purchase=to_purchase_value(s),
        reasons=explain(call, s, spending, goal, category),
    )


def _to_rule(rule: IssuerRule, check: RuleCheck) -> RuleTold:
    fields = {"rule": rule.rule, "text": f"{rule.text}.", "applies": check.applies}
    return RuleTold.model_validate(
        describe_verified(rule) | fields | {"count": check.count, "since": check.since, "free_on": check.free_on}
    )


def _to_reach(s: ScoredCard, spending: Spending) -> OfferReach | None:
    """The current welcome offer's spending next to the person's; None if it is unknown, or the card held."""
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


def list_not_yet(scored: Sequence[ScoredCard], last: ScoredCard) -> list[NotYet]:
    """The refused cards that would rank above the last one listed, the most valuable first."""
    refused = (s for s in scored if s.eligibility.refused and s.allowed_order < last.allowed_order)
    return [
        NotYet(
            slug=s.card.slug,
            name=s.card.name,
            refused=s.eligibility.refused,
            free_on=s.eligibility.free_on,
            reason=next(issuer_rules.describe_check(rule, check) for rule, check in s.rules if check.applies == "yes"),
        )
        for s in sorted(refused, key=lambda s: s.allowed_order)[:MAX_NOT_YET]
        if s.eligibility.refused
    ]


def _describe_not_yet(cards: Sequence[NotYet]) -> list[str]:
    """`Issuers' rules stand against Chase Sapphire Reserve (from 5 Jan 2028).`"""
    named = [
        f"{card.name} ({f'from {format_day(card.free_on)}' if card.free_on else 'no day known'})"
        for card in cards[:MAX_NOT_YET_IN_MESSAGE]
    ]
    more = f" and {len(cards) - len(named)} more" if len(cards) > len(named) else ""
    return [f"Issuers' rules stand against {', '.join(named)}{more}."] if named else []
