"""A year's plan of welcome bonuses for a household, and the days on which cards stop counting for issuers' rules."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

import sqlalchemy as sa

from mcp_server.toolkit import Call, Money, Part
from mcp_server.views.own_cards import Wallet
from shared.db.cards import Card as Row
from shared.db.cards import read_bonus_spending
from shared.domain import issuer_rules
from shared.domain.bonus_plans import BonusCard, BonusStep
from shared.domain.card_value import FIRST_YEAR_FREE
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.reference import cards as catalogue
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.fact_life import ANY
from shared.reference.rows.travel import CatalogCard
from shared.services.deadlines import find_progress

MAX_STEPS_IN_MESSAGE = 3
MAX_SLOTS = 50


class PlannedBonus(Part):
    """`spent_by`: the day by which the household's spending alone meets what the bonus asks for.

    `worth` is that of the bonus less the fee of the first year, in `currency`.
    """

    member: str | None
    slug: str
    name: str
    open_on: date
    spent_by: date
    spend: Money
    bonus: int
    bonus_currency: str
    worth: Money
    currency: str
    offer_as_of: str | None


class CardSlots(Part):
    """What a rule counts of the cards kept. On each of `opens_on` one of them counts no more."""

    issuer: str
    rule: str
    text: str
    counted: int
    limit: int
    open: int
    opens_on: list[date]


class BonusAgain(Part):
    """A card held before or now, and from when its bonus may be paid again; None: no such day is known."""

    slug: str
    name: str
    free_on: date | None
    reason: str


def to_bonus_card(call: Call, card: CatalogCard, point: Decimal | None) -> BonusCard | None:
    """A card with a current offer that can be valued, in US dollars; None if part of it is unknown."""
    rate = find_exchange_rate(card.fee_currency)
    welcome = catalogue.find_counted_offer(call.reference, card.slug, call.today)
    if rate is None or point is None or welcome is None or card.annual_fee is None:
        return None
    if welcome.amount is None or welcome.spend is None or welcome.months is None:
        return None
    fee = Decimal(0) if FIRST_YEAR_FREE in card.benefits else card.annual_fee
    return BonusCard(
        slug=card.slug,
        issuer=card.issuer,
        country=card.country,
        segment=card.segment,
        rules=tuple(catalogue.list_issuer_rules(call.reference, card, call.today)),
        worth=(welcome.amount * point - fee) * rate.usd_per_unit,
        spend=welcome.spend * rate.usd_per_unit,
        months=welcome.months,
        last_day=welcome.valid_to,
    )


def sum_promised(call: Call, members: Sequence[str]) -> Decimal:
    """The spending still needed for these members' open bonuses, in US dollars, as far as statements show."""
    rows = call.db.scalars(sa.select(Row).where(Row.member.in_(members), Row.spend_requirement.is_not(None))).all()
    running = [
        row
        for row in rows
        if row.bonus_status not in ("earned", "missed")
        and (row.closed_on is None or row.closed_on > call.own_day)
        and (row.bonus_status == "pending" if row.spend_deadline_on is None else row.spend_deadline_on >= call.own_day)
    ]
    spending = read_bonus_spending(call.db, running)
    promised = Decimal(0)
    for row in running:
        progress, rate = find_progress(spending, row), find_exchange_rate(row.currency)
        promised += (progress.remaining if progress else row.spend_requirement or 0) * (
            rate.usd_per_unit if rate else 0
        )
    return promised


def to_planned(call: Call, step: BonusStep) -> PlannedBonus:
    card = call.reference.cards[step.card.slug]
    welcome = catalogue.find_counted_offer(call.reference, card.slug, call.today)
    rate = find_exchange_rate(card.fee_currency)
    return PlannedBonus(
        member=step.person or None,
        slug=card.slug,
        name=card.name,
        open_on=step.opens_on,
        spent_by=step.done_on,
        spend=welcome.spend if welcome and welcome.spend else Decimal(0),
        bonus=welcome.amount if welcome and welcome.amount else 0,
        bonus_currency=catalogue.find_currency_name(call.reference, card),
        worth=round(step.card.worth / rate.usd_per_unit, 2) if rate else Decimal(0),
        currency=card.fee_currency,
        offer_as_of=welcome.as_of if welcome else None,
    )


def describe_plan(steps: Sequence[PlannedBonus], months: int, monthly: Decimal | None) -> str:
    """`Plan for 12 months: 29 Nov 2026 you, Ink Business Cash; 29 Jan 2027 Sam, ...`"""
    if monthly is None:
        return "A plan needs what you spend a month, or imported statements."
    if not steps:
        return (
            f"No bonus can be planned within {monthly:,.0f} USD a month: issuers' rules or the spending stand against."
        )
    named = [f"{format_day(step.open_on)} {step.member or 'you'}, {step.name}" for step in steps[:MAX_STEPS_IN_MESSAGE]]
    more = f"; {len(steps) - len(named)} more" if len(steps) > len(named) else ""
    return (
        f"Plan for {pluralize(months, 'month')} within {monthly:,.0f} USD a month: {'; '.join(named)}{more}."
        " Offers are taken to stay: check each."
    )


def list_slots(call: Call, wallet: Wallet, country: str | None) -> list[CardSlots]:
    """Rules that limit cards opened within a time, if any of these cards count; the fullest first."""
    slots = []
    for row in call.reference.rows("issuer_rules.csv"):
        is_window = row.kind in ("opened_any", "opened_issuer") and row.limit is not None
        if not is_window or not row.is_valid(call.today) or country not in (None, row.country) or ANY not in row.cards:
            continue
        check = issuer_rules.check_rule(row, "", wallet.cards, call.own_day)
        if check.count:
            slots.append(
                CardSlots(
                    issuer=row.issuer,
                    rule=row.rule,
                    text=f"{row.text}.",
                    counted=check.count,
                    limit=row.limit or 1,
                    open=max((row.limit or 1) - check.count, 0),
                    opens_on=list(check.leaves),
                )
            )
    return sorted(slots, key=lambda slot: (slot.open, slot.issuer, slot.rule))[:MAX_SLOTS]


def list_bonuses_again(call: Call, wallet: Wallet) -> list[BonusAgain]:
    """The cards held before or now whose bonus is refused today, those that come back soonest first."""
    bonuses = []
    for slug in sorted(wallet.slugs & call.reference.cards.keys()):
        card = call.reference.cards[slug]
        checks = [
            (rule, issuer_rules.check_rule(rule, slug, wallet.cards, call.own_day))
            for rule in catalogue.list_issuer_rules(call.reference, card, call.today)
            if rule.limit is None
        ]
        applying = [pair for pair in checks if pair[1].applies == "yes"]
        if applying:
            reason = issuer_rules.describe_check(*applying[0])
            free_on = issuer_rules.judge(applying).free_on
            bonuses.append(BonusAgain(slug=slug, name=card.name, free_on=free_on, reason=reason))
    return sorted(bonuses, key=lambda again: (again.free_on or date.max, again.slug))[:MAX_SLOTS]


def describe_slots(slots: Iterable[CardSlots]) -> list[str]:
    """The next slot of the first rule that counts cards of all issuers: `Chase counts 4 of 5 cards ...`"""
    for slot in slots:
        if slot.opens_on and slot.limit > 2:  # smaller limits only space applications
            cards = f"{slot.counted} of {slot.limit} cards"
            return [f"{slot.issuer} counts {cards} as used; the next one leaves on {format_day(slot.opens_on[0])}."]
    return []
