"""Hotel stays a person logged, paid with points or cash or only watched, with the prices seen since."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit import Added, Call, Effect, Money, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import clears, edit, edit_member, pick_columns
from mcp_server.toolkit.own_rows import Again, check_cap, find_saved, get_own
from mcp_server.toolkit.parameters import (
    Amount,
    Country,
    Currency,
    Day,
    HotelBookingId,
    HotelName,
    Member,
    OtherMember,
    Page,
    PerPage,
    Points,
    TripId,
)
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.bookings import (
    HotelBooking,
    PriceDrop,
    PriceSnapshot,
    describe_drop,
    describe_no_watch,
    to_hotel_booking,
    to_hotel_bookings,
    to_price_snapshot,
)
from mcp_server.views.cancellations import (
    BalanceOffer,
    Credit,
    PointsBack,
    Settled,
    describe_removal,
    describe_update,
    settle,
)
from mcp_server.views.hotel_alerts import (
    build_alert,
    check_terms,
    describe_fit,
    describe_terms,
    settle_limit,
    switch_alert,
)
from mcp_server.views.vouchers import Voucher, describe_freed_vouchers, to_voucher
from shared.db.accounts import lock
from shared.db.booking_pages import When, load_stay_page
from shared.db.bookings import HotelBooking as Booked
from shared.db.bookings import HotelStay as Row
from shared.db.bookings import prices_of
from shared.db.hotel_alerts import HotelAlert
from shared.db.hotel_prices import prices_since_booking
from shared.db.household import find_member
from shared.db.profile import find_addressee
from shared.db.trips import open_trip
from shared.db.vouchers import on_bookings
from shared.domain.bookings import find_foreign_fields
from shared.domain.dates import format_day
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.errors import Invalid
from shared.reference import hotels
from shared.services.bookings import bookings

MAX_SNAPSHOTS = 10
FULL = "active; nothing was added. Pause or delete one, or choose a larger plan."
STAY_FIELDS = ("check_in_date", "check_out_date", "room_type")  # after a change, earlier prices are of another stay
PRICE_FIELDS = (
    "kind",
    "cash_rate_currency",
    "max_points_per_night",
    "max_cash_per_night",
)  # after a change, the last mailed price is no measure for the next


StayPoints = Annotated[Points, Field(description="Award only; whole stay.")]
PayRate = Annotated[Amount | None, Field(description="Whole stay; needed for cash.")]
Text = Annotated[str, Field(max_length=120)] | None
Confirmation = Annotated[str, Field(max_length=40)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
Place = Annotated[str, Field(max_length=80, description="Of a hotel unknown here.")] | None
Workspace = TripId | None


class AddedStay(Added):
    booking: HotelBooking
    next_check_on: date | None


class StayDetails(Result):
    booking: HotelBooking
    snapshots: list[PriceSnapshot]
    drop: PriceDrop | None
    vouchers: list[Voucher]


class StayTotals(Part):
    points: int
    cash_by_currency: dict[str, Money]
    drops_found: int


class Stays(Result):
    bookings: list[HotelBooking]
    totals: StayTotals
    paging: Paging


class ChangedStay(Result):
    booking: HotelBooking
    changed: list[str]
    snapshots_reset: bool
    balance_offer: BalanceOffer | None


class RemovedStay(Part):
    booking_id: int
    hotel_name: str
    check_in_date: date
    confirmation_number: str | None


class DeletedStay(Result):
    removed: RemovedStay
    vouchers_detached: list[int]


_get_own = partial(get_own, Row, "hotel booking")


def _describe_mail(call: Call, news: str) -> str:
    """How the person gets news of a price."""
    addressee = find_addressee(call.db, call.account_id)
    if not addressee.mail_switches["hotel_price_drops"]:
        return (
            f"{news} appears among the notifications; mails about it are switched off: update_profile with"
            " mail hotel_price_drops true switches them on."
        )
    if not (addressee.email and addressee.email_confirmed_at):
        return f"{news} appears among the notifications; without a confirmed email address nothing is mailed."
    return f"{news} is mailed and appears as a notice; update_profile with mail hotel_price_drops false ends mails."


@tool("bookings", Tier.PAID, Effect.ADDS, "Add a hotel booking")
def add_hotel_booking(
    call: Call,
    hotel_id: HotelName,
    check_in_date: Day,
    check_out_date: Day,
    kind: Literal["award", "cash"] = "award",
    original_points: StayPoints | None = None,
    original_pay_rate_usd: PayRate = None,
    cash_rate_currency: Currency = "USD",
    room_type: Text = None,
    rate_plan: Text = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
    trip_id: Workspace = None,
    city: Place = None,
    country: Country | None = None,
    member: Member | None = None,
    again: Again = None,
    booked: Annotated[bool, Field(description="false: only watched.")] = True,
    max_points_per_night: Points | None = None,
    max_cash_per_night: Amount | None = None,
) -> AddedStay:
    """Adds a hotel stay the user booked on points, a free night or cash, with its confirmation number.

    For "I just booked the Hyatt for three nights, keep it." Reserves nothing; tracks its price, booked or not. Paid.
    """
    terms = {
        "check_in_date": check_in_date,
        "check_out_date": check_out_date,
        "kind": kind,
        "original_points": original_points,
        "original_pay_rate_usd": original_pay_rate_usd,
        "cash_rate_currency": cash_rate_currency,
        "room_type": room_type or None,
        "rate_plan": rate_plan or None,
        "confirmation_number": confirmation_number or None,
        "notes": notes or None,
        "trip_id": trip_id,
        "hotel_city": city or None,
        "hotel_country": country,
        "member": find_member(call.db, member, Row.member),
        "max_points_per_night": max_points_per_night,
        "max_cash_per_night": max_cash_per_night,
    }
    _check_fields(terms, booked=booked)
    build = partial(bookings.build_stay, call.reference) if booked else partial(build_alert, call)
    row: Row = build(hotel_id, terms)
    if saved := find_saved(call, row, row.KIND.noun, again=again):
        row = saved.row
    else:
        if not booked:
            check_cap(call, call.db, HotelAlert, FULL)
        bookings.add_hotel(call.db, call.reference, row)
    booking = to_hotel_booking(call, row, [])
    return AddedStay(
        message=saved.message if saved else _describe_added(call, row, booking),
        booking=booking,
        next_check_on=booking.monitoring.next_check_on,
        already_saved=saved is not None,
    )


def _check_fields(terms: Mapping[str, Any], *, booked: bool) -> None:
    if faults := find_foreign_fields(terms, booked=booked):
        raise Invalid(*faults)


def _describe_added(call: Call, row: Row, booking: HotelBooking) -> str:
    name = add_member(f"{row.KIND.noun} {row.id}", row.member)
    watched = f", {pluralize(row.nights, 'night')}, {describe_terms(booking)}. Nothing is booked"
    terms = f"{row.hotel_name} from {format_day(row.check_in_date)}{'' if row.booked else watched}."
    return f"Saved as {name}: {terms} {_describe_watch(call, row, booking.monitoring.next_check_on)}"


def _describe_watch(call: Call, row: Row, next_check: date | None) -> str:
    if not row.hotel_code:
        return describe_no_watch(call)
    if next_check:
        news = "A lower price" if row.booked else "A price that fits"
        return f"Its price is checked now and once a day from now on. {_describe_mail(call, news)}"
    return "The stay has begun, so its price is not checked."


@tool("bookings", Tier.FREE, Effect.READS, "Show a hotel booking")
def get_hotel_booking(call: Call, booking_id: HotelBookingId) -> StayDetails:
    """Opens one booked hotel stay or reservation: confirmation number, room, rate, check-in, certificate.

    For "What room did I book?" Free.
    """
    row = _get_own(call.db, booking_id)
    vouchers = on_bookings(call.db, "hotel", [row.id])[row.id]
    booking = to_hotel_booking(call, row, [v.id for v in vouchers], prices_of(call.db, [row]).get(row.id))
    owner = f"Stay of {row.member}: " if row.member else ""
    stay = f"{owner}{row.hotel_name} from {format_day(row.check_in_date)}"
    drop = f" It is {describe_drop(booking, booking.drop)}." if booking.drop else ""
    watched = f"{stay}, not booked{'' if booking.monitoring.active else ', paused'}: {describe_fit(booking)}"
    return StayDetails(
        message=f"{stay}, {booking.state}.{drop}" if booking.booked else watched,
        booking=booking,
        snapshots=[to_price_snapshot(price) for price in prices_since_booking(call.db, row, MAX_SNAPSHOTS)],
        drop=booking.drop,
        vouchers=[to_voucher(call, v) for v in vouchers],
    )


@tool("bookings", Tier.FREE, Effect.READS, "List hotel bookings")
def list_hotel_bookings(
    call: Call,
    when: When = "all",
    chain: Annotated[str | None, Field(max_length=60)] = None,
    with_drop_only: bool = False,
    trip_id: TripId | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
    booked: bool = True,
) -> Stays:
    """Lists booked hotels and stays: upcoming, past or cancelled, with nights, cost and price drops.

    For "Where do I sleep in June?" Free.
    """
    bookings.check_trip(call.db, trip_id)
    today = bookings.today(call.reference, "hotel", call.now)
    codes = hotels.list_chain_codes(call.reference, chain) if chain else None
    only = {"hotel_codes": codes, "trip_id": trip_id, "with_drop": with_drop_only or None}
    stays = load_stay_page(call.db, today, when, only, page, per_page, Booked if booked else HotelAlert)
    sums = stays.sums
    cheaper = f" Offered for less now: {sums.drops}." if sums.drops else ""
    names = (f"{row.hotel_name} from {format_day(row.check_in_date)}" for row in stays.rows)
    noun = HotelAlert.KIND.noun
    watched = 0 if sums.total or not booked else load_stay_page(call.db, today, when, only, 1, 1, HotelAlert).sums.total
    unbooked = f" {pluralize(watched, noun)}, not booked: booked false lists them." if watched else ""
    return Stays(
        message=tell_rows(sums.total, "hotel stay" if booked else noun, names) + cheaper + unbooked,
        bookings=[to_hotel_booking(call, r, stays.vouchers[r.id], stays.prices.get(r.id)) for r in stays.rows],
        totals=StayTotals(points=sum(sums.points.values()), cash_by_currency=sums.cash, drops_found=sums.drops),
        paging=Paging.of(page, per_page, sums.total),
    )


@tool("bookings", Tier.PAID, Effect.CHANGES, "Change a hotel booking")
@clears(Row)
def update_hotel_booking(
    call: Call,
    booking_id: HotelBookingId,
    check_in_date: Day | None = None,
    check_out_date: Day | None = None,
    kind: Literal["award", "cash"] | None = None,
    original_points: Annotated[Points, Field(description="Whole stay.")] | None = None,
    original_pay_rate_usd: Amount | None = None,
    cash_rate_currency: Currency | None = None,
    room_type: Text = None,
    rate_plan: Text = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
    trip_id: Workspace = None,
    clear: list[str] | None = None,
    member: OtherMember | None = None,
    cancelled_on: Day | None = None,
    points_back: PointsBack = None,
    money_back: Amount | None = None,
    credit_points_back: Credit = False,
    max_points_per_night: Points | None = None,
    max_cash_per_night: Amount | None = None,
    active: bool | None = None,
) -> ChangedStay:
    """Changes a booked hotel stay: check-in or checkout date, nights, room, rate, confirmation number, note.

    For "We stay one more night, in a bigger room." Paid.
    """
    changes = pick_columns(Row, locals())
    lock(call.db, call.account_id)
    if trip_id is not None:
        open_trip(call.db, trip_id)
    row = _get_own(call.db, booking_id, locked=True)
    _check_fields(changes, booked=row.booked)
    changed = _edit(call, row, changes | {"active": None}, clear or ())
    changed += edit_member(row, call.now, member and find_member(call.db, member, Row.member))
    afresh = not set(changed).isdisjoint(STAY_FIELDS)
    if afresh:
        bookings.compare_afresh(row, call.now)
    elif not set(changed).isdisjoint(PRICE_FIELDS):
        row.told_price = None
    settled = Settled()
    if isinstance(row, Booked):
        settled = settle(call, row, changed, takes_back="cancelled_on" in (clear or ()), credits=credit_points_back)
    call.db.flush()
    if isinstance(row, HotelAlert) and active is not None and switch_alert(call, row, active=active):
        changed.append("active")
    if afresh:
        bookings.schedule_price_check(call.db, call.reference, row)
    booking = to_hotel_bookings(call, [row])[0]
    return ChangedStay(
        message=_describe_change(row, booking, changed, settled),
        booking=booking,
        changed=changed,
        snapshots_reset=afresh,
        balance_offer=settled.offer,
    )


def _edit(call: Call, row: Row, changes: dict[str, Any], clear: Sequence[str]) -> list[str]:
    """Stores the changed terms and checks them together with the others; says what changed."""
    if isinstance(row, HotelAlert):
        changed = edit(row, call.now, changes, [*settle_limit(changes), *clear])
        if changed:
            check_terms(call, row)
        return changed
    changed = edit(row, call.now, changes, [*clear, *bookings.list_fields_to_drop(row, changes)])
    bookings.check_stay({name: getattr(row, name) for name in changes})
    return changed


def _describe_change(row: Row, booking: HotelBooking, changed: Sequence[str], settled: Settled) -> str:
    others = [name for name in changed if name != "active"]
    terms = describe_update(row.hotel_name, booking, others, settled)
    if "active" not in changed:
        return terms
    state = "is checked again from now on" if row.active else "is paused: nothing is checked until it is resumed"
    return f"{f'{terms} ' if others else ''}{row.KIND.noun.capitalize()} {row.id} {state}."


@tool("bookings", Tier.FREE, Effect.CHANGES, "Delete a hotel booking")
def delete_hotel_booking(call: Call, booking_id: HotelBookingId) -> DeletedStay:
    """Deletes a booked hotel stay or reservation: cancelled, not happening or wrong; its price checks stop.

    For "I cancelled that hotel, take it off." Nothing is cancelled with the hotel. Free.
    """
    row = _get_own(call.db, booking_id, locked=True)
    freed = bookings.remove(call.db, row)
    return DeletedStay(
        message=f"{row.KIND.noun.capitalize()} {row.id}, {row.hotel_name}, is removed here."
        f"{describe_removal(row) if isinstance(row, Booked) else ''}{describe_freed_vouchers(freed)}",
        removed=RemovedStay.from_row(row, booking_id=row.id),
        vouchers_detached=freed,
    )
