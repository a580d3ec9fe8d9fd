"""Forwarded mail pages: the address for confirmations, the mails that came, and the review that files a booking."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from auth_server.pages import bookings
from auth_server.pages.booking_timeline import FLIGHTS, STAYS, Row
from auth_server.pages.mail_review import build_parts, list_needed, mark_lines, place_faults, read_corrections
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import (
    NO_ANSWER,
    Answer,
    ToolCall,
    prepare_change,
    prepare_look,
    read_faults,
    show_when_answered,
)
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem
from shared.domain.plans import Tier, is_allowed

PATH = "/dashboard/inbox"
ADDRESS, ONE = f"{PATH}/address", f"{PATH}/{{message}}"
VIEWS = (("needs_review", "To review"), ("imported", "Filed"), ("failed", "Not read"), ("all", "All"))
PER_PAGE, MAX_SOUGHT_PAGES = 20, 5  # of 100 mails: the newest 500 can be opened
MESSAGES = {"discarded": "The mail is thrown away, and its text is deleted."}
BACK = (PATH, "To your forwarded mail")
GONE = show_problem("There is no such mail", "It may have been settled long ago.", 404, links=(BACK,))
_WHOLE = ("changed_booking", "booking", "sender", "type")  # what is open about the mail, not about one field


def refuse(answer: Answer) -> Page:
    """The page that says why it did not work."""
    if not answer:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=(BACK,))
    if answer.status == "not_found":
        return GONE
    words = str(answer.get("message") or NO_ANSWER)
    if answer.status == "paywall":
        return show_problem("A higher plan is needed", words, 403, links=(("/plans", "See the plans"), BACK))
    status = 503 if answer.status == "backend_unavailable" else 422
    return show_problem("That did not work", words, status, links=(BACK,))


def show(member: Member) -> PageResult:
    state = member.data.query_value("state") or ""
    state = state if state in dict(VIEWS) else VIEWS[0][0]
    page = bookings.read_page(member)
    call = prepare_look(member, "list_inbox_messages", state=state, page=page, per_page=PER_PAGE)
    return show_when_answered({"mails": call}, partial(_show, member, state, page))


def _show(member: Member, state: str, page: int, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["mails"]
    closed = answer.status == "paywall"
    if not (answer.is_good or closed):
        return refuse(answer)
    rows = [mail | {"at": datetime.fromisoformat(mail["received_at"])} for mail in answer.get("messages", ())]
    pages = -(-answer["paging"]["total"] // PER_PAGE) if answer.is_good else 0
    included = is_allowed(member.plan, Tier.PREMIUM)
    context = {"rows": rows, "state": state, "page": page, "pages": pages, "views": VIEWS, "closed": closed}
    return member.show("inbox.html", included=included, messages=MESSAGES, **context)


def show_address(member: Member) -> PageResult:
    """The address is a secret: it is shown to anyone who asks for it. Asking begins the trial of a free account."""
    return _show_when_made(member, prepare_change(member, "get_booking_inbox"), is_new=False)


def reset_address(member: Member) -> PageResult:
    return _show_when_made(member, prepare_change(member, "reset_booking_inbox", confirm=True), is_new=True)


def _show_when_made(member: Member, call: ToolCall, *, is_new: bool) -> PageResult:
    return show_when_answered({"inbox": call}, partial(_show_address, member, is_new))


def _show_address(member: Member, is_new: bool, answers: Mapping[str, Answer]) -> FlowResult:
    inbox = answers["inbox"]
    if not inbox.is_good:
        return refuse(inbox)
    trial = inbox.get("trial")
    ends = datetime.fromisoformat(trial["ends_on"]) if trial else None
    return member.show("inbox_address.html", address=inbox["address"], is_new=is_new, trial_ends=ends)


def _seek(member: Member, show_mail: Any, state: str = "needs_review", page: int = 1) -> PageResult:
    """Looks for the mail of the path among those that wait, then among all, and shows it."""
    call = prepare_look(member, "list_inbox_messages", state=state, page=page, per_page=100)
    trips = bookings.look_at_trips(member)
    return show_when_answered({"mails": call, "trips": trips}, partial(_seek_on, member, show_mail, state, page))


def _seek_on(member: Member, show_mail: Any, state: str, page: int, answers: Mapping[str, Answer]) -> PageResult:
    answer, id = answers["mails"], member.data.path_values["message"]
    if not answer.is_good:
        return refuse(answer)
    mail = next((mail for mail in answer["messages"] if mail["message_id"] == id), None)
    if mail is not None:
        result: PageResult = show_mail(member, mail, answers["trips"])
        return result
    if page * 100 < answer["paging"]["total"] and page < MAX_SOUGHT_PAGES:
        return _seek(member, show_mail, state, page + 1)
    return _seek(member, show_mail, "all") if state != "all" else GONE


def show_one(member: Member) -> PageResult:
    return _seek(member, _show_one)


def _show_one(member: Member, mail: Row, trips: Answer) -> FlowResult:
    parsed = list_parsed(mail, member.data.query_value("type") or "")
    return _show_mail(member, mail, parsed, bookings.name_trips(trips), {}, {})


def list_parsed(mail: Row, kind: str) -> list[dict[str, Any]]:
    """The bookings that were read; where none was, an empty one of the kind the person says."""
    parsed = list(mail["parsed"].get("bookings") or ())
    if not parsed and kind in ("flight", "hotel"):
        return [{"type": kind, "action": "create"}]
    return [booking for booking in parsed if booking.get("type")] if all(b.get("type") for b in parsed) else []


def _show_mail(
    member: Member,
    mail: Row,
    parsed: Sequence[Row],
    trips: Mapping[int, str],
    typed: Mapping[str, str],
    faults: Mapping[str, str],
) -> FlowResult:
    waits = mail["state"] in ("needs_review", "failed")
    parts = build_parts(mail, parsed, typed, faults) if waits else []
    booked = [f"{FLIGHTS}/{id}" for id in mail["flight_booking_ids"]] + [
        f"{STAYS}/{id}" for id in mail["hotel_booking_ids"]
    ]
    return member.show(
        "inbox_mail.html",
        422 if faults else 200,
        mail=dict(mail) | {"at": datetime.fromisoformat(mail["received_at"])},
        waits=waits,
        parts=parts,
        open_fields=[field for part in parts for field in part.fields if field.fault],
        whole=[item for item in mail["review"] if item["field"] in _WHOLE and (item["field"] != "type" or not parsed)],
        top=faults.get("", ""),
        lines=mark_lines(mail["excerpt"], parsed),
        kinds=sorted({str(booking.get("type")) for booking in parsed}),
        booked=booked,
        trips=[("", "No trip"), *((str(id), name) for id, name in trips.items())],
        trip=typed.get("trip", ""),
        page=f"{PATH}/{mail['message_id']}",
    )


def file_one(member: Member) -> PageResult:
    return _seek(member, _file_one)


def _file_one(member: Member, mail: Row, trips: Answer) -> PageResult:
    parsed = list_parsed(mail, member.data.form_value("type"))
    if mail["state"] not in ("needs_review", "failed"):
        return redirect_back(f"{PATH}/{mail['message_id']}", "settled")
    corrections, faults = read_corrections(parsed, mail["missing"], member.data.form_value)
    typed = dict(member.data.form)
    names = bookings.name_trips(trips)
    if faults or not parsed:
        return _show_mail(member, mail, parsed, names, typed, faults)
    fields = {"bookings": corrections}
    id = mail["message_id"]
    call = prepare_change(member, "resolve_inbox_message", message_id=id, action="import", fields=fields)
    return show_when_answered({"filed": call}, partial(_finish_filing, member, mail, parsed, names))


def _finish_filing(
    member: Member, mail: Row, parsed: Sequence[Row], trips: Mapping[int, str], answers: Mapping[str, Answer]
) -> PageResult:
    filed, typed = answers["filed"], dict(member.data.form)
    if filed.is_good and not filed["missing"]:
        return _file_under_trip(member, filed)
    if filed.is_good:  # what was corrected is kept, and something is still missing
        mail = filed["inbox_message"]
        parsed = list_parsed(mail, "")
        faults = list_needed(parsed, mail["missing"]) or {"": "Nothing is filed yet: something is still open."}
        return _show_mail(member, mail, parsed, trips, typed, faults)
    if filed.status == "paywall":
        return refuse(filed)
    words = read_faults(filed)
    if filed.status in ("not_found", "candidates"):  # of a name of a hotel, where there is one
        words = {"hotel_id": words.pop("")}
    return _show_mail(member, mail, parsed, trips, typed, place_faults(parsed, mail["missing"], words))


def _file_under_trip(member: Member, filed: Answer) -> PageResult:
    ids = {
        "flight_booking_ids": [row["booking_id"] for row in filed["flight_bookings"]],
        "hotel_booking_ids": [row["booking_id"] for row in filed["hotel_bookings"]],
    }
    pages = [f"{FLIGHTS}/{id}" for id in ids["flight_booking_ids"]] + [
        f"{STAYS}/{id}" for id in ids["hotel_booking_ids"]
    ]
    page = pages[0] if len(pages) == 1 else bookings.PATH
    trip = member.data.form_value("trip")
    if not trip.isdecimal():
        return redirect_back(page, "from_mail")
    assigned: dict[str, Any] = {"trip_id": int(trip[:18]), **ids}
    call = prepare_change(member, "assign_bookings_to_trip", **assigned)
    return show_when_answered({"assigned": call}, lambda _: redirect_back(page, "from_mail"))


def ask_discard(member: Member) -> PageResult:
    return _seek(member, _ask_discard)


def _ask_discard(member: Member, mail: Row, _trips: Answer) -> FlowResult:
    return member.show("inbox_discard.html", mail=mail, page=f"{PATH}/{mail['message_id']}")


def discard(member: Member) -> PageResult:
    id = member.data.path_values["message"]
    call = prepare_change(member, "resolve_inbox_message", message_id=id[:64], action="discard")
    return show_when_answered({"discarded": call}, _finish_discarding)


def _finish_discarding(answers: Mapping[str, Answer]) -> FlowResult:
    discarded = answers["discarded"]
    return redirect_back(PATH, "discarded") if discarded.is_good else refuse(discarded)


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(ADDRESS, show_address),
    post_for_member(f"{ADDRESS}/reset", reset_address),
    get_for_member(ONE, show_one),
    post_for_member(ONE, file_one),
    get_for_member(f"{ONE}/discard", ask_discard),
    post_for_member(f"{ONE}/discard", discard),
]
