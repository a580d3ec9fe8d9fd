"""Sentences and rows about award seats that a watch has found: notices, and the parts of mails.

Facts of a mail that waits since an older release lack some entries; each of those is optional here.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from shared.domain.dates import format_iso_weekday, format_short_weekday, format_weekday, format_weekdays
from shared.domain.flight_times import format_flight_times
from shared.domain.party_prices import (
    PartyPrice,
    describe_party,
    describe_points,
    describe_price,
    describe_travellers,
    format_amount,
    format_money,
)
from shared.domain.plurals import name_points, pluralize
from shared.outbox.wording.deadlines import split_day

Facts = Mapping[str, Any]
LISTED = 15  # flights on a day whose facts a message has
IN_NOTICE = 5  # of them a notice spells out
IN_MAIL = 3  # flights a mail shows beneath the best one
_ONE_YEAR = timedelta(days=300)  # in a shorter window no two days have one name
_NAMES = ("airline_name", "cabin", "program_name")
_POSTING = {
    "instant": "instant",
    "hours": "within hours",
    "days": "which takes days, so the seat can be gone",
    "unknown": "and how long it takes is not known",
}
_ARRIVAL = {
    "instant": "they arrive at once",
    "hours": "they arrive within hours",
    "days": "they take days, so the seat can be gone",
    "unknown": "how long they take is not known",
}


def _price(option: Facts, passengers: int) -> PartyPrice:
    taxes = None if option["taxes"] is None else Decimal(option["taxes"])
    return PartyPrice(option["points"], taxes, option["taxes_currency"], passengers)


def _count_passengers(facts: Facts) -> int:
    return int(facts.get("passengers", 1))


def _say(option: Facts, name: str) -> str:
    """The everyday name of an airline, a programme or a cabin."""
    value = option.get(name) or option[name.removesuffix("_name")]
    return str(value).replace("_", " ") if name == "cabin" else str(value)


def describe_search(facts: Facts) -> str:
    """What is watched: route by name, cabin, travellers and days."""
    names = [facts.get(f"{end}_name", facts[end]) for end in ("origin", "destination")]
    cabin = str(facts.get("cabin") or "any cabin").replace("_", " ")
    days = format_weekdays(date.fromisoformat(facts["earliest"]), date.fromisoformat(facts["latest"]))
    return f"{names[0]} to {names[1]}, {cabin}, {describe_travellers(_count_passengers(facts))}, {days}"


def describe_figure(facts: Facts) -> str:
    """`105,000 points for two`: the one figure of the mail, of the best option."""
    best, passengers = facts["options"][0], _count_passengers(facts)
    return f"{pluralize(best['points'] * passengers, 'point')} for {describe_party(passengers)}"


def describe_terms(facts: Facts) -> str:
    """The line beneath the figure: taxes for everyone, the price each, programme, cabin and seats."""
    best, passengers = facts["options"][0], _count_passengers(facts)
    return ", ".join(
        part
        for part in (
            _describe_taxes(best, passengers),
            f"{best['points']:,} each" if passengers > 1 else "",
            _say(best, "program_name"),
            *_describe_seat(best),
            f"also sold by {pluralize(best['others'], 'other programme')}" if best.get("others") else "",
        )
        if part
    )


def _describe_taxes(option: Facts, passengers: int) -> str:
    price = _price(option, passengers)
    taxes = price.taxes if price.party_taxes is None else price.party_taxes
    return "taxes not known" if taxes is None or not price.currency else f"+ {format_money(taxes, price.currency)}"


def _describe_seat(option: Facts) -> list[str]:
    return [_say(option, "cabin"), *([] if option["seats"] is None else [pluralize(option["seats"], "seat")])]


def describe_slip(facts: Facts) -> dict[str, str]:
    """The best flight as its two ends with their times, the route between, and its day; unknown parts are empty."""
    best = facts["options"][0]
    days = [_format_day(day, facts) for day in sorted(o["date"] for o in _list_flights(facts)[0][1:])]
    departs, _, arrives = format_flight_times(best.get("departs_at"), best.get("arrives_at"), "|").partition("|")
    between = [_name_flight(best), format_duration(best.get("minutes")), _describe_stops(best)]
    return {
        "from": best.get("origin") or facts["origin"],
        "to": best.get("destination") or facts["destination"],
        "departs": departs,
        "arrives": arrives,
        "between": ", ".join(part for part in between if part),
        "day": _format_day(best["date"], facts),
        "other_days": f"Also on {' and '.join([', '.join(days[:-1]), days[-1]] if days[1:] else days)}" if days else "",
    }


def _list_flights(facts: Facts) -> list[list[Facts]]:
    """The flights, the best first, each as the offers of its days, the best first."""
    flights: dict[tuple[Any, ...], list[Facts]] = {}
    for option in facts["options"]:
        ends = option.get("origin"), option.get("destination")
        flight = tuple(option["flight_numbers"]), option["airline"], *ends, option["cabin"], option.get("stops")
        flights.setdefault(flight, []).append(option)
    return list(flights.values())


def _name_flight(option: Facts) -> str:
    return ", ".join(option["flight_numbers"]) or _say(option, "airline_name")


def _describe_stops(option: Facts) -> str:
    return {None: "", 0: "nonstop"}.get(option.get("stops"), pluralize(option.get("stops") or 0, "stop"))


def list_more(facts: Facts) -> list[dict[str, Any]]:
    """The next flights, each as the day of its best price, what it is, and what it costs everybody and each."""
    return [_build_row(options, facts) for options in _list_flights(facts)[1 : 1 + IN_MAIL]]


def _build_row(options: Sequence[Facts], facts: Facts) -> dict[str, Any]:
    best, passengers = options[0], _count_passengers(facts)
    times = format_flight_times(best.get("departs_at"), best.get("arrives_at"))
    more = f"{pluralize(len(options) - 1, 'more day')}" if options[1:] else ""
    quiet = [times, _say(best, "program_name"), *_describe_seat(best), more]
    price = [f"{best['points'] * passengers:,}", f"{best['points']:,} each" if passengers > 1 else ""]
    return {
        "day": split_day({"due_on": best["date"]}),
        "flight": [
            ", ".join(part for part in (_name_flight(best), _describe_stops(best)) if part),
            ", ".join(part for part in quiet if part),
        ],
        "price": [line for line in (*price, _describe_taxes(best, passengers)) if line],
    }


def say_party(facts: Facts) -> str:
    """`, for two`; empty for one."""
    passengers = _count_passengers(facts)
    return f", for {describe_party(passengers)}" if passengers > 1 else ""


def list_week(facts: Facts) -> list[dict[str, Any]]:
    """Seven days of the window with the best among them: what is new on each for everybody, in thousands of points."""
    week: Sequence[Facts] = facts.get("week", ())
    best, passengers = facts["options"][0]["points"], _count_passengers(facts)
    return [
        {
            "day": split_day({"due_on": cell["date"]}),
            "points": f"{cell['points'] * passengers / 1000:g}k" if cell["points"] else "none",
            "heat": _find_heat(cell["points"], best),
        }
        for cell in week
    ]


def _find_heat(points: int | None, best: int) -> int:
    """Which of four steps a price takes: 0 without one, 1 for what is at most a twentieth above the best."""
    return 0 if not points else 1 if points * 20 <= best * 21 else 2 if points * 10 <= best * 13 else 3


def format_duration(minutes: int | None) -> str:
    """`5 h 50`; empty where it is not known."""
    return f"{minutes // 60} h {minutes % 60:02}" if minutes else ""


def _format_day(text: str, facts: Facts) -> str:
    """`Fri 19 Mar`; with the year in a window so long that a day could be of either year."""
    window = date.fromisoformat(facts["latest"]) - date.fromisoformat(facts["earliest"])
    return (format_short_weekday if window < _ONE_YEAR else format_weekday)(date.fromisoformat(text))


def describe_all(facts: Facts) -> str:
    """The label of the link to the rest."""
    return (
        f"All {pluralize(facts['total'], 'offer')} in your watch" if facts["total"] > 1 else "The offer in your watch"
    )


def describe_option(option: Facts, passengers: int) -> str:
    """One option as a line of a notice."""
    count = option["seats"]
    seats = f", {pluralize(count, 'seat')}" if count is not None else ""
    price = describe_price(_price(option, passengers))
    airline, cabin, program = (_say(option, name) for name in _NAMES)
    return f"{format_iso_weekday(option['date'])}, {airline}, {cabin}: {price} with {program}{seats}"


def describe_funding(facts: Facts) -> list[str]:
    """How the balances pay the best price of each programme for everybody; of the first what is missing, if none."""
    entries = list(facts.get("funding", ()))
    payable = [entry for entry in entries if not entry["missing"]]
    return [_describe_payment(entry) for entry in payable or entries[:1]]


def describe_means(facts: Facts) -> tuple[str, str]:
    """Whether the balances pay the figure of the mail, in a few words, and how; both empty without balances.

    Where they do not, the second says for which of the other prices they are enough.
    """
    own = _say(facts["options"][0], "program_name")
    entries = {entry["program_name"]: entry for entry in facts.get("funding", ())}
    if own not in entries:
        return "", ""
    if missing := entries[own]["missing"]:
        others = [_describe_payment(entry) for entry in entries.values() if not entry["missing"]]
        return f"You are {missing:,} {name_points(own)} short.", " ".join(others) or "Transfers are counted."
    parts: Sequence[Facts] = entries[own]["parts"]
    moved = [part for part in parts if part["targets"]]
    if not moved:
        return "You have it.", _describe_payment(entries[own])
    arrival = _ARRIVAL.get(moved[-1]["posting"], _ARRIVAL["unknown"])
    moves = " and ".join(map(_describe_move, parts))
    how = f"{moves[0].upper()}{moves[1:]}; {arrival} and cannot come back."
    return "You have it.", f"{how} First see that the seat is there."


def _describe_move(part: Facts) -> str:
    owner = f"your and {_name_lenders(part)}'s" if part.get("lent") else "your"
    own = f"{part['points']:,} of {owner} {part['balance']:,} {name_points(part['program_name'])}"
    return f"move {own} to {', then to '.join(part['targets'])}" if part["targets"] else f"use {own}"


def _describe_payment(entry: Facts) -> str:
    needed = f"{entry['needed']:,} {name_points(entry['program_name'])}"
    if entry["missing"]:
        return f"For {needed} your balances are {entry['missing']:,} short, transfers included."
    parts: Sequence[Facts] = entry["parts"]
    if len(parts) > 1:
        return f"Your balances are enough for {needed}: {' and '.join(map(_describe_part, parts))}."
    (part,) = parts
    holder = f"You and {_name_lenders(part)} hold" if part.get("lent") else "You hold"
    together = ", once they are put together" if part.get("lent") else ""
    balance = f"{holder} {part['balance']:,} {name_points(part['program_name'])}{together}"
    if not part["targets"]:
        return f"{balance}: enough for the {entry['needed']:,}."
    return f"{balance}: transfer {part['points']:,} to {' and from there to '.join(part['targets'])}, {_posting(part)}."


def _name_lenders(part: Facts) -> str:
    return " and ".join(share["member"] for share in part["lent"])


def _describe_part(part: Facts) -> str:
    owner = f"your and {_name_lenders(part)}'s" if part.get("lent") else "your"
    if not part["targets"]:
        return f"{part['points']:,} of {owner} {part['balance']:,} {name_points(part['program_name'])}"
    ways = " and from there to ".join(part["targets"])
    return (
        f"{part['points']:,} of {owner} {part['balance']:,} {name_points(part['program_name'])} transferred to {ways},"
        f" {_posting(part)}"
    )


def _posting(part: Facts) -> str:
    return _POSTING.get(part["posting"], _POSTING["unknown"])


def describe_rebooking(facts: Facts) -> str:
    """Compares a booked award with the best seat found, and the cost of changing; empty without one."""
    booked = facts.get("booking")
    if not booked:
        return ""
    best, passengers = facts["options"][0], _count_passengers(facts)
    flight = ", ".join(filter(None, (f"booking {booked['booking_id']}", booked["flight_number"])))
    paid = describe_points(booked["points_each"], passengers)
    cabin = _say(best, "cabin")
    if best["cabin"] != booked["cabin"]:
        return (
            f"Your {flight}, in {booked['cabin'].replace('_', ' ')} cost {paid}. The seat in {cabin} costs"
            f" {describe_points(best['points'], passengers)}. {_describe_fee(booked, passengers)}"
        )
    saved = (booked["points_each"] - (booked["fee_points"] or 0) - best["points"]) * passengers
    after = " after the fee" if booked["fee_points"] else ""
    return (
        f"Your {flight}, cost {paid}; it is open for {describe_points(best['points'], passengers)}: {saved:,} points"
        f" less in all{after}. {_describe_fee(booked, passengers)}"
    )


def _describe_fee(booked: Facts, passengers: int) -> str:
    """The total fee for cancelling the old award, and the order of the steps."""
    if booked["fee_points"] is None:
        fee = "What cancelling the old award costs is not known here: ask the programme."
    elif booked["fee_money"] is not None:
        money = Decimal(booked["fee_money"]) * passengers
        cost = f"costs {format_amount(money, booked['fee_currency'])} in all" if money else "is free"
        fee = f"Cancelling the old award {cost}."
    else:
        fee = f"Cancelling the old award costs {booked['fee_points'] * passengers:,} points in all."
    return f"{fee} Book the new seat first, then cancel the old one."


def describe_occasion(facts: Facts) -> str:
    """The two words above the figure."""
    return "Your award" if facts.get("booking") else "Seats opened"


def title(facts: Facts) -> str:
    """`Tokyo for two: from 105,000 points on Fri 12 Mar`; of a booked award what became better."""
    best, passengers = facts["options"][0], _count_passengers(facts)
    if facts.get("booking"):
        what = "is open in " + _say(best, "cabin") if best["cabin"] != facts["booking"]["cabin"] else "costs less now"
        return (
            f"Your award from {facts['origin']} to {facts['destination']}, {format_iso_weekday(best['date'])}, {what}"
        )
    place = facts.get("destination_name", facts["destination"]).removesuffix(f" ({facts['destination']})")
    points = pluralize(best["points"] * passengers, "point")
    return f"{place}{say_party(facts).removeprefix(',')}: from {points} on {_format_day(best['date'], facts)}"


def body(facts: Facts) -> str:
    """The best days, the cheapest first, how they can be paid, and where the rest is."""
    passengers = _count_passengers(facts)
    options = facts["options"][:IN_NOTICE]
    lines = [describe_option(option, passengers) for option in options]
    if facts["total"] > len(options):
        where = ": the watch shows them." if "monitor_id" in facts else "."
        lines.append(f"and {facts['total'] - len(options)} more{where}")
    rebooking = [describe_rebooking(facts)] if facts.get("booking") else []
    return "\n".join([*rebooking, *lines, *describe_funding(facts), *_describe_mail(facts)])


def _describe_mail(facts: Facts) -> list[str]:
    """Whether a mail tells the same, or did so before: the notice says so, and no one looks for another."""
    if facts.get("mailed"):
        return ["A mail says the same."]
    if earlier := facts.get("mailed_for"):
        watches = " and ".join(name_watch(*watch) for watch in earlier)
        return [f"No mail goes out: these seats were mailed for {watches} already."]
    return []


def name_watch(kind: str, number: int) -> str:
    """`route monitor 12`."""
    return f"{kind.replace('_', ' ')} {number}"
