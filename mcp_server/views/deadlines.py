"""What a person keeps goes in; what of it ends comes out, worded, valued and with what to do about it."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from mcp_server.toolkit.results import Money, Part
from mcp_server.views.vouchers import kind_of
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.holdings import Holdings
from shared.domain import balances, cards, deadlines
from shared.domain.deadlines import Deadline, Kind, Sum
from shared.domain.zones import day as local_day
from shared.errors import Candidates, NotFound
from shared.reference import hotels
from shared.reference.cards import exchange, point_in
from shared.reference.reference import Reference
from shared.reference.rows.programmes import Program
from shared.services.bookings.bookings import flight_day, flight_state, stay_state

DOLLARS = "USD"  # what points are valued in
# The tables a kind of deadline is read from.
TABLES: dict[Kind, tuple[str, ...]] = {
    "points": ("balances",),
    "voucher": ("vouchers",),
    "status": ("statuses",),
    "card_bonus": ("cards",),
    "annual_fee": ("cards",),
    "transfer_bonus": ("balances",),
    "booking": ("flights", "stays"),
}


class AtRisk(Part):
    amount: Money
    currency: str


class Subject(Part):
    type: str
    id: str


class UpcomingDeadline(Part):
    kind: Kind
    title: str
    due_on: date
    days_left: int
    amount: Money | None
    currency: str | None
    value_at_risk: AtRisk | None
    subject: Subject
    suggested_action: str


@dataclass(frozen=True)
class View:
    """From where a person looks at what they keep: the moment, their day, and the currency values are given in."""

    reference: Reference
    now: datetime
    today: date
    currency: str


def currency_known(reference: Reference, wanted: str) -> str:
    """The currency wanted, or that of the valuations where no rate of exchange is known."""
    return wanted if exchange(reference, wanted) else DOLLARS


def worth(view: View, program: str, points: int) -> Sum | None:
    each = point_in(view.reference, program, view.currency)
    return None if each is None else Sum(balances.worth(points, each * 100), view.currency)


def shown(found: Deadline) -> UpcomingDeadline:
    risk = found.at_risk
    return UpcomingDeadline(
        kind=found.kind,
        title=found.title,
        due_on=found.due_on,
        days_left=found.days_left,
        amount=found.amount,
        currency=found.currency,
        value_at_risk=AtRisk(amount=risk.amount, currency=risk.currency) if risk else None,
        subject=Subject(type=found.subject_type, id=found.subject_id),
        suggested_action=found.action,
    )


def every(view: View, held: Holdings, kinds: Collection[Kind]) -> Iterator[Deadline]:
    """All deadlines of these kinds, past ones too; nothing without a stored date."""
    for kind in TABLES:
        if kind in kinds:
            yield from _OF[kind](view, held)


def without_date(view: View, held: Holdings) -> list[str]:
    """Programmes whose points can end on a day that is not kept, each with its rule."""
    dateless = [view.reference.programs[b.program] for b in held.balances if b.balance and b.expires_on is None]
    return [f"{p.name} ({_rule(p)})" for p in dateless if deadlines.undated(p.expiry_rule)]


def _rule(program: Program) -> str:
    return balances.quoted_rule(program.expiry_rule, program.expiry_months) or "rule not known"


def _points(view: View, held: Holdings) -> Iterator[Deadline]:
    for row in held.balances:
        if row.expires_on is None or not row.balance:
            continue
        program = view.reference.programs[row.program]
        yield Deadline(
            kind="points",
            title=f"{row.balance:,} {program.currency} of {program.name} end",
            due_on=row.expires_on,
            today=view.today,
            subject_type="points_balance",
            subject_id=row.program,
            action=f"Check the day in the account and use or extend them before. Rule: {_rule(program)}.",
            amount=Decimal(row.balance),
            currency=program.currency,
            at_risk=worth(view, row.program, row.balance),
        )


def _vouchers(view: View, held: Holdings) -> Iterator[Deadline]:
    for row in held.vouchers:
        if row.expires_on is None:
            continue
        kind = kind_of(view.reference, row.voucher_slug)
        yield Deadline(
            kind="voucher",
            title=f"{kind.name if kind else row.voucher_slug} ends",
            due_on=row.expires_on,
            today=view.today,
            subject_type="voucher",
            subject_id=str(row.id),
            action="Use it before, and put it on the booking with apply_voucher_to_booking.",
        )


def _statuses(view: View, held: Holdings) -> Iterator[Deadline]:
    for row in held.statuses:
        if row.valid_until is None or row.lifetime:
            continue
        yield Deadline(
            kind="status",
            title=f"{row.tier} of {view.reference.programs[row.program].name} ends",
            due_on=row.valid_until,
            today=view.today,
            subject_type="loyalty_status",
            subject_id=row.program,
            action="See with get_status_progress what keeping it takes.",
        )


def _bonuses(view: View, held: Holdings) -> Iterator[Deadline]:
    for row in held.cards:
        due = deadlines.bonus_due(row.bonus_status, row.spend_deadline_on, row.closed_on, view.today)
        if due is None:
            continue
        spend = f"{row.spend_requirement:,.2f} {row.currency}" if row.spend_requirement is not None else "enough"
        yield Deadline(
            kind="card_bonus",
            title=f"Welcome bonus of {_name(row)}{_size(row)}: last day to spend",
            due_on=due,
            today=view.today,
            subject_type="card",
            subject_id=str(row.id),
            action=f"Spend {spend} in all by then."
            if due >= view.today
            else "The day has passed: ask the user, and set bonus_status with update_card.",
            amount=row.spend_requirement,
            currency=None if row.spend_requirement is None else row.currency,
            at_risk=_bonus_worth(view, row),
            open_when_past=True,
        )


def _name(row: Card) -> str:
    return row.nickname or row.name


def _size(row: Card) -> str:
    return f" ({row.bonus_amount:,} {row.bonus_currency or 'points'})" if row.bonus_amount else ""


def _bonus_worth(view: View, row: Card) -> Sum | None:
    """What the bonus is worth where the text names one programme, or the card earns in one."""
    catalogued = view.reference.cards.get(row.slug or "")
    named = row.bonus_currency or (catalogued.program if catalogued else None)
    if not row.bonus_amount or not named:
        return None
    try:
        return worth(view, view.reference.program(named).slug, row.bonus_amount)
    except (NotFound, Candidates):
        return None


def _fees(view: View, held: Holdings) -> Iterator[Deadline]:
    for row in held.cards:
        known = view.reference.cards.get(row.slug or "")
        fee, currency = row.annual_fee, row.currency
        if fee is None and known is not None:
            fee, currency = known.annual_fee, known.fee_currency
        due = cards.next_fee(row.opened_on, row.closed_on, bool(fee), view.today)
        if due is None:
            continue
        yield Deadline(
            kind="annual_fee",
            title=f"Annual fee of {_name(row)}",
            due_on=due,
            today=view.today,
            subject_type="card",
            subject_id=str(row.id),
            action="Decide before whether to keep the card. The day is the opening's anniversary; statements vary.",
            amount=fee,
            currency=currency,
        )


def _transfer_bonuses(view: View, held: Holdings) -> Iterator[Deadline]:
    """Those that run today, from a currency the person has some of."""
    mine = {row.program for row in held.balances if row.balance}
    open_routes = {(e.source, e.target) for found in view.reference.routes(view.today).values() for e in found}
    programs = view.reference.programs
    for row in view.reference.rows("transfer_bonuses.csv"):
        pair = (row.from_program, row.to_program)
        running = (row.start_date is None or row.start_date <= view.today) and view.today <= row.end_date
        if row.from_program not in mine or pair not in open_routes or not running:
            continue
        yield Deadline(
            kind="transfer_bonus",
            title=f"{row.bonus_percent}% transfer bonus {programs[pair[0]].name} to {programs[pair[1]].name} ends",
            due_on=row.end_date,
            today=view.today,
            subject_type="transfer_bonus",
            subject_id=">".join(pair),
            action=("Targeted: check that the account has it. " if row.targeted else "")
            + "Transfer only for an award that is there: transfers cannot be undone.",
        )


def _bookings(view: View, held: Holdings) -> Iterator[Deadline]:
    yield from (_departure(view, f) for f in held.flights if flight_state(view.reference, f, view.now) == "upcoming")
    for stay in held.stays:
        if stay_state(view.reference, stay, view.now) == "upcoming":
            yield from _stay(view, stay)


def _departure(view: View, row: FlightBooking) -> Deadline:
    return Deadline(
        kind="booking",
        title=f"Flight {row.flight_number or row.airline} {row.origin} to {row.destination}",
        due_on=row.departure_date,
        today=flight_day(view.reference, row.origin, view.now),
        subject_type="flight_booking",
        subject_id=str(row.id),
        action="Check in, and have the travel documents ready.",
    )


def _stay(view: View, row: HotelBooking) -> Iterator[Deadline]:
    there = local_day(view.now, hotels.zone(view.reference, row.hotel_code))
    subject = ("hotel_booking", str(row.id))
    if row.free_cancellation_until is not None:
        paid = row.original_pay_rate_usd if row.kind == "cash" else None
        yield Deadline(
            "booking",
            f"Free cancellation of {row.hotel_name} ends",
            row.free_cancellation_until,
            there,
            *subject,
            "Cancel before if the stay is not wanted, as the confirmation says how.",
            at_risk=None if paid is None else Sum(paid, row.cash_rate_currency),
        )
    arrival = f"Check-in at {row.hotel_name}"
    yield Deadline("booking", arrival, row.check_in_date, there, *subject, "Have the confirmation ready.")


_OF: dict[Kind, Callable[[View, Holdings], Iterable[Deadline]]] = {
    "points": _points,
    "voucher": _vouchers,
    "status": _statuses,
    "card_bonus": _bonuses,
    "annual_fee": _fees,
    "transfer_bonus": _transfer_bonuses,
    "booking": _bookings,
}
