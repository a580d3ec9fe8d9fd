"""Deadlines of an account's records: points, vouchers, statuses, card bonuses and fees, transfer bonuses, bookings.

Each is read from a stored date, with what is at stake and what to do about it. Nothing is computed only from a rule.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from shared.db.bookings import HotelBooking
from shared.db.card_credits import Uses, index_uses
from shared.db.card_spending import CardSpending
from shared.db.cards import Card
from shared.db.members import HOLDER
from shared.db.portfolio import Holdings
from shared.domain import balances, card_credits, card_value, cards, deadlines
from shared.domain.card_credits import CreditState
from shared.domain.card_fees import FeeReview
from shared.domain.cards import BonusProgress
from shared.domain.dates import add_months
from shared.domain.deadlines import Deadline, Kind, Subject, Value
from shared.domain.household import add_member
from shared.domain.party_prices import format_money
from shared.domain.plurals import name_points
from shared.domain.time_zones import find_local_day as local_day
from shared.domain.valuations import VALUATION_CURRENCY
from shared.reference import hotels
from shared.reference.cards import build_offer, list_credits, value_point
from shared.reference.exchange_rates import convert_amount, find_exchange_rate
from shared.reference.own_programs import is_own
from shared.reference.reference import Reference
from shared.reference.rows.programmes import Program
from shared.reference.rows.travel import CardCredit, CatalogCard
from shared.services.bookings.bookings import flight_day, flight_state, stay_state

# The tables a kind of deadline is read from.
TABLES: dict[Kind, tuple[str, ...]] = {
    "points": ("balances",),
    "voucher": ("vouchers",),
    "status": ("statuses",),
    "card_bonus": ("cards", "card_spending"),
    "card_credit": ("cards", "credit_uses"),
    "annual_fee": ("cards", "credit_uses", "card_spending"),
    "transfer_bonus": ("balances",),
    "booking": ("flights", "stays"),
}


@dataclass(frozen=True)
class Viewpoint:
    """The moment and the person's own day that deadlines are counted from, and the currency of their values."""

    reference: Reference
    now: datetime
    today: date
    currency: str


def choose_currency(preferred: str) -> str:
    """The preferred currency, or that of the valuations without an exchange rate."""
    return preferred if find_exchange_rate(preferred) else VALUATION_CURRENCY


def value_points(view: Viewpoint, program: str, points: int, own_cents: Decimal | None = None) -> Value | None:
    """The worth of points to the person: by their own figure, else the published one."""
    point_value = value_point(view.reference, program, view.currency, own_cents)
    return (
        None
        if point_value is None
        else Value(balances.value_balance(points, point_value * 100, view.currency), view.currency)
    )


def find_deadlines(view: Viewpoint, holdings: Holdings, kinds: Collection[Kind]) -> Iterator[Deadline]:
    """All deadlines of these kinds, past ones too; only with a stored date."""
    for kind in TABLES:
        if kind in kinds:
            yield from _FINDERS[kind](view, holdings)


def find_undated_programs(view: Viewpoint, holdings: Holdings) -> list[str]:
    """Programmes whose points may expire on an unstored day, each once with its rule."""
    dateless = dict.fromkeys(b.program for b in holdings.balances if b.balance and b.expires_on is None)
    return [
        f"{p.name} ({_expiry_rule(view, p)})"
        for p in map(view.reference.programs.__getitem__, dateless)
        if not is_own(p.slug)
        and deadlines.can_end_undated(rule.rule if (rule := view.reference.expiry(p.slug)) else None)
    ]


def _expiry_rule(view: Viewpoint, program: Program) -> str:
    expiry = view.reference.expiry(program.slug)
    return balances.quote_rule(expiry.rule, expiry.months) if expiry else "rule not known"


def _points_name(program: Program) -> str:
    """The currency and its programme, or one of them if it says both, like LifeMiles and Flying Blue miles."""
    if name_points(program.name) == program.name:
        return program.name
    currency, name = program.currency.casefold(), program.name.casefold()
    is_said = currency in name or name in currency
    return program.currency if is_said else f"{program.currency} of {program.name}"


def _find_points(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    for row in holdings.balances:
        if row.expires_on is None or not row.balance:
            continue
        program = view.reference.programs[row.program]
        yield Deadline(
            kind="points",
            title=f"{row.balance:,} {add_member(_points_name(program), row.member)} expire",
            due_on=row.expires_on,
            today=view.today,
            subject=Subject("points_balance", add_member(row.program, row.member)),
            suggested_action=deadlines.advise_on_points(program.name, _expiry_rule(view, program)),
            amount=Decimal(row.balance),
            currency=program.currency,
            value_at_risk=value_points(view, row.program, row.balance, row.own_cents),
        )


def _find_vouchers(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    for row in holdings.vouchers:
        if row.expires_on is None:
            continue
        kind = view.reference.voucher_types.get(row.voucher_slug)
        yield Deadline(
            kind="voucher",
            title=f"{kind.name if kind else row.voucher_slug} expires",
            due_on=row.expires_on,
            today=view.today,
            subject=Subject("voucher", str(row.id)),
            suggested_action="Use it before, and put it on the booking it pays for.",
        )


def _find_statuses(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    for row in holdings.statuses:
        if row.valid_until is None or row.lifetime:
            continue
        yield Deadline(
            kind="status",
            title=f"{row.tier} of {add_member(view.reference.programs[row.program].name, row.member)} ends",
            due_on=row.valid_until,
            today=view.today,
            subject=Subject("loyalty_status", add_member(row.program, row.member)),
            suggested_action="See what keeping it takes.",
        )


def _find_card_bonuses(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    for row in holdings.cards:
        due = deadlines.find_bonus_deadline(row.bonus_status, row.spend_deadline_on, row.closed_on, view.today)
        if due is None:
            continue
        spend = f"{row.spend_requirement:,.2f} {row.currency}" if row.spend_requirement is not None else "enough"
        program = view.reference.programs.get(row.bonus_currency or "")
        unit = program.currency if program else row.bonus_currency or "points"
        size = f" ({row.bonus_amount:,} {unit})" if row.bonus_amount else ""
        yield Deadline(
            kind="card_bonus",
            title=f"Welcome bonus of {_card_name(row)}{size}: last day to spend",
            due_on=due,
            today=view.today,
            subject=Subject("card", str(row.id)),
            suggested_action=f"Spend {spend} in all by then.{_describe_spending(view, holdings, row)}"
            if due >= view.today
            else "The day has passed: was the bonus earned or missed?" + _describe_spending(view, holdings, row),
            amount=row.spend_requirement,
            currency=None if row.spend_requirement is None else row.currency,
            value_at_risk=_value_bonus(view, row),
            open_when_past=True,
        )


def find_progress(card_spending: Mapping[int, CardSpending], row: Card) -> BonusProgress | None:
    """Progress towards a welcome bonus, from the person or from statements, whichever is newer;
    None once the bonus is settled."""
    if row.bonus_status in ("earned", "missed"):
        return None
    spending = card_spending.get(row.id)
    is_newest = row.spend_so_far_on and (spending is None or row.spend_so_far_on >= spending.until)
    if is_newest and row.spend_so_far_on and row.spend_so_far is not None and row.spend_requirement:
        terms = (row.spend_so_far, row.spend_requirement, row.currency, row.spend_so_far_on, row.spend_deadline_on)
        return BonusProgress(*terms, is_most=False, is_told=True)
    if spending is None:
        return None
    months = [(cell.month, cell.net) for cell in spending.cells if cell.currency == row.currency]
    return cards.find_bonus_progress(
        row.spend_requirement, row.currency, row.opened_on, row.spend_deadline_on, months, spending.until
    )


def _describe_spending(view: Viewpoint, holdings: Holdings, row: Card) -> str:
    progress = find_progress(holdings.card_spending, row)
    return f" {cards.describe_bonus_progress(progress, view.today)}" if progress else ""


@dataclass(frozen=True)
class OwnCredit:
    """A credit of a held card, in its current cycle."""

    card: Card
    credit: CardCredit
    state: CreditState
    proof: str | None = None  # what a statement showed of its use


def list_own_credits(view: Viewpoint, holdings: Holdings) -> list[OwnCredit]:
    """The credits of the open cards, those that end soonest first, those without a known end last."""
    uses = index_uses(holdings.credit_uses)
    proofs = {(use.card_id, use.credit, use.cycle_start): use.proof for use in holdings.credit_uses}
    own = [
        OwnCredit(
            row,
            credit,
            _find_credit_state(view, row, credit, uses),
            proofs.get((row.id, credit.credit, card_credits.find_cycle_start(credit.cycle, view.today, row.opened_on))),
        )
        for row in holdings.cards
        if row.slug and (row.closed_on is None or row.closed_on > view.today)
        for credit in list_credits(view.reference, row.slug, view.today)
    ]
    return sorted(own, key=lambda c: (c.state.period is None, c.state.days_left or 0, c.card.id, c.credit.credit))


def _find_credit_state(view: Viewpoint, row: Card, credit: CardCredit, uses: Uses) -> CreditState:
    used = uses.get((row.id, credit.credit), {})
    return card_credits.find_state(credit, view.today, row.opened_on, row.closed_on, used)


def find_card_credits(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    """Open credits that end soon, which depends on their cycle."""
    for own in list_own_credits(view, holdings):
        if not own.state.due_soon or own.state.period is None:
            continue
        credit, enrol = own.credit, " It must be activated first." if own.credit.enrolment else ""
        what = f" Terms: {credit.remark}." if credit.remark else ""
        yield Deadline(
            kind="card_credit",
            title=f"{credit.name} of {_card_name(own.card)}: {format_money(own.state.open, credit.currency)} open",
            due_on=own.state.period.last,
            today=view.today,
            subject=Subject("card", str(own.card.id)),
            suggested_action=f"Use it before, then mark it as used.{enrol}{what}",
            amount=own.state.open,
            currency=credit.currency,
            cost=_convert_cost(view, own.state.open, credit.currency),
        )


def _convert_cost(view: Viewpoint, amount: Decimal, currency: str) -> Value | None:
    """An amount next to the values at risk; None without a rate of its currency."""
    converted = convert_amount(amount, currency, view.currency)
    return None if converted is None else Value(converted, view.currency)


def _card_name(row: Card) -> str:
    return add_member(row.nickname or row.name, row.member)


def _value_bonus(view: Viewpoint, row: Card) -> Value | None:
    """The worth of the bonus, if the text names one programme, or the card earns in one."""
    catalogued = view.reference.cards.get(row.slug or "")
    currency = row.bonus_currency or (catalogued.program if catalogued else None)
    if not row.bonus_amount or not currency:
        return None
    programs = view.reference.find_programs(currency)
    return value_points(view, programs[0], row.bonus_amount) if len(programs) == 1 else None


def _find_annual_fees(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    for row in holdings.cards:
        catalogued = view.reference.cards.get(row.slug or "")
        fee = cards.choose_fee(
            row.annual_fee,
            row.currency,
            catalogued.annual_fee if catalogued else None,
            catalogued.fee_currency if catalogued else None,
        )
        due = cards.find_next_fee_date(row.opened_on, row.closed_on, bool(fee and fee[0]), view.today)
        if due is None or fee is None:
            continue
        yield Deadline(
            kind="annual_fee",
            title=f"Annual fee of {_card_name(row)}",
            due_on=due,
            today=view.today,
            subject=Subject("card", str(row.id)),
            suggested_action=f"{review_fee(view, holdings, row, *fee).describe()}"
            " The day is the opening's anniversary; statements vary.",
            amount=fee[0],
            currency=fee[1],
            cost=_convert_cost(view, *fee),
        )


def review_fee(view: Viewpoint, holdings: Holdings, row: Card, fee: Decimal, currency: str) -> FeeReview:
    """The fee compared with used credits and points by the card's statements, over twelve months."""
    since = add_months(view.today, -12)
    card = view.reference.cards.get(row.slug or "")
    if card is None or card.fee_currency != currency:
        return FeeReview(fee, currency, None, None, ())
    currencies = {c.credit: c.currency for c in list_credits(view.reference, card.slug, view.today)}
    used = [
        use.amount
        for use in holdings.credit_uses
        if use.card_id == row.id and use.cycle_start > since and currencies.get(use.credit) == currency
    ]
    cheaper = sorted(
        (other.annual_fee, other.name)
        for other in view.reference.cards.values()
        if (other.issuer, other.country, other.segment, other.program)
        == (card.issuer, card.country, card.segment, card.program)
        and card.program is not None
        and other.status != "closed"
        and other.annual_fee is not None
        and other.annual_fee < fee
    )
    return FeeReview(
        fee,
        currency,
        sum(used, Decimal(0)) if used else None,
        _value_own_earning(view, holdings, row, card, since),
        [name for _, name in cheaper],
    )


def _value_own_earning(
    view: Viewpoint, holdings: Holdings, row: Card, card: CatalogCard, since: date
) -> Decimal | None:
    """The earnings by the card's statements in its currency, with the year's points; None if unknown."""
    statements = holdings.card_spending.get(row.id)
    point = value_point(view.reference, card.program, card.fee_currency)
    if statements is None or statements.until <= since:
        return None
    offer = build_offer(view.reference, card, point, view.today)
    spent: dict[str, Decimal] = {}
    for cell in statements.cells:
        if cell.currency == card.fee_currency and cell.month >= since.replace(day=1):
            spent[cell.category] = spent.get(cell.category, Decimal(0)) + cell.net
    paid = card_value.value_by_category(offer, spent)
    if paid is None:
        return None
    return sum(paid.values(), card_value.sum_anniversary_points(card.benefits) * (point or 0))


def _find_transfer_bonuses(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    """Finds those that run today, from currencies that the person has."""
    mine = {row.program for row in holdings.balances if row.balance and row.member == HOLDER}
    open_routes = {(e.source, e.target) for edges in view.reference.routes(view.today).values() for e in edges}
    programs = view.reference.programs
    for row in view.reference.rows("transfer_bonuses.csv"):
        pair = (row.from_program, row.to_program)
        running = row.is_valid(view.today)
        if row.from_program not in mine or pair not in open_routes or not running:
            continue
        yield Deadline(
            kind="transfer_bonus",
            title=f"{row.bonus_percent}% transfer bonus {programs[pair[0]].name} to {programs[pair[1]].name} ends",
            due_on=row.valid_to,
            today=view.today,
            subject=Subject("transfer_bonus", ">".join(pair)),
            suggested_action=("Targeted: check that the account has it. " if row.targeted else "")
            + "Transfer only for an award that is there: transfers cannot be undone.",
        )


def _find_bookings(view: Viewpoint, holdings: Holdings) -> Iterator[Deadline]:
    yield from (
        Deadline(
            kind="booking",
            title=add_member(f"Flight {f.flight_number or f.airline} {f.origin} to {f.destination}", f.member),
            due_on=f.departure_date,
            today=flight_day(view.reference, f.origin, view.now),
            subject=Subject("flight_booking", str(f.id)),
            suggested_action="Check in, and have the travel documents ready.",
        )
        for f in holdings.flights
        if flight_state(view.reference, f, view.now) == "upcoming"
    )
    for stay in holdings.stays:
        if stay_state(view.reference, stay, view.now) == "upcoming":
            yield from _stay_deadlines(view, stay)


def _stay_deadlines(view: Viewpoint, row: HotelBooking) -> Iterator[Deadline]:
    there = local_day(view.now, hotels.find_time_zone(view.reference, row.hotel_code))
    subject = Subject("hotel_booking", str(row.id))
    if row.free_cancellation_until is not None:
        paid = row.original_pay_rate_usd if row.kind == "cash" else None
        yield Deadline(
            "booking",
            f"Free cancellation of {add_member(row.hotel_name, row.member)} ends",
            row.free_cancellation_until,
            there,
            subject,
            "Cancel before if the stay is not wanted, as the confirmation says how.",
            value_at_risk=None if paid is None else Value(paid, row.cash_rate_currency),
        )
    arrival = add_member(f"Check-in at {row.hotel_name}", row.member)
    yield Deadline("booking", arrival, row.check_in_date, there, subject, "Have the confirmation ready.")


_FINDERS: dict[Kind, Callable[[Viewpoint, Holdings], Iterable[Deadline]]] = {
    "points": _find_points,
    "voucher": _find_vouchers,
    "status": _find_statuses,
    "card_bonus": _find_card_bonuses,
    "card_credit": find_card_credits,
    "annual_fee": _find_annual_fees,
    "transfer_bonus": _find_transfer_bonuses,
    "booking": _find_bookings,
}
