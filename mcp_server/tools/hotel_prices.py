"""Prices of one stay: checked on demand, and as recorded over time."""

from collections.abc import Sequence
from datetime import date as Date
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, Effect, LiveCall, Money, Part, Result, Tier, tool
from mcp_server.toolkit.own_rows import get_own
from mcp_server.toolkit.parameters import Day, HotelBookingId, HotelName
from mcp_server.views.bookings import (
    HotelBooking,
    PriceDrop,
    PriceSnapshot,
    describe_drop,
    describe_no_watch,
    to_hotel_bookings,
    to_price_snapshot,
)
from mcp_server.views.hotel_alerts import describe_fit
from shared.db.bookings import HotelPrice
from shared.db.bookings import HotelStay as Row
from shared.db.hotel_prices import Stay, prices, prices_since_booking, stay_of
from shared.domain.dates import format_day, format_days
from shared.domain.hotel_prices import is_same_room
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.outbox.wording.hotel_prices import describe_room
from shared.reference import hotels
from shared.services.search.hotel_prices import require_prices
from shared.services.search.provenance import Freshness
from shared.services.watches.hotel_prices import CheckResult, WatchQuery, plan_of, query_sources, settle

MAX_ANSWER_AGE = timedelta(minutes=5)  # a check on demand uses no older cached answer
MAX_NEWEST = 5
SHOWN, COUNTED = 150, 1000


class CheckedStay(Result):
    booking: HotelBooking
    snapshots: list[PriceSnapshot]
    drop: PriceDrop | None
    freshness: Freshness


class PricedStay(Part):
    """The stay the prices are of, whole; `points` and `cash` are what was paid, null where it is not booked."""

    hotel: str
    check_in_date: Date
    check_out_date: Date
    booking_id: int | None
    points: int | None
    cash: Money | None
    currency: str | None


class PriceHistory(Result):
    stay: PricedStay
    snapshots: list[PriceSnapshot]
    lowest: PriceSnapshot | None
    highest: PriceSnapshot | None
    against_original: PriceDrop | None


_get_own = partial(get_own, Row, "hotel booking")


@tool("bookings", Tier.FREE, Effect.ADDS, "Check a booked hotel's price", live=True, open_world=True)
async def check_hotel_booking_price(call: LiveCall, booking_id: HotelBookingId) -> CheckedStay:
    """Checks today's rate of a booked hotel, so that it can be rebooked when the price has dropped.

    For "Did my Berlin hotel get cheaper?" Free.
    """
    query = await call.in_session(lambda session: _build_query(call, session, _get_own(session, booking_id)))
    check = await query_sources(call.ask, query, MAX_ANSWER_AGE)
    booking, snapshots = await call.in_session(lambda session: _store_check(call, session, check))
    require_prices(check.prices, booking.hotel.name)
    failed = check.prices.unanswered_sources
    rest = f" No answer from {', '.join(failed)}, so this may not be all." if failed else ""
    return CheckedStay(
        status="partial" if failed else "ok",
        message=f"{booking.hotel.name} from {format_day(booking.check_in_date)}: {_describe_price(booking)}"
        f"{_describe_room(booking)}{rest}",
        booking=booking,
        snapshots=snapshots,
        drop=booking.drop,
        freshness=check.prices.freshness,
    )


def _build_query(call: LiveCall, session: Session, row: Row) -> WatchQuery:
    if not row.hotel_code:
        raise NoData(f"{row.hotel_name}: {describe_no_watch(call)}", missing=["price"])
    plan = plan_of(session, call.reference, row, call.now)
    if plan is None:
        raise NoData(
            f"{row.hotel_name} from {format_day(row.check_in_date)}: the stay has begun, is cancelled or paused, or its"
            " hotel is no longer listed, so its price is not checked.",
            missing=["price"],
        )
    return plan


def _store_check(call: LiveCall, session: Session, check: CheckResult) -> tuple[HotelBooking, list[PriceSnapshot]]:
    """Stores the prices as the daily check does. Raises NotFound when the stay was removed in the meantime."""
    settle(session, call.reference, check)
    row = _get_own(session, check.plan.booking_id)
    (booking,) = to_hotel_bookings(call.with_session(session), [row])
    return booking, [to_price_snapshot(price) for price in prices_since_booking(session, row, MAX_NEWEST)]


def _describe_price(booking: HotelBooking) -> str:
    if not booking.booked:
        return describe_fit(booking)
    if booking.drop is not None:
        return f"{describe_drop(booking, booking.drop)}."
    latest = booking.latest
    if latest is None:
        return "no price has been seen yet."
    points = [f"{latest.points:,} points"] if latest.points is not None else []
    cash = [f"{latest.cash:,.2f} {latest.currency}"] if latest.cash is not None else []
    now = " or ".join(points + cash)
    return f"now {now}. No price below the one booked is known." if now else "sold out now."


def _describe_room(booking: HotelBooking) -> str:
    """The room of the price, if it is compared with a booking of a known room type."""
    latest = booking.latest
    if latest is None or (latest.points is None and latest.cash is None) or not booking.room_type:
        return ""
    is_same = is_same_room(booking.room_type, latest.room_type)
    facts = {"booked_room": booking.room_type, "room_type": latest.room_type, "is_same_room": is_same}
    return f" {describe_room(facts)}"


@tool("bookings", Tier.FREE, Effect.READS, "Show a hotel's price history", screen="price-history")
def get_hotel_price_history(
    call: Call,
    booking_id: HotelBookingId | None = None,
    hotel_id: HotelName | None = None,
    check_in_date: Day | None = None,
    check_out_date: Day | None = None,
    days: Annotated[int, Field(ge=1, le=365)] = 90,
) -> PriceHistory:
    """Shows how the price of a hotel developed: trend up or down, cheapest and highest, in cash and points.

    For "Was it cheaper before? How did it go last month?" For a booked stay, or a hotel with dates. Live:
    check_hotel_booking_price. Free.
    """
    by_name = (hotel_id, check_in_date, check_out_date)
    if (booking_id is None) == (None in by_name) or (booking_id is not None and any(by_name)):
        raise _build_naming_fault()
    row = _get_own(call.db, booking_id) if booking_id is not None else None
    name, stay = (row.hotel_name, stay_of(row)) if row else _resolve_stay(call, *by_name)
    recorded = prices(call.db, stay, call.account_id, call.now - timedelta(days=days), COUNTED)
    if not recorded:
        nights = format_days(stay[1], stay[2])
        message = f"No price of {name} from {nights} was recorded in the last {pluralize(days, 'day')}."
        raise NoData(message, missing=["prices"])
    ranked = _rank_prices(recorded, row)
    limit_note = f" The newest {SHOWN} are shown." if len(recorded) > SHOWN else ""
    return PriceHistory(
        message=f"{name} from {format_days(stay[1], stay[2])}: {pluralize(len(recorded), 'price')} recorded in the last"
        f" {pluralize(days, 'day')}.{limit_note}",
        stay=_to_priced_stay(name, stay, row),
        snapshots=[to_price_snapshot(price) for price in recorded[:SHOWN]],
        lowest=to_price_snapshot(ranked[0]) if ranked else None,
        highest=to_price_snapshot(ranked[-1]) if ranked else None,
        against_original=to_hotel_bookings(call, [row])[0].drop if row else None,
    )


def _to_priced_stay(name: str, stay: Stay, row: Row | None) -> PricedStay:
    cash = row.original_pay_rate_usd if row and row.kind == "cash" else None
    return PricedStay(
        hotel=name,
        check_in_date=stay[1],
        check_out_date=stay[2],
        booking_id=row.id if row else None,
        points=row.original_points if row and row.kind == "award" else None,
        cash=cash,
        currency=row.cash_rate_currency if row and cash is not None else None,
    )


def _build_naming_fault() -> Invalid:
    return Invalid(Fault("booking_id", "is one way to name a stay", "booking_id, or hotel_id with both dates"))


def _resolve_stay(call: Call, hotel_id: str | None, check_in: Date | None, check_out: Date | None) -> tuple[str, Stay]:
    if hotel_id is None or check_in is None or check_out is None:
        raise _build_naming_fault()
    if check_out <= check_in:
        raise Invalid(Fault("check_out_date", "is not after check_in_date", f"a date after {check_in}"))
    hotel = hotels.find_hotel(call.reference, hotel_id)
    return hotel.name, (hotels.code(hotel), check_in, check_out)


def _rank_prices(prices_seen: Sequence[HotelPrice], row: Row | None) -> list[HotelPrice]:
    """The comparable prices, cheapest first: points for an award, else cash in one currency."""
    awards = [p for p in prices_seen if p.points is not None]
    if (row is None and awards) or (row is not None and row.kind == "award"):
        return sorted(awards, key=lambda p: p.points or 0)
    currency = row.cash_rate_currency if row else next((p.currency for p in prices_seen if p.currency), None)
    rates = [p for p in prices_seen if p.cash is not None and p.currency == currency]
    return sorted(rates, key=lambda p: p.cash or Decimal(0))
