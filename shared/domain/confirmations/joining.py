"""Statements of several parts of a mail about the same flight or stay, joined field by field.

A part is a `MailReading`; parts come in the order of their reliability. Where parts contradict each other on what
matters, the field is left open and a doubt names both values; elsewhere the more reliable part is followed.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from shared.domain.confirmations.model import BookedLeg, BookedStay, Booking, Doubt, MailReading, to_json
from shared.domain.confirmations.silent_letters import WHOLE

MAX_BOOKINGS = 60  # of one mail
_FOLLOWED = frozenset(  # the more reliable part is right: others name a partner's number, or the same in other words
    (
        "action", "doubts", "airline", "confirmation_number", "hotel_name", "room_type", "kind", "program",
        "cash_paid", "taxes_paid", "taxes_currency", "cash_total", "cash_rate_currency",
    )
)  # fmt: skip
_ENDS = ("origin", "destination")
_TOGETHER = (_ENDS, ("departure_time",), ("arrival_time",), ("departure_date",))
_REASON = "The parts of the mail say different things of it."


def join_readings(readings: list[MailReading], certain: int = 0) -> MailReading:
    """One reading of all that several parts state. The first `certain` of them are data, which no reading of words can
    have put together wrongly."""
    groups: list[list[Booking]] = []
    data: list[Booking] = []
    for at, reading in enumerate(readings):
        bookings = [_drop_mixed_up(b, data) for b in reading.bookings[:MAX_BOOKINGS]]
        _add_statements(groups, bookings)
        data += bookings if at < certain else []
    stating = [r for r in readings if r.bookings]
    types = {"flights" if isinstance(b, BookedLeg) else "stays" for r in stating for b in r.bookings}
    return MailReading(
        source=stating[0].source if stating else "none",
        forwarded=any(r.forwarded for r in readings),
        bookings=[join_statements(g, data) for g in _drop_mentions(groups, data)][:MAX_BOOKINGS],
        doubts=list(dict.fromkeys(d for r in readings for d in r.doubts if not _is_read(d, r, types))),
        unread=list(dict.fromkeys(u for r in readings for u in r.unread)),
    )


def _is_read(doubt: Doubt, reading: MailReading, types: set[str]) -> bool:
    """Whether what one part shows and does not state was read of another; a part that states nothing only repeats."""
    return doubt.field in types or (bool(types) and not reading.bookings and doubt.field in WHOLE)


def _drop_mixed_up(booking: Booking, data: Sequence[Booking]) -> Booking:
    """Without what a reading of words gave to the wrong one of two flights, as the data of the mail show: its route or
    its times are those of another flight."""
    if not isinstance(booking, BookedLeg):
        return booking
    legs = [leg for leg in data if isinstance(leg, BookedLeg)]
    own = [leg for leg in legs if leg.flight_number == booking.flight_number]
    others = [leg for leg in legs if leg not in own] if own else []
    for names in _TOGETHER:
        values = [getattr(booking, name) for name in names]
        if None in values or any(values == [getattr(leg, name) for name in names] for leg in own):
            continue
        if any(values == [getattr(leg, name) for name in names] for leg in others):
            booking = replace(booking)
            for name in names:
                setattr(booking, name, None)
    return booking


def _add_statements(groups: list[list[Booking]], bookings: list[Booking]) -> None:
    """Adds what one part states: each booking to the one group it is most like, else as a group of its own."""
    pairs = [
        (likeness, -at, -to)
        for at, booking in enumerate(bookings)
        for to, group in enumerate(groups)
        if (likeness := max(_compare(booking, other) for other in group)) > 0
    ]
    placed: dict[int, int] = {}
    for _, at, to in sorted(pairs, reverse=True):
        if -at not in placed and -to not in placed.values():
            placed[-at] = -to
    for at, booking in enumerate(bookings):
        if at in placed:
            groups[placed[at]].append(booking)
        else:
            groups.append([booking])


def _compare(one: Booking, other: Booking) -> int:
    """How much speaks for two statements being about the same; 0 when they are not."""
    if isinstance(one, BookedLeg) and isinstance(other, BookedLeg):
        return _compare_legs(one, other)
    if isinstance(one, BookedStay) and isinstance(other, BookedStay):
        return _compare_stays(one, other)
    return 0


def _compare_values(one: Any, other: Any) -> int:
    """1 when equal, -1 when not, 0 when either is unknown."""
    return 0 if one is None or other is None else 1 if one == other else -1


def _compare_legs(one: BookedLeg, other: BookedLeg) -> int:
    """The same flight: of one number, unless both day and route differ; or of one route and day."""
    number = _compare_values(one.flight_number, other.flight_number)
    day = _compare_values(one.departure_date, other.departure_date)
    ends = [_compare_values(one.origin, other.origin), _compare_values(one.destination, other.destination)]
    route = min(ends) if -1 in ends else sum(ends) - 1
    same = {
        1: not (day == -1 and route == -1),
        0: route == 1 and day >= 0,
        -1: route == 1 and day == 1,
    }[number]
    clock = _compare_values(one.departure_time, other.departure_time)
    return max(1, 20 + 4 * number + 3 * (day + route) + clock) if same else 0


def _compare_stays(one: BookedStay, other: BookedStay) -> int:
    """The same stay: of one number or hotel, unless days and number differ; or over the same nights."""
    number = _compare_values(one.confirmation_number, other.confirmation_number)
    hotel = _compare_values(one.hotel_id, other.hotel_id)
    days = _compare_values(
        (one.check_in_date, one.check_out_date) if one.check_in_date and one.check_out_date else None,
        (other.check_in_date, other.check_out_date) if other.check_in_date and other.check_out_date else None,
    )
    if days == 0 and one.check_in_date and other.check_in_date:
        days = _compare_values(one.check_in_date, other.check_in_date)
    same = days == 1 or (number == 1 and days >= 0) or (number == 1 and hotel == 1) or (hotel == 1 and days == 0)
    return max(1, 20 + 3 * number + 4 * days + 3 * hotel) if same else 0


def join_statements(statements: list[Booking], data: Sequence[Booking] = ()) -> Booking:
    """One booking of all statements; a field on which they differ is left open and named in a doubt."""
    if len(statements) == 1:
        return statements[0]
    booking = replace(statements[0], doubts=_join_doubts(statements, data))
    for f in fields(booking):
        stated = [v for s in statements if (v := getattr(s, f.name)) is not None]
        if f.name == "passengers" and max(stated, default=0) > 1:  # the one name of data is that of who booked
            stated = [v for s in statements if (v := getattr(s, f.name)) and not (v == 1 and s in data)]
        values = list(dict.fromkeys(stated)) if f.name != "doubts" else []
        if f.name == "passengers" and values[:1] == [1]:  # the data of many name the one who booked, and no one else
            values = values[1:] or values
        is_followed = f.name in _FOLLOWED or (f.name == "passengers" and _counts_in_data(statements, data))
        if len(values) == 1 or (values and is_followed):
            setattr(booking, f.name, values[0])
        elif values:
            setattr(booking, f.name, None)
            booking.doubts.append(_describe_difference(f.name, values, statements[0]))
    if isinstance(booking, BookedStay):
        booking.hotel_name = _cut_glued_label(booking.hotel_name, statements)
    _join_actions(booking, statements)
    return booking


def _cut_glued_label(name: str | None, statements: list[Booking]) -> str | None:
    """The name without the label "Hotel" that ran into it, as another part of the mail, a table, shows it."""
    names = {s.hotel_name for s in statements if isinstance(s, BookedStay)}
    bare = name[6:] if name and name[:6].casefold() == "hotel " else None
    return bare if bare and bare in names else name


def _counts_in_data(statements: list[Booking], data: Sequence[Booking]) -> bool:
    """Whether the first count of passengers is one of data, which name each of them."""
    counting = [s for s in statements if isinstance(s, BookedLeg) and s.passengers is not None]
    return bool(counting) and counting[0] in data


def _join_doubts(statements: list[Booking], data: Sequence[Booking]) -> list[Doubt]:
    """The doubts of all, without those of words about a field that the data of the mail settle."""
    doubts: dict[Doubt, None] = {}
    stated_in_data = [s for s in statements if s in data]
    for statement in statements:
        for doubt in statement.doubts:
            values = [to_json(s).get(doubt.field) for s in stated_in_data if statement not in stated_in_data]
            is_settled = any(v is not None and (v in doubt.values or len(doubt.values) < 2) for v in values)
            others = [to_json(s).get(doubt.field) for s in statements if doubt.field in _ENDS and s is not statement]
            is_settled = is_settled or any(code in doubt.values for code in others)  # one of the airports of a name
            doubts |= {} if is_settled else {doubt: None}
    return list(doubts)


def _describe_difference(name: str, values: list[Any], booking: Booking) -> Doubt:
    json_values = [to_json(replace(booking, **{name: value}))[name] for value in values[:4]]
    about = booking.flight_number if isinstance(booking, BookedLeg) else booking.hotel_name
    return Doubt(name, _REASON, tuple(json_values), about or "")


def _join_actions(joined: Booking, statements: list[Booking]) -> None:
    """A letter of a change shows the booking as it is now; one that both cancels and confirms is doubtful."""
    actions = {s.action for s in statements}
    if actions == {"create", "change"}:
        joined.action = "change"
    elif len(actions) > 1:
        joined.doubts.append(_describe_difference("action", sorted(actions), statements[0]))


def _drop_mentions(groups: list[list[Booking]], data: list[Booking]) -> list[list[Booking]]:
    """Without what states nothing of its own: a flight of which only the number is mentioned where data of the mail
    state whole flights, a cancellation of a number where others name what it cancels, and data of no flight at all."""
    is_whole = any(isinstance(b, BookedLeg) and b.departure_date and b.origin and b.destination for b in data)
    cancelled = any(b.action == "cancel" and not _is_bare(b) for g in groups for b in g)
    return [
        g
        for g in groups
        if not all(map(_is_bare, g))
        or not (
            (is_whole and not any(b in data for b in g))
            or (cancelled and g[0].action == "cancel")
            or (len(groups) > 1 and not any(isinstance(b, BookedLeg) and b.flight_number for b in g))
        )
    ]


def _is_bare(booking: Booking) -> bool:
    """Whether a statement names neither a route nor a numbered flight with a day or a time."""
    if isinstance(booking, BookedStay) or booking.origin or booking.destination:
        return False
    return not (booking.flight_number and (booking.departure_date or booking.departure_time))
