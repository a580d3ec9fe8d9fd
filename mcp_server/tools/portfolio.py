"""The portfolio at a glance: balances and their value, cards, statuses, bookings, alerts and deadlines."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from mcp_server.views.deadlines import UpcomingDeadline
from mcp_server.views.own_credits import HeldCredit, OpenBonus, name_card, to_bonus_spending, to_held_credit
from mcp_server.views.profile import Profile, to_profile
from mcp_server.views.sheets import SheetName, SheetPart, build_sheet
from mcp_server.views.statuses import LoyaltyStatus, to_loyalty_status
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.messages import Notification
from shared.db.pagination import select_count
from shared.db.portfolio import Holdings, read_holdings
from shared.db.trips import Trip
from shared.db.upcoming_bookings import earliest_today
from shared.db.watches import list_limited_models
from shared.domain import balances, time_zones
from shared.domain import redemptions as rules
from shared.domain.dates import format_day
from shared.domain.deadlines import Deadline, Value, describe_next_step, select_due
from shared.domain.household import add_member
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.party_prices import format_amount
from shared.domain.plurals import pluralize
from shared.domain.valuations import VALUATION_CURRENCY
from shared.reference.exchange_rates import convert_amount, describe_rate, find_exchange_rate
from shared.services.bookings.bookings import flight_state, stay_state
from shared.services.bookings.redemptions import BookedRedemption, read_redemptions
from shared.services.deadlines import (
    TABLES,
    Viewpoint,
    choose_currency,
    find_deadlines,
    find_progress,
    list_own_credits,
    value_points,
)

# The log of redemptions for the portfolio.

NEWEST = 10


class RedemptionRow(Part):
    """`basis`: whether the price in cash was given with the booking or seen for it. Amounts are in `currency`."""

    booking_type: Literal["flight", "hotel"]
    booking_id: int
    member: str | None
    program: str | None
    day: date
    points: int
    cash_price: Money | None
    taxes: Money | None
    basis: rules.Basis | None
    value: Money | None
    currency: str
    cents_per_point: Money | None


class Redemptions(Part):
    """Award bookings whose travel begins in `year`; the sums are of those whose value is known."""

    year: int
    count: int
    points: int
    value_got: Money
    currency: str
    cents_per_point: Money | None
    without_price: int
    without_taxes: int
    without_rate: int
    rows: list[RedemptionRow]


def list_redemptions(call: Call, view: Viewpoint) -> Redemptions:
    booked = read_redemptions(call.db, call.reference, view.today.year)
    sums = rules.sum_redemptions(
        [b.redemption for b in booked], lambda amount, currency: convert_amount(amount, currency, view.currency)
    )
    return Redemptions.from_row(
        sums,
        year=view.today.year,
        value_got=round_to_minor_unit(sums.value, view.currency),
        currency=view.currency,
        rows=[_to_row(b) for b in booked[:NEWEST]],
    )


def _to_row(booked: BookedRedemption) -> RedemptionRow:
    redemption = booked.redemption
    return RedemptionRow.from_row(
        redemption,
        booking_type=booked.booking_type,
        booking_id=booked.booking_id,
        member=booked.member or None,
        program=booked.program,
        day=booked.day,
    )


def describe_redemptions(log: Redemptions) -> str:
    """One sentence; empty without an award booking this year."""
    reasons = (
        (log.without_price, "no cash price"),
        (log.without_taxes, "no taxes logged"),
        (log.without_rate, "a price in a currency without a known rate"),
    )
    others = " and ".join(f"{count} {'has' if count == 1 else 'have'} {what}" for count, what in reasons if count)
    if not log.count:
        return f" Of this year's redemptions {others}, so what they got is not known." if others else ""
    got = f"{round_to_minor_unit(log.value_got, log.currency):,} {log.currency}"
    what = f"{pluralize(log.count, 'redemption')} of {log.points:,} points got {got}"
    left_out = f"; besides, {others}" if others else ""
    return f" This year {what}, {log.cents_per_point} cents a point{left_out}."


# Totals for each member of a household.

_IN_MESSAGE = 5


class MemberSums(Part):
    """Of one person; null is the account holder. `value`: of the points whose value is known."""

    member: str | None
    programs: int
    value: Money
    currency: str
    open_cards: int
    statuses: int
    upcoming_flights: int
    upcoming_stays: int


def sum_members(view: Viewpoint, holdings: Holdings, values: Mapping[int, Decimal]) -> list[MemberSums]:
    """The account holder first. `values`: of each balance, in the currency of the view."""
    kinds = (holdings.balances, holdings.statuses, holdings.cards, holdings.flights, holdings.stays)
    members = sorted({row.member for rows in kinds for row in rows})
    return [_sum_member(view, holdings, values, member) for member in members]


def _sum_member(view: Viewpoint, holdings: Holdings, values: Mapping[int, Decimal], member: str) -> MemberSums:
    facts, now = view.reference, view.now
    balances = [row for row in holdings.balances if row.member == member]
    cards = [row for row in holdings.cards if row.member == member]
    states = [stay_state(facts, row, now) for row in holdings.stays if row.member == member]
    return MemberSums(
        member=member or None,
        programs=len(balances),
        value=sum((values.get(row.id, Decimal(0)) for row in balances), Decimal(0)),
        currency=view.currency,
        open_cards=sum(row.closed_on is None or row.closed_on > view.today for row in cards),
        statuses=sum(row.member == member for row in holdings.statuses),
        upcoming_flights=sum(
            row.member == member and flight_state(facts, row, now) == "upcoming" for row in holdings.flights
        ),
        upcoming_stays=sum(state in ("upcoming", "current") for state in states),
    )


def describe_members(sums: list[MemberSums]) -> str:
    """Describes other members' part of the total; empty without any."""
    others = [s for s in sums if s.member]
    sentences = [
        f" Of this, {s.member} has {pluralize(s.programs, 'programme')} worth about {s.value:,.2f} {s.currency}"
        + (f" and {pluralize(s.open_cards, 'open card')}." if s.open_cards else ".")
        for s in others[:_IN_MESSAGE]
    ]
    return "".join(sentences)


WITHIN_DAYS, SOONEST, TOP, IN_WORDS = 90, 5, 5, 2
# Counts: running alerts, trips, unread notices.
_COUNTED = {
    **{model.KIND.files: select_count(model, model.is_running()) for model in list_limited_models()},
    "active_trips": select_count(Trip, Trip.archived_at.is_(None)),
    "archived_trips": select_count(Trip, Trip.archived_at.is_not(None)),
    "unread": select_count(Notification, Notification.read_at.is_(None)),
}
_ACCOUNT_AND_COUNTS = select(Account, *(rows.scalar_subquery().label(name) for name, rows in _COUNTED.items()))
MAX_CREDITS = 40


class TopBalance(Part):
    member: str | None
    program: str
    name: str
    balance: int
    value: Money | None


class ProgramPoints(Part):
    member: str | None
    program: str
    name: str
    points: int
    currency_name: str
    value: Money | None


class BalanceSums(Part):
    """`points`: None with several programmes, since points of one are not those of another."""

    programs: int
    points: int | None
    by_program: list[ProgramPoints]
    value: Money
    currency: str
    top: list[TopBalance]


class CardCounts(Part):
    """`credits`: those that end soonest first, at most 40. `bonuses`: those marked pending or with known spending."""

    open: int
    bonuses_pending: int
    credits: list[HeldCredit]
    bonuses: list[OpenBonus]


class VoucherCounts(Part):
    held: int
    expiring_soon: int


class NextBooking(Part):
    kind: Literal["flight", "hotel"]
    booking_id: int
    title: str
    date: date


class BookingCounts(Part):
    upcoming_flights: int
    upcoming_stays: int
    next: NextBooking | None


class AlertCounts(Part):
    flight_alerts: int
    delay_alerts: int
    route_monitors: int
    standing_orders: int


class TripSums(Part):
    active: int
    archived: int


class Portfolio(Result):
    balances: BalanceSums
    by_member: list[MemberSums]
    cards: CardCounts
    statuses: list[LoyaltyStatus]
    vouchers: VoucherCounts
    bookings: BookingCounts
    redemptions: Redemptions
    alerts: AlertCounts
    trips: TripSums
    deadlines: list[UpcomingDeadline]
    profile: Profile
    unread_notifications: int
    as_of: datetime
    sheet: SheetPart | None


@tool("account", Tier.FREE, Effect.READS, "Show my whole portfolio", screen="portfolio")
def get_portfolio(
    call: Call,
    sheet: Annotated[SheetName | None, Field(description="As CSV too.")] = None,
    pasted: Annotated[
        str | None,
        Field(min_length=1, max_length=200_000, description="A programme's statement or the sheet's table to judge."),
    ] = None,
) -> Portfolio:
    """Sums up everything the user has and this service knows of them: points, worth, cards, status, trips, deadlines.

    For "What do I have in all? All in a spreadsheet." The whole picture before planning, with card credits and
    bonuses. Values are estimates. Free.
    """
    sheet_answer = build_sheet(call, sheet, pasted) if sheet or pasted else None
    holdings = read_holdings(call.db, earliest_today(call.now))
    call.add_own_programs(b.program for b in holdings.balances)
    account, *numbers = call.db.execute(_ACCOUNT_AND_COUNTS).one()
    counts = dict(zip(_COUNTED, numbers, strict=True))
    own_profile = to_profile(account, holdings.profile)
    view = Viewpoint(
        call.reference,
        call.now,
        time_zones.find_local_day(call.now, own_profile.timezone),
        choose_currency(own_profile.currency),
    )
    due = select_due(find_deadlines(view, holdings, tuple(TABLES)), WITHIN_DAYS)
    soon = [d for d in due if d.kind != "card_credit"]  # those are shown with the cards
    cards, log = _count_cards(view, holdings), list_redemptions(call, view)
    values = _value_balances(view, holdings.balances)
    sums, members = _sum_balances(view, holdings.balances, values), sum_members(view, holdings, values)
    first = describe_next_step(due)
    message = f"{first}{' ' if first else ''}{_describe_portfolio(view, own_profile, sums, holdings.balances)}"
    return Portfolio(
        message=sheet_answer[1]
        if sheet_answer
        else "".join(
            (
                message,
                describe_members(members),
                _describe_passed(soon),
                _describe_cards(cards, view, first),
                describe_redemptions(log),
            )
        ),
        balances=sums,
        by_member=members,
        cards=cards,
        statuses=[to_loyalty_status(call, s, view.today) for s in holdings.statuses],
        vouchers=_count_vouchers(view, holdings),
        bookings=_count_bookings(view, holdings),
        redemptions=log,
        alerts=AlertCounts.model_validate({name: counts[name] for name in AlertCounts.model_fields}),
        trips=TripSums(active=counts["active_trips"], archived=counts["archived_trips"]),
        deadlines=[UpcomingDeadline.model_validate(d) for d in soon[:SOONEST]],
        profile=own_profile,
        unread_notifications=counts["unread"],
        as_of=call.now,
        sheet=sheet_answer and sheet_answer[0],
    )


def _value_balances(view: Viewpoint, rows: Sequence[PointsBalance]) -> dict[int, Decimal]:
    return {row.id: value.amount for row in rows if (value := _value_balance(view, row))}


def _sum_balances(view: Viewpoint, rows: Sequence[PointsBalance], values: Mapping[int, Decimal]) -> BalanceSums:
    largest = sorted(rows, key=lambda r: (-values.get(r.id, Decimal(0)), -r.balance, r.program))
    # The points of one programme; those of several are never added up.
    return BalanceSums(
        programs=len({row.program for row in rows}),
        points=sum(row.balance for row in rows) if len({row.program for row in rows}) <= 1 else None,
        by_program=[
            ProgramPoints(
                program=row.program,
                name=view.reference.programs[row.program].name,
                points=row.balance,
                currency_name=view.reference.programs[row.program].currency,
                value=values.get(row.id),
                member=row.member or None,
            )
            for row in largest
        ],
        value=sum(values.values(), Decimal(0)),
        currency=view.currency,
        top=[
            TopBalance(
                program=row.program,
                name=view.reference.programs[row.program].name,
                balance=row.balance,
                value=values.get(row.id),
                member=row.member or None,
            )
            for row in largest[:TOP]
        ],
    )


def _value_balance(view: Viewpoint, row: PointsBalance) -> Value | None:
    return value_points(view, row.program, row.balance, row.own_cents)


def _describe_portfolio(view: Viewpoint, own_profile: Profile, sums: BalanceSums, rows: Sequence[PointsBalance]) -> str:
    value = f"{round_to_minor_unit(sums.value, sums.currency):,} {sums.currency}"
    sentences = [f"Points in {pluralize(sums.programs, 'programme')}, worth about {value}."]
    if not rows:
        sentences = ["No points balances are kept here."]
    unvalued = [view.reference.programs[r.program].name for r in rows if _value_balance(view, r) is None]
    if rows and len(unvalued) == len(rows):
        programs = pluralize(sums.programs, "programme")
        sentences = [f"Points in {programs}, whose worth is not known: {', '.join(unvalued)}."]
    elif unvalued:
        sentences.append(f"Not in this value, because no valuation is known: {', '.join(unvalued)}.")
    rate = find_exchange_rate(view.currency)
    if sums.value and rate and view.currency != VALUATION_CURRENCY:
        sentences.append(f"{describe_rate(rate)}.")
    if view.currency != own_profile.currency:
        sentences.append(f"No exchange rate to {own_profile.currency} is known, so values are in {view.currency}.")
    return " ".join(sentences)


def _describe_passed(soon: Sequence[Deadline]) -> str:
    """A sentence on overdue, unsettled bonuses; empty without any."""
    passed = [d for d in soon if d.days_left < 0]
    if not passed:
        return ""
    first = f"{passed[0].title} was {format_day(passed[0].due_on)}"
    more = f", and {pluralize(len(passed) - 1, 'other bonus', 'other bonuses')} too" if len(passed) > 1 else ""
    return f" {first}{more}: still marked pending. Was it paid?"


def _count_cards(view: Viewpoint, holdings: Holdings) -> CardCounts:
    return CardCounts(
        open=sum(card.closed_on is None or card.closed_on > view.today for card in holdings.cards),
        bonuses_pending=sum(card.bonus_status == "pending" for card in holdings.cards),
        credits=[to_held_credit(c) for c in list_own_credits(view, holdings)[:MAX_CREDITS]],
        bonuses=[
            OpenBonus.from_row(
                row,
                card_id=row.id,
                card=name_card(row),
                member=row.member or None,
                progress=progress and to_bonus_spending(progress, view.today),
            )
            for row in holdings.cards
            if (progress := find_progress(holdings.card_spending, row)) or row.bonus_status == "pending"
        ],
    )


def _describe_cards(cards: CardCounts, view: Viewpoint, said: str) -> str:
    """Sentences on bonuses that are being spent for, but for those that are `said`, and on credits that end soon."""
    soon = [c for c in cards.credits if c.due_soon]
    open_bonuses = [
        (add_member(b.card, b.member), b.progress)
        for b in cards.bonuses
        if b.progress and b.progress.sentence not in said
    ]
    sentences = [f" {name}: {progress.sentence}" for name, progress in open_bonuses[:IN_WORDS]]
    if soon:
        sums = [convert_amount(c.open, c.currency, view.currency) for c in soon]
        worth = sum((amount for amount in sums if amount), Decimal(0))
        what = pluralize(len(soon), "card credit")
        sentences.append(
            f" {what} of {format_amount(worth, view.currency)} in all {'ends' if len(soon) == 1 else 'end'} soon."
        )
    return "".join(sentences)


def _count_vouchers(view: Viewpoint, holdings: Holdings) -> VoucherCounts:
    days_left = [None if v.expires_on is None else (v.expires_on - view.today).days for v in holdings.vouchers]
    unexpired = [days for days in days_left if days is None or days >= 0]
    return VoucherCounts(
        held=len(unexpired),
        expiring_soon=sum(days is not None and days <= balances.ENDING_SOON_DAYS for days in unexpired),
    )


def _count_bookings(view: Viewpoint, holdings: Holdings) -> BookingCounts:
    facts, now = view.reference, view.now
    # As in list_hotel_bookings, a stay counts until it is over; one that has started is not the next booking.
    flights = [row for row in holdings.flights if flight_state(facts, row, now) == "upcoming"]
    stays = [row for row in holdings.stays if stay_state(facts, row, now) in ("upcoming", "current")]
    first = [
        NextBooking(
            kind="flight",
            booking_id=row.id,
            title=add_member(f"{row.flight_number or row.airline} {row.origin} to {row.destination}", row.member),
            date=row.departure_date,
        )
        for row in flights[:1]
    ]
    first += [
        NextBooking(
            kind="hotel", booking_id=row.id, title=add_member(row.hotel_name, row.member), date=row.check_in_date
        )
        for row in [r for r in stays if stay_state(facts, r, now) == "upcoming"][:1]
    ]
    return BookingCounts(
        upcoming_flights=len(flights),
        upcoming_stays=len(stays),
        next=min(first, key=lambda b: b.date, default=None),
    )
