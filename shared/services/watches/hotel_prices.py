"""Checks of booked stays: the price now, and a notice when it fell."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from shared import clock
from shared.db.accounts import Account, is_suspended
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.hotel_prices import Stay, find_shared_price, store_price
from shared.db.runs import unschedule
from shared.domain import bookings
from shared.domain.hotel_prices import is_same_room
from shared.domain.party_prices import format_money
from shared.domain.plurals import pluralize
from shared.domain.watch_answers import is_overtaken
from shared.domain.watch_kinds import HOTEL_PRICE
from shared.outbox.enqueue import tell
from shared.providers import registry
from shared.providers.ask import Ask
from shared.reference import hotels
from shared.reference.hotel_awards import find_free_night
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel
from shared.services.bookings.bookings import stay_state
from shared.services.search.hotel_prices import HotelReadings, search_stays
from shared.services.search.provenance import freshness

EVENT = "hotel_price_drop"
SHARED = timedelta(hours=6)  # stays of the same nights share a look of this age
AT_LEAST = timedelta(microseconds=1)  # the least age an answer may have: nothing is taken from the cache
UNKNOWN = "this hotel is no longer known here"


@dataclass(frozen=True)
class WatchQuery:
    """What to ask for one stay, read before asking; compared later to tell whether it is still the same stay."""

    booking_id: int
    account_id: int
    hotel: Hotel
    check_in: date
    check_out: date
    kind: str
    currency: str
    since: datetime  # what was seen before does not count for it
    every: int  # of so many nights one is free

    @property
    def stay(self) -> Stay:
        return hotels.code(self.hotel), self.check_in, self.check_out


@dataclass(frozen=True)
class CheckResult:
    """What the sources answered to a plan."""

    plan: WatchQuery
    asked_at: datetime
    prices: HotelReadings

    @property
    def has_answer(self) -> bool:
        return any(r.has_answer for r in self.prices.readings)

    @property
    def silent(self) -> list[str]:
        """Who failed; a source that never has this hotel does not count as one."""
        return [f"{f.name} ({f.reason})" for f in self.prices.coverage.failed if f.reason != "not_covered"]

    @property
    def complete(self) -> bool:
        """Whether no one was missing who could have had a price for someone."""
        return not self.silent and all(s.reason == "not_configured" for s in self.prices.coverage.skipped)

    @property
    def outage(self) -> str | None:
        """Why no one answered, where that can be tried again: a missing connection or setting cannot."""
        return f"no source answered: {', '.join(self.silent)}" if self.silent and not self.has_answer else None

    @property
    def trouble(self) -> str | None:
        """What the booking shows: who did not answer, or that no one could be asked."""
        if self.silent:
            return f"not answered by {', '.join(self.silent)}"
        if self.has_answer:
            return None
        coverage = self.prices.coverage
        rest = [f"{s.name}: {s.reason}" for s in (*coverage.failed, *coverage.skipped)]
        return ", ".join(rest) or "no source of hotel prices is configured"


def plan_of(reference: Reference, row: HotelBooking, now: datetime) -> WatchQuery | None:
    """None for a stay that has begun or is cancelled, and for a hotel that has left the facts."""
    hotel = hotels.find_stored(reference, row.hotel_code)
    if hotel is None or stay_state(reference, row, now) != "upcoming":
        return None
    return WatchQuery(
        booking_id=row.id,
        account_id=row.account_id,
        hotel=hotel,
        check_in=row.check_in_date,
        check_out=row.check_out_date,
        kind=row.kind,
        currency=row.cash_rate_currency,
        since=row.compared_since,
        every=find_free_night(reference, hotel).find_every(reference, None, ()),
    )


def prepare(session: Session, reference: Reference, booking_id: int) -> tuple[WatchQuery | None, int | None]:
    """What to ask, and the price someone saw recently that makes asking needless.

    Without a plan there is nothing to watch: the schedule of a stay that is over, begun or cancelled is switched off.
    """
    row = session.get(HotelBooking, booking_id)
    plan = plan_of(reference, row, clock.now()) if row else None
    if row is None or stay_state(reference, row, clock.now()) != "upcoming":
        unschedule(session, HOTEL_PRICE.run, [booking_id])
    elif plan is None:
        row.last_error = UNKNOWN
    if plan is None or is_suspended(session, plan.account_id):
        return None, None
    since = max(clock.now() - SHARED, plan.since)
    price = find_shared_price(session, plan.stay, plan.account_id, plan.currency, since)
    return plan, price.id if price else None


async def query_sources(ask: Ask, plan: WatchQuery, max_age: timedelta) -> CheckResult:
    """Asks the sources; holds no connection to the database in the meantime."""
    now = clock.now()
    nights = (plan.check_out - plan.check_in).days
    readings = await search_stays(
        ask,
        [plan.hotel],
        plan.check_in,
        plan.check_out,
        currency=plan.currency,
        by_night=[plan.hotel] if 0 < plan.every <= nights else (),
        max_age=max(min(max_age, now - plan.since), AT_LEAST),
    )
    return CheckResult(plan, now, readings)


def settle(session: Session, reference: Reference, sight: CheckResult) -> HotelPrice | None:
    """Writes what a check found; the price row, where a source knows the stay.

    The booking is read again under its lock: cancelled, removed, changed or looked at later means that nothing is
    written.
    """
    row = _still(session, reference, sight.plan, sight.asked_at)
    if row is None:
        return None
    price_row = _price(sight) if sight.has_answer else None
    price = store_price(session, price_row) if price_row else None
    _note(row, sight.trouble, sight.asked_at if sight.has_answer else row.last_checked_at)
    if price is not None:
        _tell(session, row, price)
    return price


def settle_shared(session: Session, reference: Reference, plan: WatchQuery, price_id: int) -> None:
    """The same with a price another look has stored."""
    price = session.get(HotelPrice, price_id)
    if price is not None and (row := _still(session, reference, plan, price.captured_at)) is not None:
        _note(row, None, price.captured_at)
        _tell(session, row, price)


def _still(session: Session, reference: Reference, plan: WatchQuery, asked_at: datetime) -> HotelBooking | None:
    row = session.get(HotelBooking, plan.booking_id, with_for_update=True, populate_existing=True)
    if row is None or is_overtaken(asked_at, row.last_checked_at):
        return None
    return row if plan_of(reference, row, clock.now()) == plan else None


def _note(row: HotelBooking, error: str | None, checked_at: datetime | None) -> None:
    row.last_error, row.last_checked_at = error, checked_at
    flag_modified(row, "updated_at")  # written as it is: a look is no change of the booking


def _price(sight: CheckResult) -> HotelPrice | None:
    """One row for all sources of a look; None where no one knows the stay."""
    plan = sight.plan
    code, check_in, check_out = plan.stay
    stay_price = sight.prices.stay(code, check_in, check_out, plan.every).best
    if stay_price.state == "unknown":
        return None
    spoke = [r for r in sight.prices.readings if any(o.hotel_code == code for o in r.value or ())]
    fresh = freshness(spoke)
    return HotelPrice(
        hotel_code=code,
        check_in_date=check_in,
        check_out_date=check_out,
        captured_at=fresh.fetched_at,
        points=stay_price.points,
        cash=stay_price.cash,
        currency=stay_price.currency if stay_price.cash is not None else None,
        room_type=stay_price.room_type,
        source=fresh.source,
        mode=fresh.mode,
        provider_checked_at=fresh.provider_checked_at,
        complete=sight.complete,
        asker_id=plan.account_id if any(_own(r.source, plan.account_id) for r in spoke) else None,
    )


def _own(source: str, account_id: int) -> bool:
    """Whether what this source said may be shown to no one but the account whose connection asked."""
    card = registry.providers()[source]
    return card.terms == "asker" and registry.scope(card, account_id).startswith("account-")


def _tell(session: Session, row: HotelBooking, price: HotelPrice) -> None:
    """A price below the booked one is told once, and again only when it is lower still."""
    booked = (row.original_points, row.original_pay_rate_usd, row.cash_rate_currency)
    drop = bookings.find_price_drop(row.kind, booked, (price.points, price.cash, price.currency))
    now = price.points if row.kind == "award" else price.cash
    if drop is None or now is None or (row.told_price is not None and now >= row.told_price):
        return
    row.told_price = Decimal(now)
    tell(
        session,
        session.get_one(Account, row.account_id),
        EVENT,
        _describe_drop(row, price, drop),
        dedupe_key=f"{EVENT}:{row.id}:{price.id}:{now}",
        subject=("hotel_booking", row.id),
        mail=True,
    )


def _describe_drop(row: HotelBooking, price: HotelPrice, drop: bookings.PriceDrop) -> dict[str, Any]:
    """In words a mail can use."""
    checked = price.provider_checked_at or price.captured_at
    if row.kind == "award":
        was, now, saved = (pluralize(n or 0, "point") for n in (row.original_points, price.points, drop.points_saved))
    else:
        amounts = (row.original_pay_rate_usd, price.cash, drop.cash_saved)
        was, now, saved = (format_money(n or 0, row.cash_rate_currency) for n in amounts)
    free_until = row.free_cancellation_until
    return {
        "booking_id": row.id,
        "hotel": row.hotel_name,
        "check_in": row.check_in_date.isoformat(),
        "check_out": row.check_out_date.isoformat(),
        "kind": row.kind,
        "was": was,
        "now": now,
        "saved": saved,
        "percent": str(drop.percent),
        "room_type": price.room_type,
        "booked_room": row.room_type,
        "rate_plan": row.rate_plan,
        "is_same_room": is_same_room(row.room_type, price.room_type),
        "source": price.source,
        "checked_at": checked.isoformat(timespec="minutes"),
        "free_until": free_until.isoformat() if free_until else None,
    }
