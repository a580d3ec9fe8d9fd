"""Stays that are watched before they are booked: checks and changes of their terms, and sentences about them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.own_rows import check_cap
from mcp_server.views.bookings import HotelBooking
from shared.db.accounts import Account
from shared.db.hotel_alerts import HotelAlert
from shared.db.watches import PausableWatch, pause_watch, resume_watch
from shared.domain import time_zones
from shared.domain.bookings import find_fit, find_limit_faults
from shared.domain.hotel_prices import describe_limit, find_date_faults
from shared.domain.party_prices import format_amount
from shared.errors import Invalid
from shared.reference import hotels

STAYS_PAUSED = "active; this one stays paused. Pause or delete another one, or choose a larger plan."


def build_alert(call: Call, hotel: str, terms: Mapping[str, Any]) -> HotelAlert:
    """Builds the checked row of a stay to watch, without storing it. Raises Invalid, NotFound or Candidates."""
    hotel_row = hotels.find_hotel(call.reference, hotel)
    kind = "cash" if terms["max_cash_per_night"] is not None else terms["kind"]
    stay_terms = {**terms, "kind": kind, "hotel_code": hotels.code(hotel_row), "hotel_name": hotel_row.name}
    row = HotelAlert(compared_since=call.now, active=True, **stay_terms)
    check_terms(call, row)
    return row


def check_terms(call: Call, row: HotelAlert) -> None:
    """Raises Invalid."""
    zone = hotels.find_time_zone(call.reference, row.hotel_code)
    tomorrow = time_zones.find_local_day(call.now, zone) + timedelta(days=1)
    faults = find_date_faults(row.check_in_date, row.check_out_date, tomorrow)
    faults += find_limit_faults(row.kind, row.max_points_per_night, row.max_cash_per_night)
    if faults:
        raise Invalid(*faults)


def settle_limit(changes: dict[str, Any]) -> list[str]:
    """Lets a new limit in the other unit change the alert's kind; returns the limit to drop."""
    for kind, new, old in (
        ("award", "max_points_per_night", "max_cash_per_night"),
        ("cash", "max_cash_per_night", "max_points_per_night"),
    ):
        if changes.get(new) is not None and changes.get(old) is None:
            changes["kind"] = kind
            return [old]
    return []


def switch_alert(call: Call, row: HotelAlert, *, active: bool) -> bool:
    """Pauses or resumes it; returns whether that changed anything. Raises LimitReached."""
    if row.is_on == active:
        return False
    if not active:
        pause_watch(call.db, PausableWatch(row, is_running=True))
        return True
    check_terms(call, row)
    check_cap(call, call.db, HotelAlert, STAYS_PAUSED)
    resume_watch(call.db, call.db.get_one(Account, call.account_id), PausableWatch(row, is_running=False))
    return True


def describe_terms(booking: HotelBooking) -> str:
    return describe_limit(booking.max_points_per_night, booking.max_cash_per_night, booking.cash_rate_currency)


def describe_fit(booking: HotelBooking) -> str:
    """Says what a night costs at the last price seen, and whether that is within the limit."""
    latest, is_award, terms = booking.latest, booking.kind == "award", describe_terms(booking)
    if latest is None:
        return "no price has been seen yet."
    stay, offered = (booking.cash_rate_currency, booking.nights), (latest.points, latest.cash, latest.currency)
    nightly = find_fit(booking.kind, None, stay, offered)
    if nightly is None:
        missing = "no award nights" if is_award else "no price"
        return f"{missing} for the whole stay at the last look; you want {terms}."
    price = f"{nightly:,} points" if is_award else format_amount(nightly, booking.cash_rate_currency)
    limit = booking.max_points_per_night if is_award else booking.max_cash_per_night
    fits = find_fit(booking.kind, limit, stay, offered) is not None
    return f"{price} a night, {'within' if fits else 'over'} your limit ({terms})."
