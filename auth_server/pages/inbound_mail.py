"""Forwarded mail pages: the address for confirmations, the mails that came, and the review that files a booking."""

from asyncio import gather
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from auth_server.pages import balances, bookings, flight_bookings, hotel_bookings
from auth_server.pages.booking_timeline import FLIGHTS, STAYS, Row
from auth_server.pages.forms import Field, Input, build_input, read_page, show_form, write_value
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look, read_faults
from auth_server.web.outcomes import FlowResult
from shared.domain.plans import Tier, is_allowed

# Forms of forwarded mails: the values read, those the person must check, and the corrections sent.

MAX_INPUTS = 36  # of all bookings together; a form has 40 fields at most
FLIGHT = (
    *("departure_date", "departure_time", "flight_number", "origin", "destination", "arrival_time", "cabin_class"),
    *("arrival_date", "airline"),
)
# Fields that legs of one reservation share: asked once.
RESERVATION = (
    *("kind", "points_spent", "cash_paid", "taxes_paid", "taxes_currency", "confirmation_number", "passengers"),
    "program",
)
STAY = (
    *("hotel_name", "check_in_date", "check_out_date", "kind", "original_points", "cash_total"),
    *("cash_rate_currency", "confirmation_number", "free_cancellation_until", "room_type", "city", "country"),
)
_COSTS = frozenset({"points_spent", "cash_paid", "taxes_paid"})  # of all legs, stored on the first
EMPTIED = "This was read from the mail. It can be corrected here, and emptied once the booking is filed."


# The names that the booking tools use for fields of a mail.
_ARGUMENTS = {"hotel_name": "hotel_id", "cash_total": "original_pay_rate_usd"}


@dataclass(frozen=True)
class MailField:
    """One field, with the value it shows."""

    input: Input
    value: str
    fault: str


@dataclass(frozen=True)
class MailPart:
    """Fields of one booking, or those all legs share. `rest` was read from the mail and is not asked again."""

    title: str
    fields: Sequence[MailField]
    rest: Sequence[tuple[str, str]]


async def load_inputs(member: Member) -> dict[str, Input]:
    """The inputs of the forms of flights and stays, by their names in a mail."""
    flight, stay = await gather(
        flight_bookings.FORM.load(member, is_new=True), hotel_bookings.FORM.load(member, is_new=True)
    )
    inputs = flight.inputs | stay.inputs
    free_until = Field("free_cancellation_until", "Free to cancel until", type="date")
    inputs[free_until.name] = build_input(free_until, {}, is_required=False, is_clearable=False)
    return inputs | {name: inputs[argument] for name, argument in _ARGUMENTS.items()}


def plan_parts(parsed: Sequence[Row], missing: Sequence[str]) -> list[tuple[str, list[str]]]:
    """For shared fields and then each booking: the suffix of the fields' names, and which fields to ask."""
    shares = len(parsed) > 1 and all(booking.get("type") == "flight" for booking in parsed)
    parts = [("all", list(RESERVATION))] if shares else []
    room = (MAX_INPUTS - len(RESERVATION) * shares) // max(1, len(parsed))
    for place, booking in enumerate(parsed):
        names = _list_names(booking, shares=shares)
        names.sort(key=lambda name, booking=booking: not (name in missing and not booking.get(name)))  # type: ignore[misc]
        parts.append((str(place), names[:room]))
    return parts


def _list_names(booking: Row, *, shares: bool) -> list[str]:
    if booking.get("action") == "cancel":
        return [] if shares else ["confirmation_number"]
    if booking.get("type") == "hotel":
        return list(STAY)
    return list(FLIGHT if shares else (*FLIGHT, *RESERVATION))


def build_parts(
    inputs: Mapping[str, Input],
    message: Row,
    parsed: Sequence[Row],
    typed: Mapping[str, str],
    faults: Mapping[str, str],
) -> list[MailPart]:
    """`typed` and `faults` by the names of the form; without them the values read, and those the mail leaves open."""
    parts = []
    for end, names in plan_parts(parsed, message["missing"]):
        booking = _join(parsed) if end == "all" else parsed[int(end)]
        fields = []
        for name in names:
            input = _rename(inputs[name], f"{name}-{end}")
            fault = faults.get(input.name, "") if typed else _explain(name, booking, message["review"])
            fields.append(MailField(input, typed.get(input.name, write_value(booking.get(name))), fault))
        rest = [(inputs[name].label, write_value(booking[name])) for name in _list_unasked(booking, names, end)]
        parts.append(MailPart(_name_part(booking, end), fields, rest))
    return parts


def _list_unasked(booking: Row, names: Sequence[str], end: str) -> list[str]:
    every = STAY if booking.get("type") == "hotel" else FLIGHT
    return [name for name in every if name not in names and booking.get(name) is not None] if end != "all" else []


def _join(parsed: Sequence[Row]) -> dict[str, Any]:
    """The shared values, each from the first leg that has it."""
    return {
        name: next((b[name] for b in parsed if b.get(name) not in (None, 0)), parsed[0].get(name))
        for name in RESERVATION
    }


def _name_part(booking: Row, end: str) -> str:
    if end == "all":
        return "For all flights of the mail"
    if booking.get("type") == "hotel":
        return str(booking.get("hotel_name") or "Stay")
    route = " to ".join(filter(None, (booking.get("origin"), booking.get("destination"))))
    return " ".join(filter(None, ("Flight", booking.get("flight_number"), route)))


def _rename(input: Input, key: str) -> Input:
    """Renames a field for one of several bookings; one the mail lacks can be left open."""
    field = replace(input.field, name=key, label=input.label, help="")
    choices = [("", "Choose one"), *input.choices] if input.choices else []
    return replace(input, field=field, choices=choices, is_required=False)


def _explain(name: str, booking: Row, review: Sequence[Row]) -> str:
    """Why a field needs the person: it was not read, or the mail says two things."""
    flight = booking.get("flight_number")
    items = [item for item in review if item["field"] == name and item["about"] in (None, flight)]
    open_item = next((item for item in items if item["values"] or not booking.get(name)), None)
    if open_item is None:
        return ""
    values = ", ".join(map(str, open_item["values"]))
    return f"{open_item['reason']} The mail says: {values}." if values else str(open_item["reason"])


def read_corrections(
    inputs: Mapping[str, Input], parsed: Sequence[Row], missing: Sequence[str], read: Callable[[str], str]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The changed values of each booking, and faults of emptied fields, by names of the form."""
    corrections: list[dict[str, Any]] = [{"type": booking.get("type")} for booking in parsed]
    faults = {}
    for end, names in plan_parts(parsed, missing):
        booking = _join(parsed) if end == "all" else parsed[int(end)]
        for name in names:
            text, stored = read(f"{name}-{end}").strip(), write_value(booking.get(name))
            if stored and not text:
                faults[f"{name}-{end}"] = EMPTIED
            elif text != stored:
                _correct(corrections, name, end, inputs[name].to_argument(text))
    return corrections, faults


def _correct(corrections: list[dict[str, Any]], name: str, end: str, value: Any) -> None:
    """A cost that legs share is put on the first; any other shared value on all. A hotel is looked up by its name."""
    targets = corrections if end == "all" and name not in _COSTS else [corrections[0 if end == "all" else int(end)]]
    for target in targets:
        target["hotel_id" if name == "hotel_name" else name] = value


def place_faults(parsed: Sequence[Row], missing: Sequence[str], faults: Mapping[str, str]) -> dict[str, str]:
    """Faults of the tool (`fields.bookings[0].kind`, or a bare name) by names of the form; others are under ""."""
    keys = [f"{name}-{end}" for end, names in plan_parts(parsed, missing) for name in names]
    placed: dict[str, str] = {}
    for field, words in faults.items():
        place, _, name = field.removeprefix("fields.bookings[").rpartition("].")
        name = {"hotel_id": "hotel_name"}.get(name, name)
        key = next((key for key in (f"{name}-{place}", f"{name}-all", f"{name}-0") if key in keys), "")
        placed[key] = " ".join(filter(None, (placed.get(key), words)))
    return placed


def list_needed(parsed: Sequence[Row], missing: Sequence[str]) -> dict[str, str]:
    """The fields that are still empty though the booking needs them, by names of the form."""
    needed: dict[str, str] = {}
    for end, names in plan_parts(parsed, missing):
        booking = _join(parsed) if end == "all" else parsed[int(end)]
        needed |= {f"{n}-{end}": "This is still needed." for n in names if n in missing and not booking.get(n)}
    return needed


def mark_lines(lines: Sequence[str], parsed: Sequence[Row]) -> list[list[tuple[str, bool]]]:
    """Splits each line into pieces, with whether each is a value that was read."""
    names = ("confirmation_number", "hotel_name", "flight_number", "airline", "origin", "destination", "room_type")
    values = {str(booking[name]) for booking in parsed for name in names if booking.get(name)}
    return [_mark_line(line, sorted((v for v in values if len(v) > 2), key=len, reverse=True)) for line in lines]


def _mark_line(line: str, values: Sequence[str]) -> list[tuple[str, bool]]:
    value = next((value for value in values if value in line), None)
    if value is None:
        return [(line, False)]
    before, _, after = line.partition(value)
    return [*_mark_line(before, values), (value, True), *_mark_line(after, values)]


PATH = "/dashboard/inbox"
ADDRESS, ONE = f"{PATH}/address", f"{PATH}/{{message}}"
VIEWS = (("needs_review", "To review"), ("imported", "Filed"), ("failed", "Not read"), ("all", "All"))
PER_PAGE, MAX_SOUGHT_PAGES = 20, 5  # of 100 mails: only the newest 500 can be opened
MESSAGES = {"discarded": "The mail is thrown away, and its text is deleted."}
MAILS = Subject("mail", PATH, "Your forwarded mail")
_WHOLE = ("changed_booking", "booking", "sender", "type")  # what is open about the mail, not about one field


async def show(member: Member) -> FlowResult:
    state = member.data.query_value("state") or ""
    state = state if state in dict(VIEWS) else VIEWS[0][0]
    page = read_page(member)
    answer = await look(member, "list_inbox_messages", state=state, page=page, per_page=PER_PAGE)
    closed = answer.status == "paywall"
    if not (answer.is_good or closed):
        return MAILS.refuse(answer)
    rows = [mail | {"at": datetime.fromisoformat(mail["received_at"])} for mail in answer.get("messages", ())]
    pages = -(-answer["paging"]["total"] // PER_PAGE) if answer.is_good else 0
    included = is_allowed(member.plan, Tier.PREMIUM)
    context = {"rows": rows, "state": state, "page": page, "pages": pages, "views": VIEWS, "closed": closed}
    return member.show("inbox.html", included=included, messages=MESSAGES, **context)


async def show_address(member: Member) -> FlowResult:
    """Shows the address, a secret, only to a person who asks for it. Asking starts the trial of a free account."""
    return _show_address(member, await change(member, "get_booking_inbox"), is_new=False)


async def reset_address(member: Member) -> FlowResult:
    return _show_address(member, await change(member, "reset_booking_inbox", confirm=True), is_new=True)


def _show_address(member: Member, inbox: Answer, *, is_new: bool) -> FlowResult:
    if not inbox.is_good:
        return MAILS.refuse(inbox)
    trial = inbox.get("trial")
    ends = datetime.fromisoformat(trial["ends_on"]) if trial else None
    return member.show("inbox_address.html", address=inbox["address"], is_new=is_new, trial_ends=ends)


async def _find_mail(member: Member) -> tuple[dict[str, Any] | None, Answer]:
    """The mail of the path, from those that wait or else from all; and the last answer."""
    id, answer = member.data.path_values["message"], Answer()
    for state in ("needs_review", "all"):
        for page in range(1, MAX_SOUGHT_PAGES + 1):
            answer = await look(member, "list_inbox_messages", state=state, page=page, per_page=100)
            if not answer.is_good:
                return None, answer
            mail = next((mail for mail in answer["messages"] if mail["message_id"] == id), None)
            if mail is not None:
                return mail, answer
            if page * 100 >= answer["paging"]["total"]:
                break
    return None, Answer(status="not_found")


async def show_one(member: Member) -> FlowResult:
    (mail, answer), inputs, trips = await gather(_find_mail(member), load_inputs(member), bookings.name_trips(member))
    if mail is None:
        return MAILS.refuse(answer)
    if _states_balance(mail):
        return await _show_balance(member, mail)
    parsed = list_parsed(mail, member.data.query_value("type") or "")
    return _show_mail(member, mail, parsed, inputs, trips, {}, {})


def _states_balance(mail: Row) -> bool:
    return (mail["kind"], mail["state"]) == ("balance", "needs_review")


async def _show_balance(
    member: Member, mail: Row, typed: Mapping[str, str] | None = None, saved: Answer | None = None
) -> FlowResult:
    """The form of a balance with what the mail states; what it leaves open is empty."""
    form, supported = await gather(
        balances.FORM.load(member, is_new=True), look(member, "list_points_balances", include_supported=True)
    )
    stated = mail["parsed"]["balance"]
    typed = typed or form.write(stated)
    programs = [(p["program"], p["name"]) for p in supported.get("supported_programs") or ()]
    form.offer("program", [("", "Choose one"), *programs], typed.get("program", ""))
    return show_form(
        member,
        form,
        typed,
        title="Is this balance right?",
        heading=mail["subject"] or "A balance",
        back=(PATH, "Forwarded mail"),
        faults={
            name.removeprefix("fields."): words for name, words in read_faults(saved or Answer(status="ok")).items()
        },
        note=_explain_balance(mail) if saved is None else "",
        delete=f"{PATH}/{mail['message_id']}/discard",
    )


def _explain_balance(mail: Row) -> str:
    """Explains what the mail leaves open, and lists the numbers that may be the balance."""
    reasons = [item["reason"] for item in mail["review"]]
    numbers = " or ".join(f"{number:,}" for number in mail["parsed"]["balance"]["amounts"])
    return " ".join([*reasons, *([f"The mail says: {numbers}."] if "balance" in mail["missing"] else [])])


async def _file_balance(member: Member, mail: Row) -> FlowResult:
    form = await balances.FORM.load(member, is_new=True)
    typed = form.read(member)
    fields = {"balance": typed["balance"]} | form.list_filled(typed)
    id = mail["message_id"]
    saved = await change(member, "resolve_inbox_message", message_id=id, action="import", fields=fields)
    if saved.is_good and not saved["missing"]:
        return redirect_back(balances.PATH, "saved")
    return await _show_balance(member, mail, typed, saved)


def list_parsed(mail: Row, kind: str) -> list[dict[str, Any]]:
    """The bookings read; if none, an empty one of the kind the person says."""
    parsed = list(mail["parsed"].get("bookings") or ())
    if not parsed and kind in ("flight", "hotel"):
        return [{"type": kind, "action": "create"}]
    return [booking for booking in parsed if booking.get("type")] if all(b.get("type") for b in parsed) else []


def _show_mail(
    member: Member,
    mail: Row,
    parsed: Sequence[Row],
    inputs: Mapping[str, Input],
    trips: Mapping[int, str],
    typed: Mapping[str, str],
    faults: Mapping[str, str],
) -> FlowResult:
    waits = mail["state"] in ("needs_review", "failed")
    parts = build_parts(inputs, mail, parsed, typed, faults) if waits else []
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


async def file_one(member: Member) -> FlowResult:
    (mail, answer), inputs, trips = await gather(_find_mail(member), load_inputs(member), bookings.name_trips(member))
    if mail is None:
        return MAILS.refuse(answer)
    id, parsed = mail["message_id"], list_parsed(mail, member.data.form_value("type"))
    if mail["state"] not in ("needs_review", "failed"):
        return redirect_back(f"{PATH}/{id}", "settled")
    if _states_balance(mail):
        return await _file_balance(member, mail)
    corrections, faults = read_corrections(inputs, parsed, mail["missing"], member.data.form_value)
    typed = dict(member.data.form)
    if faults or not parsed:
        return _show_mail(member, mail, parsed, inputs, trips, typed, faults)
    fields = {"bookings": corrections}
    filed = await change(member, "resolve_inbox_message", message_id=id, action="import", fields=fields)
    if filed.is_good and not filed["missing"]:
        return await _file_under_trip(member, filed)
    if filed.is_good:  # the corrections are saved, and something is still missing
        mail = filed["inbox_message"]
        parsed = list_parsed(mail, "")
        faults = list_needed(parsed, mail["missing"]) or {"": "Nothing is filed yet: something is still open."}
        return _show_mail(member, mail, parsed, inputs, trips, typed, faults)
    if filed.status == "paywall":
        return MAILS.refuse(filed)
    words = read_faults(filed)
    if filed.status in ("not_found", "candidates"):  # of a name of a hotel, where there is one
        words = {"hotel_id": words.pop("")}
    return _show_mail(member, mail, parsed, inputs, trips, typed, place_faults(parsed, mail["missing"], words))


async def _file_under_trip(member: Member, filed: Answer) -> FlowResult:
    flights = [row["booking_id"] for row in filed["flight_bookings"]]
    stays = [row["booking_id"] for row in filed["hotel_bookings"]]
    pages = [f"{FLIGHTS}/{id}" for id in flights] + [f"{STAYS}/{id}" for id in stays]
    trip = member.data.form_value("trip")
    if trip.isdecimal():
        ids: dict[str, Any] = {"flight_booking_ids": flights, "hotel_booking_ids": stays}
        await change(member, "assign_bookings_to_trip", trip_id=int(trip[:18]), **ids)
    return redirect_back(pages[0] if len(pages) == 1 else bookings.PATH, "from_mail")


async def ask_discard(member: Member) -> FlowResult:
    mail, answer = await _find_mail(member)
    if mail is None:
        return MAILS.refuse(answer)
    return member.show("inbox_discard.html", mail=mail, page=f"{PATH}/{mail['message_id']}")


async def discard(member: Member) -> FlowResult:
    id = member.data.path_values["message"][:64]
    discarded = await change(member, "resolve_inbox_message", message_id=id, action="discard")
    return redirect_back(PATH, "discarded") if discarded.is_good else MAILS.refuse(discarded)


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(ADDRESS, show_address),
    post_for_member(f"{ADDRESS}/reset", reset_address),
    get_for_member(ONE, show_one),
    post_for_member(ONE, file_one),
    get_for_member(f"{ONE}/discard", ask_discard),
    post_for_member(f"{ONE}/discard", discard),
]
