"""Catalogue cards ranked by what they are worth for a spending pattern, a goal programme and the cards held."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import Amount, AnyName, Country, Currency, Pairs
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Part, Result
from mcp_server.views.card_purchases import (
    PurchaseValue,
    describe_best_card,
    describe_cap_basis,
    describe_no_card,
    to_purchase_value,
)
from mcp_server.views.own_cards import Wallet, read_wallet
from mcp_server.views.scored_cards import ScoredCard, Spending, convert_total, describe_basis, name_category
from shared.db.card_spending import CardSpending, read_card_spending
from shared.db.profile import Profile
from shared.db.spending import read_totals
from shared.domain import card_credits, card_purchases, card_value, issuer_rules, welcome_offers
from shared.domain.card_purchases import MonthlySpending
from shared.domain.card_value import CATEGORIES, Category
from shared.domain.dates import format_day
from shared.domain.issuer_rules import RuleCheck
from shared.domain.parsing.numbers import read_number
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.reference import cards as catalogue
from shared.reference.ages import find_page_day
from shared.reference.exchange_rates import describe_rate, find_exchange_rate, list_currencies
from shared.reference.load import Reference
from shared.reference.rows.travel import CatalogCard, IssuerRule

# Recommendations of cards as results show them: what a card is worth, and the reasons in sentences.

# The reasons of a card recommendation, in sentences.


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


Spend = Annotated[dict[str, Any], Pairs("category", "amount", "number")]
_MAX_AMOUNT = Decimal(10) ** 9
_USUAL_PURCHASE = Decimal(100)  # what is compared where no amount is given


class Recommendations(Result):
    recommendations: list[Recommendation]
    spend_source: Literal["imported", "argument", "none"]
    spend_months: int
    valuation_as_of: str | None
    total_found: int


def _parse_amount(value: Any) -> Decimal:
    """Raises ValueError, whose words say what is wrong with it."""
    value = read_number(value, is_whole=False)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 <= value <= _MAX_AMOUNT:
        raise ValueError("is not an amount")
    return Decimal(str(value))


def _parse_spending(raw_amounts: Mapping[str, Any], usd_per_unit: Decimal) -> Spending:
    expected = f"one of {', '.join(CATEGORIES)}"
    faults = [
        Fault(f"monthly_spend.{k[:40]}", "is not a category", expected) for k in raw_amounts if k not in CATEGORIES
    ]
    amounts = {}
    for name, value in raw_amounts.items():
        if name in CATEGORIES:
            try:
                amounts[name] = _parse_amount(value)
            except ValueError as fault:
                expected = getattr(fault, "expected", None) or "a number from 0"
                faults.append(Fault(f"monthly_spend.{name}", str(fault), expected))
    if faults:
        raise Invalid(*faults[:20])
    yearly = {k: v * 12 * usd_per_unit for k, v in amounts.items() if v}
    if not yearly:
        return Spending("none", 0, {})
    return Spending("argument", 1, yearly, sum(yearly.values(), Decimal(0)))


def read_imported_spending(call: Call) -> Spending:
    """A year's spending, extrapolated from at most the latest twelve months of imported statements."""
    cells = read_totals(call.db, None, None)
    months = sorted({cell.month for cell in cells})[-12:]
    yearly: dict[str, Decimal] = {}
    for cell in cells:
        rate = find_exchange_rate(cell.currency)
        if rate and cell.month in months:
            spent = cell.net * rate.usd_per_unit * 12 / len(months)
            yearly[cell.category] = yearly.get(cell.category, Decimal(0)) + spent
    yearly = {category: spent for category, spent in yearly.items() if spent > 0}
    if not yearly:
        return Spending("none", 0, {})
    counted = {category: spent for category, spent in yearly.items() if category not in card_value.APART}
    apart = {category: spent for category, spent in yearly.items() if category in card_value.APART}
    return Spending("imported", len(months), counted, sum(counted.values(), Decimal(0)), apart)


def _find_dollars(currency: str) -> Decimal:
    """US dollars of one unit. Raises Invalid for a currency without a known rate."""
    if rate := find_exchange_rate(currency):
        return rate.usd_per_unit
    currencies = ", ".join(list_currencies())
    raise Invalid(Fault("spend_currency", "has no known exchange rate", f"one of {currencies}"))


def _resolve_spending(call: Call, raw_amounts: Mapping[str, Any] | None, currency: str) -> Spending:
    if raw_amounts is None:
        return read_imported_spending(call)
    return _parse_spending(raw_amounts, _find_dollars(currency))


def _convert_spending(spending: Spending, usd_per_unit: Decimal) -> dict[str, Decimal]:
    return {category: amount / usd_per_unit for category, amount in spending.usd.items()}


def _value_point(
    call: Call, card: CatalogCard, goal: str | None, open_slugs: Collection[str]
) -> tuple[Decimal | None, Fraction | None]:
    """What one of the card's points is worth in its currency, and how many points of the goal it becomes.

    Points that move only with a card the person does not hold are worth their cash.
    """
    ratio = None if goal is None else catalogue.find_ratio(call.reference, card, goal, call.today)
    if not catalogue.moves_alone(call.reference, card, open_slugs) and card.program != goal:
        return catalogue.value_point_as_cash(card.fee_currency), ratio
    point = catalogue.value_point(call.reference, goal or card.program, card.fee_currency)
    if goal is None:
        return point, None
    return (None, ratio) if ratio is None or point is None else (point * ratio.numerator / ratio.denominator, ratio)


def _value_held_cards(call: Call, wallet: Wallet, goal: str | None, spending: Spending) -> dict[str, Decimal]:
    """What the open cards return in a year by category, in US dollars."""
    returns_by_card = []
    for slug in wallet.open_slugs:
        card = call.reference.cards.get(slug)
        rate = find_exchange_rate(card.fee_currency) if card else None
        if card and rate:
            point = _value_point(call, card, goal, wallet.open_slugs)[0]
            offer = catalogue.build_offer(call.reference, card, point, call.today)
            paid = card_value.value_by_category(offer, _convert_spending(spending, rate.usd_per_unit)) or {}
            returns_by_card.append({c: v * rate.usd_per_unit for c, v in paid.items()})
    return card_value.find_best_by_category(returns_by_card)


def _score(
    call: Call,
    card: CatalogCard,
    spending: Spending,
    goal: str | None,
    category: str | None,
    wallet: Wallet,
    held_values: Mapping[str, Decimal],
) -> ScoredCard | None:
    """Scores a card; None for one that cannot be compared, or whose points do not reach the goal."""
    rate = find_exchange_rate(card.fee_currency)
    point, ratio = _value_point(call, card, goal, wallet.open_slugs)
    if rate is None or (goal is not None and ratio is None):
        return None
    offer = catalogue.build_offer(call.reference, card, point, call.today)
    is_held = card.slug in wallet.open_slugs
    before = {} if is_held else {c: v / rate.usd_per_unit for c, v in held_values.items()}
    total = convert_total(spending, rate.usd_per_unit)
    worth = card_value.value_card(
        offer, _convert_spending(spending, rate.usd_per_unit), before, total=total, owned=is_held
    )
    returns = card_value.value_by_category(offer, {category: Decimal(100)}) if category else None
    moves = card.program == goal or catalogue.moves_alone(call.reference, card, wallet.open_slugs)
    return ScoredCard(
        card=card,
        offer=offer,
        worth=worth,
        ratio=ratio,
        per_hundred=returns[category] if returns and category else None,
        usd_per_unit=rate.usd_per_unit,
        is_held=is_held,
        was_held=card.slug in wallet.slugs and not is_held,
        is_marginal=bool(before),
        welcome=catalogue.find_counted_offer(call.reference, card.slug, call.today),
        missing=() if moves else tuple(catalogue.find_premium_cards(call.reference, card)),
        moves=moves,
    )


@tool(
    area="cards",
    tier=Tier.FREE,
    effect=Effect.READS,
    states_facts=True,
    title="Recommend a card",
    phrases="Which credit card should I get next, or use at restaurants, for dining, groceries or gas?",
    condenses=True,
)
def recommend_cards(
    call: Call,
    country: Annotated[Country | None, Field(description="Absent: the profile's.")] = None,
    goal_program: AnyName | None = None,
    category: Category | None = None,
    monthly_spend: Spend | None = None,
    spend_currency: Currency = "USD",
    max_annual_fee: Annotated[Amount | None, Field(description="In the card's currency.")] = None,
    include_held: bool = False,
    limit: Annotated[int, Field(ge=1, le=10)] = 5,
    only_held: Annotated[bool | None, Field(description="Which held card pays.")] = None,
    purchase_amount: Annotated[Amount | None, Field(description="With only_held.")] = None,
) -> Recommendations:
    """Recommends the best credit card to get or open next, or (only_held) the one in the wallet to pay with.

    For "Which card should I get? Which do I use for dinner?" For dining, groceries, gas, business or a goal: bonus,
    rewards and credits less the fee. Free accounts: top 3. Free.
    """
    goal = call.reference.program(goal_program).slug if goal_program and goal_program.strip() else None
    whole = _resolve_spending(call, monthly_spend, spend_currency)
    spending = whole.within(category)
    wallet = read_wallet(call)
    if only_held:
        amount = _USUAL_PURCHASE if purchase_amount is None else purchase_amount
        return _rank_own_cards(call, wallet, goal, category or "other", amount, spend_currency, spending, limit)
    country = country or _find_home_country(call)
    held_values = _value_held_cards(call, wallet, goal, spending)
    eligible = _list_eligible(call.reference, country, max_annual_fee, set() if include_held else wallet.open_slugs)
    scored = [s for c in eligible if (s := _score(call, c, spending, goal, category, wallet, held_values))]
    if not scored:
        raise NoData(describe_no_match(call.reference, country, goal), ["cards"])
    scored.sort(key=lambda s: s.order)
    top_cards = scored[: min(limit, call.limits.results or limit)]
    return Recommendations(
        message=" ".join(
            [describe_ranking(top_cards, spending, category, country, len(scored)), *describe_basis(whole, category)]
        ),
        recommendations=[to_recommendation(call, s, spending, goal, category, wallet) for s in top_cards],
        spend_source=spending.source,
        spend_months=spending.months,
        valuation_as_of=valuation_date(call.reference, top_cards, goal),
        total_found=len(scored),
    )


def _rank_own_cards(
    call: Call,
    wallet: Wallet,
    goal: str | None,
    category: str,
    amount: Decimal,
    currency: str,
    spending: Spending,
    limit: int,
) -> Recommendations:
    """The open cards by what they pay for one purchase; no fee and no bonus counts."""
    dollars = amount * _find_dollars(currency)
    statements = read_card_spending(call.db, call.today.replace(month=1, day=1))
    scored = []
    for slug in sorted(wallet.open_slugs):
        card = call.reference.cards.get(slug)
        score = _score(call, card, spending, goal, category, wallet, {}) if card else None
        if score:
            own = statements.get(wallet.ids[slug])
            scored.append(score.with_purchase(_value_purchase(call, score, category, dollars, own), own, dollars))
    if not scored:
        raise NoData(describe_no_card(wallet), ["cards"])
    scored.sort(key=lambda s: s.purchase_order)
    top_cards = scored[: min(limit, call.limits.results or limit)]
    return Recommendations(
        message=" ".join(
            [describe_best_card(call, top_cards, wallet, category, currency), *describe_cap_basis(top_cards)]
        ),
        recommendations=[to_recommendation(call, s, spending, goal, category, wallet) for s in top_cards],
        spend_source=spending.source,
        spend_months=spending.months,
        valuation_as_of=valuation_date(call.reference, top_cards, goal),
        total_found=len(scored),
    )


def _value_purchase(
    call: Call, score: ScoredCard, category: str, dollars: Decimal, statements: CardSpending | None
) -> card_purchases.Purchase | None:
    currency = score.card.fee_currency
    cells = statements.cells if statements else ()
    months = [MonthlySpending(c.month, c.category, c.net) for c in cells if c.currency == currency]
    return card_purchases.value_purchase(
        score.offer.rates, category, dollars / score.usd_per_unit, months, call.own_day
    )


def _find_home_country(call: Call) -> str | None:
    """The country of the profile if the catalogue has cards of it, else None: all are compared."""
    profile = call.db.get(Profile, call.account_id)
    countries = {card.country for card in call.reference.cards.values()}
    return profile.country if profile and profile.country in countries else None


def _list_eligible(
    reference: Reference, country: str | None, max_fee: Decimal | None, excluded: Collection[str]
) -> list[CatalogCard]:
    """Cards that are open to applications and fit the filters."""
    return [
        card
        for card in reference.cards.values()
        if card.status != "closed"
        and card.slug not in excluded
        and country in (None, card.country)
        and (max_fee is None or (card.annual_fee is not None and card.annual_fee <= max_fee))
    ]
