"""What a letter states, in lines: one for each flight, stay or cancelled booking, and what has to be asked.

    all ref=K3M9PL kind=cash cash=812.40EUR pax=2 cabin=economy     holds for every line below
    LH400 FRA JFK 2027-05-04 10:55 13:35          airline from the number; arrival day may be left out
    LH401 JFK FRA 2027-05-12 16:05 05:50+1        the letter prints the next day: it has to be read
    LX40 ZRH LAX 2027-05-04 - -                   no times; 13:35= where the day is printed; +1? where it is not
    stay "Conrad Tokyo" 2027-10-02 2027-10-05 id=conrad-tokyo kind=award points=240000 room="King Room" free=2027-09-30
    cancel ref=K3M9PL
    change                                        the lines state how a booking is from now on
    ask kind, cabin_class                         `ask *`: a question of any name
    may hotel_id                                  a question that is defensible

`a|b` allows two readings, `-` is absent, `~x` is short for `x|-`. Without any booking line the letter holds none.
Price of flights: the first one bears it, the others nothing or none.
"""

import shlex
from dataclasses import dataclass, field, fields
from datetime import date, timedelta

from shared.domain.confirmations.model import BookedLeg, BookedStay

KEYS = {
    "ref": "confirmation_number",
    "cabin": "cabin_class",
    "pax": "passengers",
    "points": "points_spent",
    "room": "room_type",
    "free": "free_cancellation_until",
    "id": "hotel_id",
    "arr": "arrival_date",
}
LEG_FIELDS = [f.name for f in fields(BookedLeg) if f.name not in ("action", "doubts")]
STAY_FIELDS = [f.name for f in fields(BookedStay) if f.name not in ("action", "doubts")]
PRICE = ("points_spent", "cash_paid", "taxes_paid")
Allowed = dict[str, set[str]]  # for each field the values as text; "-" where it may be absent


@dataclass
class Expected:
    """Bookings with the values allowed for each field, numbers of cancelled ones, and what is to be asked."""

    bookings: list[tuple[str, Allowed]] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)
    changed: bool = False
    ask: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)

    @property
    def nothing(self) -> bool:
        return not self.bookings and not self.cancelled


def read_expected(text: str) -> Expected:
    expected, shared, groups = Expected(), dict[str, str](), dict[str, int]()
    for line in text.split("\n"):
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] in ("ask", "may"):
            getattr(expected, words[0]).update(word.strip(",") for word in words[1:])
        elif words[0] == "change":
            expected.changed = True
        elif words[0] == "all":
            shared, groups = _read_pairs(words[1:]), {}
        elif words[0] == "cancel":
            expected.cancelled.add(_read_pairs(words[1:])["confirmation_number"])
        elif words[0] == "stay":
            expected.bookings.append(("hotel", _read_stay(words[1:], shared)))
        else:
            leg = _read_leg(words, shared)
            for name in PRICE if (ref := str(leg["confirmation_number"])) in groups else ():
                leg[name] = {"0", "-"}
            groups[ref] = 1
            expected.bookings.append(("flight", leg))
    return expected


def _read_pairs(words: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name in ("cash", "taxes"):
            optional, value = value.startswith("~"), value.removeprefix("~")
            pairs[f"{name}_paid"] = f"{value[:-3]}{'|-' if optional else ''}"
            pairs["taxes_currency"] = f"{value[-3:]}{'|-' if optional else ''}"
        else:
            pairs[KEYS.get(name, name)] = value
    return pairs


def _split(value: str) -> set[str]:
    return {*value[1:].split("|"), "-"} if value.startswith("~") else set(value.split("|"))


def _allow(names: list[str], values: dict[str, str]) -> Allowed:
    if unknown := values.keys() - set(names):
        raise ValueError(f"no such field: {sorted(unknown)}")
    return {name: _split(values.get(name, "-")) for name in names}


def _read_leg(words: list[str], shared: dict[str, str]) -> Allowed:
    number, origin, destination, day, leaves, lands = words[:6]
    values = shared | {"flight_number": number, "airline": number[:2], "origin": origin, "destination": destination}
    values |= {"departure_date": day, "departure_time": leaves}
    at, _, later = lands.partition("+")
    values["arrival_time"] = at.rstrip("=")
    if day != "-" and at != "-":
        lands_on = (date.fromisoformat(day) + timedelta(days=int(later.rstrip("?") or 0))).isoformat()
        values["arrival_date"] = lands_on if later.isdigit() else f"~{lands_on}"
    return _allow(LEG_FIELDS, values | _read_pairs(words[6:]))


def _read_stay(words: list[str], shared: dict[str, str]) -> Allowed:
    values = shared | {"hotel_name": words[0], "check_in_date": words[1], "check_out_date": words[2]}
    values |= _read_pairs(words[3:])
    names = {"points_spent": "original_points", "cash_paid": "cash_total", "taxes_currency": "cash_rate_currency"}
    values = {names.get(name, name): value for name, value in values.items()}
    if "hotel_id" in values and values["hotel_id"] not in ("-",):
        values["hotel_id"] = "|".join(v if v == "-" else f"htl_{v}" for v in values["hotel_id"].split("|"))
    return _allow(STAY_FIELDS, values)
