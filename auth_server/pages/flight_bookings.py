"""Pages of one flight: what was booked, its legs and vouchers, its trip, and an alert about delays where it leaves."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages import bookings
from auth_server.pages.booking_forms import (
    FLIGHT,
    GONE,
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
from auth_server.pages.booking_timeline import FLIGHTS, Row, describe_flight
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.web.outcomes import FlowResult, PageResult

ONE = f"{FLIGHTS}/{{number}}"
MAX_ALERTS = 100
MESSAGES = {
    "added": "The flight is added.",
    "saved": "The flight is saved.",
    "from_mail": "The flight of your mail is filed.",
    "filed": "The flight is filed.",
    "alert_on": "You are told when delays at this airport reach half an hour.",
    "alert_off": "The alert is paused. You can turn it on again here.",
}


def show(member: Member) -> PageResult:
    calls = look_at(FLIGHT, member)
    if not calls:
        return GONE
    calls |= {
        "trips": bookings.look_at_trips(member),
        "alerts": prepare_look(member, "list_delay_alerts", per_page=MAX_ALERTS),
    }
    return show_when_answered(calls, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["booking"]
    if not answer.is_good:
        return refuse(answer)
    booking = answer["booking"]
    return member.show(
        "flight.html",
        booking=booking,
        entry=describe_flight(booking),
        legs=[describe_flight(leg) for leg in answer["legs"] if len(answer["legs"]) > 1],
        vouchers=answer["vouchers"],
        names=answer["names"],
        cancellation=answer["cancellation"],
        trips=bookings.name_trips(answers["trips"]),
        trip_id=booking["workspace_trip_id"],
        page=f"{FLIGHTS}/{booking['booking_id']}",
        alert=_find_alert(booking, answers["alerts"]),
        alerts_answered=answers["alerts"].is_good,
        messages=MESSAGES,
    )


def _find_alert(booking: Row, answer: Answer) -> dict[str, Any] | None:
    """The alert of the airport the flight leaves from: one that is on, else one that is paused."""
    there = [alert for alert in answer.get("alerts", ()) if alert["airport"] == booking["origin"]]
    return max(there, key=lambda alert: bool(alert["active"]), default=None)


def switch_alert(member: Member) -> PageResult:
    """`alert` is the alert there is; `airport` of a new one."""
    number, alert = member.data.path_number("number") or 0, member.data.form_value("alert")
    turns_on = member.data.form_value("turn") == "on"
    if alert.isdecimal():
        call = prepare_change(member, "update_delay_alert", alert_id=int(alert[:18]), active=turns_on)
    else:
        call = prepare_change(member, "create_delay_alert", airport=member.data.form_value("airport"))
    done = "alert_on" if turns_on else "alert_off"
    return show_when_answered({"alert": call}, partial(_finish_switching, f"{FLIGHTS}/{number}", done))


def _finish_switching(page: str, done: str, answers: Mapping[str, Answer]) -> FlowResult:
    return redirect_back(page, done) if answers["alert"].is_good else refuse(answers["alert"])


ROUTES = [
    get_for_member(f"{FLIGHTS}/new", partial(show_new, FLIGHT)),
    post_for_member(f"{FLIGHTS}/new", partial(save_new, FLIGHT)),
    get_for_member(ONE, show),
    get_for_member(f"{ONE}/edit", partial(show_change, FLIGHT)),
    post_for_member(f"{ONE}/edit", partial(save_change, FLIGHT)),
    get_for_member(f"{ONE}/delete", partial(ask_delete, FLIGHT)),
    post_for_member(f"{ONE}/delete", partial(delete, FLIGHT)),
    post_for_member(f"{ONE}/trip", partial(file_under_trip, FLIGHT)),
    post_for_member(f"{ONE}/alert", switch_alert),
]
