"""Checks of stays, booked or only watched: the price now, and a notice when it fell or is within its limit."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from shared import clock
from shared.db.accounts import Account, is_suspended
from shared.db.bookings import HotelBooking, HotelPrice, HotelStay
from shared.db.hotel_alerts import HotelAlert
from shared.db.hotel_perks import load_perks
from shared.db.hotel_prices import Stay, find_shared_price, store_price
from shared.db.members import HOLDER
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

DROPPED, FITS = "hotel_price_drop", "hotel_alert_match"
SHARED = timedelta(hours=6)  # stays of the same nights share a look of this age
AT_LEAST = timedelta(microseconds=1)  # the least `max_age`: nothing comes from the cache
UNKNOWN = "this hotel is no longer known here"


@dataclass(frozen=True)
class WatchQuery:
    """What to ask for one stay, read before asking; compared later to see whether it is still the same stay."""

    booking_id: int
    account_id: int
    hotel: Hotel
    check_in: date
    check_out: date
    kind: str
    currency: str
    since: datetime  # earlier prices do not count for it
    every: int  # one in this many nights is free
    is_own: bool  # by a status or a card of theirs: the price is only theirs

    @property
    def stay(self) -> Stay:
        return hotels.code(self.hotel), self.check_in, self.check_out


@dataclass(frozen=True)
class CheckResult:
    """The sources' answers to a plan."""

    plan: WatchQuery
    asked_at: datetime
    prices: HotelReadings

    @property
    def has_answer(self) -> bool:
        return any(r.has_answer for r in self.prices.readings)

    @property
    def silent(self) -> list[str]:
        """The sources that failed; one that never has this hotel does not count."""
        return [f"{f.name} ({f.reason})" for f in self.prices.coverage.failed if f.reason != "not_covered"]

    @property
    def complete(self) -> bool:
        """Whether all sources that could have had a price answered."""
        return not self.silent and all(s.reason == "not_configured" for s in self.prices.coverage.skipped)

    @property
    def outage(self) -> str | None:
        """Why none answered, if a retry may help: not for a missing connection or setting."""
        return f"no source answered: {', '.join(self.silent)}" if self.silent and not self.has_answer else None

    @property
    def trouble(self) -> str | None:
        """The trouble to show with the booking: sources that did not answer, or none to ask."""
        if self.silent:
            return f"not answered by {', '.join(self.silent)}"
        if self.has_answer:
            return None
        coverage = self.prices.coverage
        rest = [f"{s.name}: {s.reason}" for s in (*coverage.failed, *coverage.skipped)]
        return ", ".join(rest) or "no source of hotel prices is configured"


def plan_of(session: Session, reference: Reference, row: HotelStay, now: datetime) -> WatchQuery | None:
    """The plan; None for a stay that has started or is cancelled, or a hotel no longer in the facts."""
    hotel = hotels.find_stored(reference, row.hotel_code)
    is_off = not row.active or row.paused_at is not None
    if hotel is None or is_off or stay_state(reference, row, now) != "upcoming":
        return None
    free, every = find_free_night(reference, hotel), 0
    if 0 < free.nights <= row.nights:
        is_theirs = row.member == HOLDER and not free.is_for_all
        perks = load_perks(session, row.account_id, now.date()) if is_theirs else None
        mine = (perks.tiers.get(hotel.program), perks.cards) if perks else (None, ())
        every = free.find_every(reference, *mine)
    return WatchQuery(
        booking_id=row.id,
        account_id=row.account_id,
        hotel=hotel,
        check_in=row.check_in_date,
        check_out=row.check_out_date,
        kind=row.kind,
        currency=row.cash_rate_currency,
        since=row.compared_since,
        every=every,
        is_own=every > 0 and not free.is_for_all,
    )


def prepare(session: Session, reference: Reference, booking_id: int) -> tuple[WatchQuery | None, int | None]:
    """What to ask, and a price someone saw recently, which makes asking needless.

    Without a plan there is nothing to watch: switches off the schedule of a stay that is past, current or cancelled.
    """
    row = session.get(HotelStay, booking_id)
    plan = plan_of(session, reference, row, clock.now()) if row else None
    if row is None or stay_state(reference, row, clock.now()) != "upcoming":
        unschedule(session, row.KIND.run if row else HOTEL_PRICE.run, [booking_id])
        if isinstance(row, HotelAlert):
            row.active = False  # it no longer counts towards the plan's limit
    elif hotels.find_stored(reference, row.hotel_code) is None:
        row.last_error = UNKNOWN
    if plan is None or is_suspended(session, plan.account_id):
        return None, None
    since = max(clock.now() - SHARED, plan.since)
    price = find_shared_price(session, plan.stay, plan.account_id, plan.currency, since, own=plan.is_own)
    return plan, price.id if price else None


async def query_sources(ask: Ask, plan: WatchQuery, max_age: timedelta) -> CheckResult:
    """Asks the sources; holds no connection to the database in the meantime."""
    now = clock.now()
    readings = await search_stays(
        ask,
        [plan.hotel],
        plan.check_in,
        plan.check_out,
        currency=plan.currency,
        by_night=[plan.hotel] if plan.every else (),
        max_age=max(min(max_age, now - plan.since), AT_LEAST),
    )
    return CheckResult(plan, now, readings)


def settle(session: Session, reference: Reference, sight: CheckResult) -> HotelPrice | None:
    """Writes a check's result; returns the price row, if a source knows the stay.

    The booking is read again under its lock: if cancelled, removed, changed or checked since, nothing is
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
    """The same with a price stored by another check."""
    price = session.get(HotelPrice, price_id)
    if price is not None and (row := _still(session, reference, plan, price.captured_at)) is not None:
        _note(row, None, price.captured_at)
        _tell(session, row, price)


def _still(session: Session, reference: Reference, plan: WatchQuery, asked_at: datetime) -> HotelStay | None:
    row = session.get(HotelStay, plan.booking_id, with_for_update=True, populate_existing=True)
    if row is None or is_overtaken(asked_at, row.last_checked_at):
        return None
    return row if plan_of(session, reference, row, clock.now()) == plan else None


def _note(row: HotelStay, error: str | None, checked_at: datetime | None) -> None:
    row.last_error, row.last_checked_at = error, checked_at
    flag_modified(row, "updated_at")  # written unchanged: a look is no change of the booking


def _price(sight: CheckResult) -> HotelPrice | None:
    """One row for all sources of a check; None if none knows the stay."""
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
        asker_id=plan.account_id if plan.is_own or any(_own(r.source, plan.account_id) for r in spoke) else None,
    )


def _own(source: str, account_id: int) -> bool:
    """Whether only the asking account may see this source's answer."""
    card = registry.providers()[source]
    return card.terms == "asker" and registry.scope(card, account_id).startswith("account-")


def _tell(session: Session, row: HotelStay, price: HotelPrice) -> None:
    """Reports a price below the booked one, or within the limit, once, and again only if it is even lower.

    Nights that were gone, or above the limit, are news when they return.
    """
    now = price.points if row.kind == "award" else price.cash
    if isinstance(row, HotelBooking):
        event, facts = DROPPED, _describe_drop(row, price)
    else:
        event, facts = FITS, _describe_fit(row, price)
        row.told_price = row.told_price if facts or not price.complete else None
    if facts is None or now is None or (row.told_price is not None and now >= row.told_price):
        return
    row.told_price = Decimal(now)
    tell(
        session,
        session.get_one(Account, row.account_id),
        event,
        facts,
        dedupe_key=f"{event}:{row.id}:{price.id}:{now}",
        subject=(row.KIND.name, row.id),
        mail=True,
    )


def _describe_stay(row: HotelStay, price: HotelPrice) -> dict[str, Any]:
    checked = price.provider_checked_at or price.captured_at
    return {
        "booking_id": row.id,
        "hotel": row.hotel_name,
        "check_in": row.check_in_date.isoformat(),
        "check_out": row.check_out_date.isoformat(),
        "kind": row.kind,
        "room_type": price.room_type,
        "source": price.source,
        "checked_at": checked.isoformat(timespec="minutes"),
    }


def _describe_fit(row: HotelStay, price: HotelPrice) -> dict[str, Any] | None:
    """Facts for a mail; None for a price above the limit, or not the watched kind."""
    limit = row.max_points_per_night if row.kind == "award" else row.max_cash_per_night
    offered = (price.points, price.cash, price.currency)
    nightly = bookings.find_fit(row.kind, limit, (row.cash_rate_currency, row.nights), offered)
    if nightly is None:
        return None
    return _describe_stay(row, price) | {
        "now": _format_price(row, price.points if row.kind == "award" else price.cash),
        "nightly": _format_price(row, nightly),
        "limit": None if limit is None else _format_price(row, limit),
    }


def _format_price(row: HotelStay, price: int | Decimal | None) -> str:
    return (
        pluralize(int(price or 0), "point") if row.kind == "award" else format_money(price or 0, row.cash_rate_currency)
    )


def _describe_drop(row: HotelBooking, price: HotelPrice) -> dict[str, Any] | None:
    """The same of a price below the booked one; None for any other."""
    booked = (row.original_points, row.original_pay_rate_usd, row.cash_rate_currency)
    drop = bookings.find_price_drop(row.kind, booked, (price.points, price.cash, price.currency))
    if drop is None:
        return None
    of_points = (row.original_points, price.points, drop.points_saved)
    amounts = of_points if row.kind == "award" else (row.original_pay_rate_usd, price.cash, drop.cash_saved)
    was, now, saved = (_format_price(row, amount) for amount in amounts)
    free_until = row.free_cancellation_until
    return _describe_stay(row, price) | {
        "was": was,
        "now": now,
        "saved": saved,
        "percent": str(drop.percent),
        "booked_room": row.room_type,
        "rate_plan": row.rate_plan,
        "is_same_room": is_same_room(row.room_type, price.room_type),
        "free_until": free_until.isoformat() if free_until else None,
    }
