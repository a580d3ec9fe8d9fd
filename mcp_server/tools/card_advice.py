"""Catalogue cards ranked by what they are worth for a spending pattern, a goal programme and the cards held."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from mcp_server.toolkit.parameters import Amount, AnyName, Country, Currency, Pairs
from mcp_server.toolkit.wording import join_first
from mcp_server.views.bonus_plans import (
    BonusAgain,
    CardSlots,
    PlannedBonus,
    describe_plan,
    describe_slots,
    list_bonuses_again,
    list_slots,
    sum_promised,
    to_bonus_card,
    to_planned,
)
from mcp_server.views.card_purchases import describe_best_card, describe_cap_basis, describe_no_card
from mcp_server.views.card_recommendations import (
    NotYet,
    Recommendation,
    describe_no_match,
    describe_ranking,
    list_not_yet,
    to_recommendation,
    valuation_date,
)
from mcp_server.views.own_cards import Wallet, read_wallet
from mcp_server.views.scored_cards import ScoredCard, Spending, convert_total, describe_basis
from shared.db.card_spending import CardSpending, read_card_spending
from shared.db.cards import Card as Row
from shared.db.household import find_member
from shared.db.members import HOLDER
from shared.db.profile import Profile
from shared.db.spending import read_totals
from shared.domain import card_purchases, card_value, issuer_rules
from shared.domain.bonus_plans import MAX_MONTHS, Person, plan_bonuses
from shared.domain.card_purchases import MonthlySpending
from shared.domain.card_value import CATEGORIES, Category
from shared.domain.parsing.numbers import read_number
from shared.errors import Fault, Invalid, NoData
from shared.reference import cards as catalogue
from shared.reference.exchange_rates import find_exchange_rate, list_currencies
from shared.reference.load import Reference
from shared.reference.rows.travel import CatalogCard

SpendCategory = Annotated[
    Category, BeforeValidator(lambda value: card_value.find_category(value) if isinstance(value, str) else value)
]
Spend = Annotated[dict[str, Any], Pairs("category", "amount", "number")]
_MAX_AMOUNT = Decimal(10) ** 9
_USUAL_PURCHASE = Decimal(100)  # what is compared where no amount is given


class Recommendations(Result):
    recommendations: list[Recommendation]
    not_yet: list[NotYet]
    bonus_plan: list[PlannedBonus]
    slots: list[CardSlots]
    bonuses_again: list[BonusAgain]
    spend_source: Literal["imported", "argument", "none"]
    spend_months: int
    valuation_as_of: str | None
    total_found: int


def _parse_amount(value: Any) -> Decimal:
    """Raises ValueError, whose text says what is wrong."""
    value = read_number(value, is_whole=False)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 <= value <= _MAX_AMOUNT:
        raise ValueError("is not an amount")
    return Decimal(str(value))


def _parse_spending(raw_amounts: Mapping[str, Any], usd_per_unit: Decimal) -> Spending:
    by_category = {card_value.find_category(name): value for name, value in raw_amounts.items()}
    if len(by_category) < len(raw_amounts):
        raise Invalid(Fault("monthly_spend", "names a category twice", "each category once"))
    raw_amounts = by_category
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
    """What one of the card's points is worth in its currency, and how many goal points it becomes.

    Points that move only with a card the person lacks are worth their cash value.
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
    if spending.is_once:  # within the window of any bonus
        offer = replace(offer, bonus_months=12)
    is_held = card.slug in wallet.open_slugs
    before = {} if is_held else {c: v / rate.usd_per_unit for c, v in held_values.items()}
    total = convert_total(spending, rate.usd_per_unit)
    rules = (
        ()
        if is_held
        else tuple(
            (rule, issuer_rules.check_rule(rule, card.slug, wallet.cards, call.own_day))
            for rule in catalogue.list_issuer_rules(call.reference, card, call.today)
        )
    )
    eligibility = issuer_rules.judge(rules)
    amounts = _convert_spending(spending, rate.usd_per_unit)
    allowed = card_value.value_card(offer, amounts, before, total=total, owned=is_held)
    is_unpaid = bool(offer.bonus) and eligibility.refused == "bonus"
    unpaid = replace(offer, bonus=0)
    worth = card_value.value_card(unpaid, amounts, before, total=total) if is_unpaid else allowed
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
        rules=rules,
        eligibility=eligibility,
        allowed_first_year=allowed.first_year,
    )


@tool("cards", Tier.FREE, Effect.READS, "Recommend a card", states_facts=True, condenses=True)
def recommend_cards(
    call: Call,
    country: Country | None = None,
    goal_program: AnyName | None = None,
    category: SpendCategory | None = None,
    monthly_spend: Spend | None = None,
    spend_currency: Currency = "USD",
    max_annual_fee: Annotated[Amount | None, Field(description="In the card's currency.")] = None,
    include_held: bool = False,
    limit: Annotated[int, Field(ge=1, le=10)] = 5,
    only_held: bool | None = None,
    purchase_amount: Annotated[Amount | None, Field(description="One payment.")] = None,
    plan_months: Annotated[int | None, Field(ge=1, le=MAX_MONTHS)] = None,
    plan_with_member: AnyName | None = None,
) -> Recommendations:
    """Recommends the best credit card to get or open next, or (only_held) the one in the wallet to pay with, or a year
    of bonuses.

    For "Which card should I get? Which do I use for dinner?" For dining, groceries, business or a goal: bonus, rewards,
    credits less fee. Free accounts: top 3. Free.
    """
    goal = call.find_own_bank(goal_program).slug if goal_program and goal_program.strip() else None
    whole = _resolve_spending(call, monthly_spend, spend_currency)
    spending = whole.within(category)
    wallet = read_wallet(call)
    if only_held:
        amount = _USUAL_PURCHASE if purchase_amount is None else purchase_amount
        return _rank_own_cards(call, wallet, goal, category or "other", amount, spend_currency, spending, limit)
    rank_by = category
    if purchase_amount is not None:  # it counts at once, so rank by the whole value, not by that of 100
        dollars = purchase_amount * _find_dollars(spend_currency)
        rank_by, spending = None, Spending("argument", 1, {category or "other": dollars}, dollars, is_once=True)
    country = country or _find_home_country(call)
    held_values = _value_held_cards(call, wallet, goal, spending)
    eligible = _list_eligible(call.reference, country, max_annual_fee, set() if include_held else wallet.open_slugs)
    scored = [s for c in eligible if (s := _score(call, c, spending, goal, rank_by, wallet, held_values))]
    if not scored:
        raise NoData(describe_no_match(call.reference, country, goal), ["cards"])
    scored.sort(key=lambda s: s.order)
    top_cards = scored[: min(limit, call.limits.results or limit)]
    not_yet = list_not_yet(scored, top_cards[-1])
    slots = list_slots(call, wallet, country)
    plan, planned = _plan(call, wallet, goal, country, max_annual_fee, whole, plan_months, plan_with_member)
    first, *notes = planned or describe_ranking(top_cards, spending, rank_by, country, len(scored), not_yet)
    return Recommendations(
        message=join_first([first, *describe_slots(slots), *describe_basis(whole, category), *notes]),
        not_yet=not_yet,
        bonus_plan=plan,
        slots=slots,
        bonuses_again=list_bonuses_again(call, wallet),
        recommendations=[to_recommendation(call, s, spending, goal, rank_by) for s in top_cards],
        spend_source=spending.source,
        spend_months=spending.months,
        valuation_as_of=valuation_date(call.reference, top_cards, goal),
        total_found=len(scored),
    )


def _plan(
    call: Call,
    wallet: Wallet,
    goal: str | None,
    country: str | None,
    max_fee: Decimal | None,
    spending: Spending,
    months: int | None,
    other: str | None,
) -> tuple[list[PlannedBonus], list[str]]:
    """The requested plan of bonuses, and sentences about it; both empty if none was."""
    if months is None:
        return [], []
    if spending.total_usd is None:
        return [], [describe_plan([], months, None)]
    members = [HOLDER, *([find_member(call.db, other, Row.member)] if other and other.strip() else [])]
    wallets = [wallet if member == HOLDER else read_wallet(call, member) for member in dict.fromkeys(members)]
    people = [Person(member, w.cards) for member, w in zip(dict.fromkeys(members), wallets, strict=True)]
    has_business = any(own.segment == "business" for person in people for own in person.cards)
    cards = [
        bonus_card
        for card in _list_eligible(call.reference, country, max_fee, ())
        if (card.segment != "business" or has_business)
        and (bonus_card := to_bonus_card(call, card, _value_point(call, card, goal, wallet.open_slugs)[0]))
    ]
    monthly = spending.total_usd / 12
    steps = plan_bonuses(people, cards, monthly, call.own_day, months, sum_promised(call, members))
    planned = [to_planned(call, step) for step in steps]
    sentences = [describe_plan(planned, months, monthly)]
    if other and not wallets[-1].cards:
        sentences.append(f"No card of {people[-1].name} is saved here, so no rule could be held against one.")
    return planned[: call.limits.results], sentences


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
        not_yet=[],
        bonus_plan=[],
        slots=[],
        bonuses_again=[],
        recommendations=[to_recommendation(call, s, spending, goal, category) for s in top_cards],
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
    """The country of the profile if the catalogue has its cards, else None: all are compared."""
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
