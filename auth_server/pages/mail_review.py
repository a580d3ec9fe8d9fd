"""Forms of forwarded mails: what was read as fields, what needs the person, and the corrections that are sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auth_server.pages.booking_forms import AMOUNTS, read_number, write_value
from auth_server.pages.booking_timeline import Row

MAX_INPUTS = 36  # of all bookings together; a form has 40 fields at most
FLIGHT = (
    *("departure_date", "departure_time", "flight_number", "origin", "destination", "arrival_time", "cabin_class"),
    *("arrival_date", "airline"),
)
# What legs of one reservation share: asked once.
RESERVATION = (
    *("kind", "points_spent", "cash_paid", "taxes_paid", "taxes_currency", "confirmation_number", "passengers"),
    "program",
)
STAY = (
    *("hotel_name", "check_in_date", "check_out_date", "kind", "original_points", "cash_total"),
    *("cash_rate_currency", "confirmation_number", "free_cancellation_until", "room_type", "city", "country"),
)
_COUNTS = frozenset({"points_spent", "original_points", "passengers"})
_COSTS = frozenset({"points_spent", "cash_paid", "taxes_paid"})  # of all legs, kept on the first
LABELS = {
    "departure_date": "Day it leaves",
    "departure_time": "Leaves at",
    "arrival_date": "Day it lands",
    "arrival_time": "Lands at",
    "origin": "From",
    "destination": "To",
    "cabin_class": "Cabin",
    "kind": "Paid with",
    "points_spent": "Points for all travellers",
    "cash_paid": "Money for all travellers",
    "taxes_paid": "Taxes for all travellers",
    "taxes_currency": "Currency",
    "passengers": "Travellers",
    "program": "Programme of the points",
    "hotel_name": "Hotel",
    "check_in_date": "Check-in",
    "check_out_date": "Check-out",
    "original_points": "Points for the whole stay",
    "cash_total": "Money for the whole stay",
    "cash_rate_currency": "Currency",
    "free_cancellation_until": "Free to cancel until",
    "room_type": "Room",
}
CHOICES = {
    "kind": (("award", "Points"), ("cash", "Money")),
    "cabin_class": (
        *(("economy", "Economy"), ("premium_economy", "Premium economy")),
        *(("business", "Business"), ("first", "First")),
    ),
}
EMPTIED = "This was read from the mail. It can be corrected here, and emptied once the booking is filed."


@dataclass(frozen=True)
class MailField:
    """One field: `key` is its name in the form."""

    key: str
    label: str
    value: str
    type: str
    options: tuple[tuple[str, str], ...]
    fault: str


@dataclass(frozen=True)
class MailPart:
    """Fields of one booking, or of what all legs share. `rest` is read from the mail and not asked again."""

    title: str
    fields: Sequence[MailField]
    rest: Sequence[tuple[str, str]]


def plan_parts(parsed: Sequence[Row], missing: Sequence[str]) -> list[tuple[str, list[str]]]:
    """For each booking, and first for what legs share: the end of its fields' names, and which fields are asked."""
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
    message: Row, parsed: Sequence[Row], typed: Mapping[str, str], faults: Mapping[str, str]
) -> list[MailPart]:
    """`typed` and `faults` by the names of the form; without them what was read, and what the mail leaves open."""
    parts = []
    for end, names in plan_parts(parsed, message["missing"]):
        booking = _join(parsed) if end == "all" else parsed[int(end)]
        fields = [_build_field(name, end, booking, message, typed, faults) for name in names]
        rest = [(label_field(name), write_value(booking[name])) for name in _list_unasked(booking, names, end)]
        parts.append(MailPart(_name_part(booking, end), fields, rest))
    return parts


def _list_unasked(booking: Row, names: Sequence[str], end: str) -> list[str]:
    every = STAY if booking.get("type") == "hotel" else FLIGHT
    return [name for name in every if name not in names and booking.get(name) is not None] if end != "all" else []


def _join(parsed: Sequence[Row]) -> dict[str, Any]:
    """What the legs share, each as the first leg that says it has it."""
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


def label_field(name: str) -> str:
    return LABELS.get(name, name.replace("_", " ").capitalize())


def _build_field(
    name: str, end: str, booking: Row, message: Row, typed: Mapping[str, str], faults: Mapping[str, str]
) -> MailField:
    key = f"{name}-{end}"
    options = (("", "Choose one"), *CHOICES[name]) if name in CHOICES else ()
    kind = "date" if name.endswith(("_date", "_until")) else "time" if name.endswith("_time") else "text"
    fault = faults.get(key, "") if typed else _explain(name, booking, message["review"])
    return MailField(key, label_field(name), typed.get(key, write_value(booking.get(name))), kind, options, fault)


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
    parsed: Sequence[Row], missing: Sequence[str], read: Callable[[str], str]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """What was typed otherwise than read, for each booking; and faults of what was emptied, by names of the form."""
    corrections: list[dict[str, Any]] = [{"type": booking.get("type")} for booking in parsed]
    faults = {}
    for end, names in plan_parts(parsed, missing):
        booking = _join(parsed) if end == "all" else parsed[int(end)]
        for name in names:
            text, stored = read(f"{name}-{end}").strip(), write_value(booking.get(name))
            if stored and not text:
                faults[f"{name}-{end}"] = EMPTIED
            elif text != stored:
                _correct(corrections, name, end, text)
    return corrections, faults


def _correct(corrections: list[dict[str, Any]], name: str, end: str, text: str) -> None:
    """A cost that legs share stands on the first; any other shared value on all. A hotel is looked up by its name."""
    value = read_number(text, whole=name in _COUNTS) if name in _COUNTS or name in AMOUNTS else text
    targets = corrections if end == "all" and name not in _COSTS else [corrections[0 if end == "all" else int(end)]]
    for target in targets:
        target["hotel_id" if name == "hotel_name" else name] = value


def place_faults(parsed: Sequence[Row], missing: Sequence[str], faults: Mapping[str, str]) -> dict[str, str]:
    """Faults of the tool (`fields.bookings[0].kind`, or a bare name) by names of the form; others stand under ""."""
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
    """Each line in pieces, and whether a piece is a value that was read."""
    names = ("confirmation_number", "hotel_name", "flight_number", "airline", "origin", "destination", "room_type")
    values = {str(booking[name]) for booking in parsed for name in names if booking.get(name)}
    return [_mark_line(line, sorted((v for v in values if len(v) > 2), key=len, reverse=True)) for line in lines]


def _mark_line(line: str, values: Sequence[str]) -> list[tuple[str, bool]]:
    value = next((value for value in values if value in line), None)
    if value is None:
        return [(line, False)]
    before, _, after = line.partition(value)
    return [*_mark_line(before, values), (value, True), *_mark_line(after, values)]
