"""Hotel stays a person logged, paid with points or cash, with the prices seen since."""

from datetime import date
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.edits import clears, edit, edit_member, pick_columns
from mcp_server.toolkit.own_rows import Again, find_saved, get_own
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
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Added, Money, Paging, Part, Result
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
from mcp_server.views.cancellations import BalanceOffer, Credit, PointsBack, describe_removal, describe_update, settle
from mcp_server.views.vouchers import Voucher, describe_freed_vouchers, to_voucher
from shared.db.booking_pages import When, load_stay_page
from shared.db.bookings import HotelBooking as Row
from shared.db.bookings import prices_of
from shared.db.hotel_prices import prices_since_booking
from shared.db.household import find_member
from shared.db.profile import find_addressee
from shared.db.trips import open_trip
from shared.db.vouchers import on_bookings
from shared.domain.dates import format_day
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.reference import hotels
from shared.services.bookings import bookings

MAX_SNAPSHOTS = 10
STAY_FIELDS = ("check_in_date", "check_out_date", "room_type")  # a change makes earlier prices those of another stay
PRICE_FIELDS = ("kind", "cash_rate_currency")  # a change makes the price last mailed no measure for the next


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


def _describe_mail(call: Call) -> str:
    """How the person hears of a lower price."""
    addressee = find_addressee(call.db, call.account_id)
    if not addressee.mail_switches["hotel_price_drops"]:
        return (
            "A lower price appears among the notifications; mails about it are switched off: update_profile with"
            " mail hotel_price_drops true switches them on."
        )
    if not (addressee.email and addressee.email_confirmed_at):
        return "A lower price appears among the notifications; without a confirmed email address nothing is mailed."
    return (
        "A lower price is mailed and appears as a notice; update_profile with mail hotel_price_drops false ends mails."
    )


@tool(
    area="bookings",
    tier=Tier.PAID,
    effect=Effect.ADDS,
    title="Add a hotel booking",
    phrases="I just booked a hotel: store my stay and track it, please tell me if the rate gets cheaper",
)
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
) -> AddedStay:
    """Adds a hotel stay the user booked on points, a free night or cash, with its confirmation number.

    For "I just booked the Hyatt for three nights, keep it." Reserves nothing; tracks its price daily. Paid.
    """
    row = bookings.build_stay(
        call.reference,
        hotel_id,
        {
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
        },
    )
    if saved := find_saved(call, row, "hotel booking", again=again):
        row = saved.row
    else:
        bookings.add_hotel(call.db, call.reference, row)
    booking = to_hotel_booking(call, row, [])
    next_check = booking.monitoring.next_check_on
    name = add_member(f"hotel booking {row.id}", row.member)
    added_text = (
        f"Saved as {name}: {row.hotel_name} from {format_day(row.check_in_date)}."
        f" {_describe_watch(call, row, next_check)}"
    )
    return AddedStay(
        message=saved.message if saved else added_text,
        booking=booking,
        next_check_on=next_check,
        already_saved=saved is not None,
    )


def _describe_watch(call: Call, row: Row, next_check: date | None) -> str:
    if not row.hotel_code:
        return describe_no_watch(call)
    if next_check:
        return f"Its price is checked now and once a day from now on. {_describe_mail(call)}"
    return "The stay has begun, so its price is not checked."


@tool(
    area="bookings",
    tier=Tier.FREE,
    effect=Effect.READS,
    title="Show a hotel booking",
    phrases="Open my hotel reservation: what room did I book, at what rate, is my cert attached?",
)
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
    return StayDetails(
        message=f"{stay}, {booking.state}.{drop}",
        booking=booking,
        snapshots=[to_price_snapshot(price) for price in prices_since_booking(call.db, row, MAX_SNAPSHOTS)],
        drop=booking.drop,
        vouchers=[to_voucher(call, v) for v in vouchers],
    )


@tool(
    area="bookings",
    tier=Tier.FREE,
    effect=Effect.READS,
    title="List hotel bookings",
    phrases="Where am I sleeping this month? My booked hotels, Hyatt or Marriott, any of them gone cheaper?",
)
def list_hotel_bookings(
    call: Call,
    when: When = "all",
    chain: Annotated[str | None, Field(max_length=60)] = None,
    with_drop_only: bool = False,
    trip_id: TripId | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Stays:
    """Lists booked hotels and stays: upcoming, past or cancelled, with nights, cost and price drops.

    For "Where do I sleep in June?" Free.
    """
    bookings.check_trip(call.db, trip_id)
    today = bookings.today(call.reference, "hotel", call.now)
    codes = hotels.list_chain_codes(call.reference, chain) if chain else None
    only = {"hotel_codes": codes, "trip_id": trip_id, "with_drop": with_drop_only or None}
    stays = load_stay_page(call.db, today, when, only, page, per_page)
    sums = stays.sums
    cheaper = f" Offered for less now: {sums.drops}." if sums.drops else ""
    return Stays(
        message=f"{pluralize(sums.total, 'hotel stay')}.{cheaper}",
        bookings=[to_hotel_booking(call, r, stays.vouchers[r.id], stays.prices.get(r.id)) for r in stays.rows],
        totals=StayTotals(points=sum(sums.points.values()), cash_by_currency=sums.cash, drops_found=sums.drops),
        paging=Paging.of(page, per_page, sums.total),
    )


@tool(
    area="bookings",
    tier=Tier.PAID,
    effect=Effect.CHANGES,
    title="Change a hotel booking",
    phrases="Change my hotel booking: extended so it's now a night more, rebooked at a lower rate, a note",
)
@clears(Row)
def update_hotel_booking(
    call: Call,
    booking_id: HotelBookingId,
    check_in_date: Day | None = None,
    check_out_date: Day | None = None,
    kind: Literal["award", "cash"] | None = None,
    original_points: StayPoints | None = None,
    original_pay_rate_usd: PayRate = None,
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
) -> ChangedStay:
    """Changes a booked hotel stay: check-in or checkout date, nights, room, rate, confirmation number, note.

    For "We stay one more night, in a bigger room." Price checks start afresh. Paid.
    """
    changes = pick_columns(Row, locals())
    if trip_id is not None:
        open_trip(call.db, trip_id)
    row = _get_own(call.db, booking_id, locked=True)
    changed = edit(row, call.now, changes, [*(clear or ()), *bookings.list_fields_to_drop(row, changes)])
    changed += edit_member(row, call.now, member and find_member(call.db, member, Row.member))
    bookings.check_stay({name: getattr(row, name) for name in changes})
    afresh = not set(changed).isdisjoint(STAY_FIELDS)
    if afresh:
        bookings.compare_afresh(row, call.now)
    elif not set(changed).isdisjoint(PRICE_FIELDS):
        row.told_price = None
    settled = settle(call, row, changed, takes_back="cancelled_on" in (clear or ()), credits=credit_points_back)
    call.db.flush()
    if afresh:
        bookings.schedule_price_check(call.db, call.reference, row)
    booking = to_hotel_bookings(call, [row])[0]
    return ChangedStay(
        message=describe_update(row.hotel_name, booking, changed, settled),
        booking=booking,
        changed=changed,
        snapshots_reset=afresh,
        balance_offer=settled.offer,
    )


@tool(
    area="bookings",
    tier=Tier.FREE,
    effect=Effect.CHANGES,
    title="Delete a hotel booking",
    phrases="Get rid of a hotel stay: cancelled, not happening, no need to follow its price",
)
def delete_hotel_booking(call: Call, booking_id: HotelBookingId) -> DeletedStay:
    """Deletes a booked hotel stay or reservation: cancelled, not happening or wrong; its price checks stop.

    For "I cancelled that hotel, take it off." Nothing is cancelled with the hotel. Free.
    """
    row = _get_own(call.db, booking_id, locked=True)
    freed = bookings.remove(call.db, row)
    return DeletedStay(
        message=f"Hotel booking {row.id}, {row.hotel_name}, is removed here.{describe_removal(row)}"
        f"{describe_freed_vouchers(freed)}",
        removed=RemovedStay(
            booking_id=row.id,
            hotel_name=row.hotel_name,
            check_in_date=row.check_in_date,
            confirmation_number=row.confirmation_number,
        ),
        vouchers_detached=freed,
    )
