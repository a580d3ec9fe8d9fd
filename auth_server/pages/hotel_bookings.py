"""Pages of one stay: what was booked, its trip, and its price as it was seen since, looked at now and over time."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial

from auth_server.pages import bookings
from auth_server.pages.booking_forms import (
    BACK,
    GONE,
    STAY,
    ask_delete,
    delete,
    file_under_trip,
    look_at,
    refuse,
    save_change,
    save_new,
    show_change,
    show_new,
)
from auth_server.pages.booking_timeline import STAYS, Row, describe_stay
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.web.charts import Chart, draw_line
from auth_server.web.outcomes import FlowResult, PageResult, show_problem

ONE = f"{STAYS}/{{number}}"
CHECK_SECONDS = 20.0  # a live look at several sources
MESSAGES = {
    "added": "The stay is added.",
    "saved": "The stay is saved.",
    "from_mail": "The stay of your mail is filed.",
    "filed": "The stay is filed.",
    "checked": "The price was looked at right now.",
}


def show(member: Member) -> PageResult:
    calls = look_at(STAY, member)
    if not calls:
        return GONE
    calls |= {
        "trips": bookings.look_at_trips(member),
        "prices": prepare_look(member, "get_hotel_price_history", booking_id=member.data.path_number("number")),
    }
    return show_when_answered(calls, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["booking"]
    if not answer.is_good:
        return refuse(answer)
    booking = answer["booking"]
    return member.show(
        "stay.html",
        booking=booking,
        entry=describe_stay(booking),
        leaves=date.fromisoformat(booking["check_out_date"]),
        free_until=_read_day(booking["free_cancellation_until"]),
        checked=_read_moment(booking["monitoring"]["last_checked_at"]),
        vouchers=answer["vouchers"],
        trips=bookings.name_trips(answers["trips"]),
        trip_id=booking["trip_id"],
        page=f"{STAYS}/{booking['booking_id']}",
        picture=draw_prices(booking, answers["prices"].get("snapshots", ())),
        messages=MESSAGES,
    )


def _read_day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _read_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def draw_prices(booking: Row, snapshots: Sequence[Row]) -> Chart | None:
    """The price over time next to what was paid: points of an award, else money in the currency of the booking.

    The answer lists the newest price first. A look that found no such price is a gap.
    """
    if booking["kind"] == "award":
        unit, paid = "points", booking["original_points"]
        prices = [row["points"] for row in snapshots]
    else:
        unit, paid = booking["cash_rate_currency"], booking["original_pay_rate_usd"]
        prices = [row["cash"] if row["currency"] == unit else None for row in snapshots]
    looks = [(datetime.fromisoformat(row["captured_at"]), price) for row, price in zip(snapshots, prices, strict=True)]
    gap = _describe_gap(unit, [row for row, price in zip(snapshots, prices, strict=True) if price is None])
    return draw_line(looks[::-1], f"{unit[0].upper()}{unit[1:]} for the stay", want=paid, want_name="you paid", gap=gap)


def _describe_gap(unit: str, rows: Sequence[Row]) -> str:
    """Why looks brought no price: a look that saw the hotel and neither points nor money saw it sold out."""
    is_sold_out = all(row["points"] is None and row["cash"] is None for row in rows)
    return "sold out" if is_sold_out else f"no price in {unit}"


def check_price(member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    call = prepare_change(member, "check_hotel_booking_price", CHECK_SECONDS, booking_id=number)
    return show_when_answered({"checked": call}, partial(_finish_check, f"{STAYS}/{number}"))


def _finish_check(page: str, answers: Mapping[str, Answer]) -> FlowResult:
    checked = answers["checked"]
    if checked.status in ("ok", "partial"):
        return redirect_back(page, "checked")
    if checked and checked.status not in ("no_data", "backend_unavailable"):
        return refuse(checked)
    words = checked.get("message") or "No source answered in time. Please try again later."
    status = 200 if checked.status == "no_data" else 503
    return show_problem("No price was seen", str(words), status, links=((page, "Back to the stay"), BACK))


ROUTES = [
    get_for_member(f"{STAYS}/new", partial(show_new, STAY)),
    post_for_member(f"{STAYS}/new", partial(save_new, STAY)),
    get_for_member(ONE, show),
    get_for_member(f"{ONE}/edit", partial(show_change, STAY)),
    post_for_member(f"{ONE}/edit", partial(save_change, STAY)),
    get_for_member(f"{ONE}/delete", partial(ask_delete, STAY)),
    post_for_member(f"{ONE}/delete", partial(delete, STAY)),
    post_for_member(f"{ONE}/trip", partial(file_under_trip, STAY)),
    post_for_member(f"{ONE}/check", check_price),
]
