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
)
from shared.domain.plurals import pluralize

Facts = Mapping[str, Any]
LISTED = 15  # flights on a day that a mail spells out; the rest are counted
IN_NOTICE = 5  # of them a notice spells out
_ONE_YEAR = timedelta(days=300)  # of a shorter window no two days bear one name
_NAMES = ("airline_name", "cabin", "program_name")
_POSTING = {
    "instant": "instant",
    "hours": "within hours",
    "days": "which takes days, so the seat can be gone",
    "unknown": "and how long it takes is not known",
}


def _price(option: Facts, passengers: int) -> PartyPrice:
    taxes = None if option["taxes"] is None else Decimal(option["taxes"])
    return PartyPrice(option["points"], taxes, option["taxes_currency"], passengers)


def _count_passengers(facts: Facts) -> int:
    return int(facts.get("passengers", 1))


def _say(option: Facts, name: str) -> str:
    """An airline, a programme or a cabin as people call it."""
    value = option.get(name) or option[name.removesuffix("_name")]
    return str(value).replace("_", " ") if name == "cabin" else str(value)


def describe_search(facts: Facts) -> str:
    """What is watched: route by name, cabin, travellers and days."""
    names = [facts.get(f"{end}_name", facts[end]) for end in ("origin", "destination")]
    cabin = str(facts.get("cabin") or "any cabin").replace("_", " ")
    days = format_weekdays(date.fromisoformat(facts["earliest"]), date.fromisoformat(facts["latest"]))
    return f"{names[0]} to {names[1]}, {cabin}, {describe_travellers(_count_passengers(facts))}, {days}"


def _describe_price_lines(option: Facts, passengers: int) -> list[str]:
    """What everybody pays together, then what each pays."""
    price = _price(option, passengers)
    each = _format_price(price.points, price.taxes, price.currency)
    if price.party_points is None:
        lines = [f"{each} per person"]
    else:
        party = _format_price(price.party_points, price.party_taxes, price.currency)
        lines = [f"{party} for {describe_party(passengers)}", f"{each} each"]
    return lines if price.taxes is not None and price.currency else [*lines, "taxes not known"]


def _format_price(points: int, taxes: Decimal | None, currency: str | None) -> str:
    money = f" + {format_amount(taxes, currency)}" if taxes is not None and currency else ""
    return f"{pluralize(points, 'point')}{money}"


def list_flights(facts: Facts) -> list[dict[str, Any]]:
    """The flights, the best first, each with a row for each of its days, the best first."""
    flights: dict[tuple[Any, ...], list[Facts]] = {}
    for option in facts["options"]:
        flights.setdefault(_identify_flight(option), []).append(option)
    return [_build_flight(options, facts) for options in flights.values()]


def _identify_flight(option: Facts) -> tuple[Any, ...]:
    ends = option.get("origin"), option.get("destination")
    return tuple(option["flight_numbers"]), option["airline"], *ends, option["cabin"], option.get("stops")


def _build_flight(options: Sequence[Facts], facts: Facts) -> dict[str, Any]:
    """`name` and `details` hold what all days of the flight have in common, the rows the rest."""
    first = options[0]
    times = {_describe_times(option) for option in options}
    programs = {_say(option, "program_name") for option in options}
    looks = {option.get("checked_at") for option in options}
    own_time, own_program = len(times) > 1, len(programs) > 1
    numbers = ", ".join(first["flight_numbers"]) or _say(first, "airline_name")
    details = [
        _describe_route(first, facts) if own_time else "",
        {None: "", 0: "non-stop"}.get(first.get("stops"), pluralize(first.get("stops") or 0, "stop")),
        "" if own_time else format_duration(first.get("minutes")),
        _say(first, "cabin"),
        _say(first, "airline_name") if first["flight_numbers"] else "",
        "" if own_program else f"price of {_say(first, 'program_name')}",
    ]
    place = _describe_route(first, facts) if own_time else _describe_times(first) or _describe_route(first, facts)
    return {
        "name": numbers if own_time else ", ".join(part for part in (numbers, place) if part),
        "details": ", ".join(part for part in details if part),
        "checked_at": looks.pop() if len(looks) == 1 else None,
        "rows": [_build_row(option, facts, own_time=own_time, own_program=own_program) for option in options],
    }


def _describe_route(option: Facts, facts: Facts) -> str:
    return f"{option.get('origin') or facts['origin']} to {option.get('destination') or facts['destination']}"


def _describe_times(option: Facts) -> str:
    """`LHR 20:10 to JFK 23:05`, with `+1` for an arrival on the next day; empty where a time is not known."""
    times = format_flight_times(option.get("departs_at"), option.get("arrives_at"), "|")
    departs, _, arrives = times.partition("|")
    return f"{option.get('origin', '')} {departs} to {option.get('destination', '')} {arrives}" if arrives else ""


def format_duration(minutes: int | None) -> str:
    """`5 h 50`; empty where it is not known."""
    return f"{minutes // 60} h {minutes % 60:02}" if minutes else ""


def _build_row(option: Facts, facts: Facts, *, own_time: bool, own_program: bool) -> dict[str, Any]:
    program = [f"with {_say(option, 'program_name')}"] if own_program else []
    others = option.get("others", 0)
    more = [f"also sold by {pluralize(others, 'other programme')}"] if others else []
    seats = "seats not stated" if option["seats"] is None else pluralize(option["seats"], "seat")
    parts = [_describe_times(option), format_duration(option.get("minutes"))] if own_time else []
    return {
        "day": _format_day(option["date"], facts),
        "flight": ", ".join(part for part in [*parts, seats] if part),
        "price": _describe_price_lines(option, _count_passengers(facts)) + program + more,
        "is_best": option is facts["options"][0] and len(facts["options"]) > 1,
        "checked_at": option.get("checked_at"),
    }


def _format_day(text: str, facts: Facts) -> str:
    """`Fri 19 Mar`; with the year in a window so long that a day could be of either year."""
    window = date.fromisoformat(facts["latest"]) - date.fromisoformat(facts["earliest"])
    return (format_short_weekday if window < _ONE_YEAR else format_weekday)(date.fromisoformat(text))


def describe_best(facts: Facts) -> str:
    """`From 42,500 points + 210.40 GBP each, 85,000 points + 420.80 GBP for two`, of the best option."""
    lines = _describe_price_lines(facts["options"][0], _count_passengers(facts))
    return f"From {', '.join(lines)}"


def describe_rest(facts: Facts) -> str:
    """What the rows leave out; the options come in the order of their value."""
    more = max(0, facts["total"] - sum(1 + option.get("others", 0) for option in facts["options"]))
    cheaper = ", none of them cheaper" if "flight_days" in facts else ""
    return f"And {pluralize(more, 'more option')}{cheaper}." if more else ""


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


def _describe_payment(entry: Facts) -> str:
    needed = f"{entry['needed']:,} {entry['program_name']} points"
    if entry["missing"]:
        return f"For {needed} your balances are {entry['missing']:,} short, transfers included."
    parts: Sequence[Facts] = entry["parts"]
    if len(parts) > 1:
        return f"Your balances are enough for {needed}: {' and '.join(map(_describe_part, parts))}."
    (part,) = parts
    holder = f"You and {_name_lenders(part)} hold" if part.get("lent") else "You hold"
    together = ", once they are put together" if part.get("lent") else ""
    balance = f"{holder} {part['balance']:,} {part['program_name']} points{together}"
    if not part["targets"]:
        return f"{balance}: enough for the {entry['needed']:,}."
    return f"{balance}: transfer {part['points']:,} to {' and from there to '.join(part['targets'])}, {_posting(part)}."


def _name_lenders(part: Facts) -> str:
    return " and ".join(share["member"] for share in part["lent"])


def _describe_part(part: Facts) -> str:
    owner = f"your and {_name_lenders(part)}'s" if part.get("lent") else "your"
    if not part["targets"]:
        return f"{part['points']:,} of {owner} {part['balance']:,} {part['program_name']} points"
    ways = " and from there to ".join(part["targets"])
    return (
        f"{part['points']:,} of {owner} {part['balance']:,} {part['program_name']} points transferred to {ways},"
        f" {_posting(part)}"
    )


def _posting(part: Facts) -> str:
    return _POSTING.get(part["posting"], _POSTING["unknown"])


def describe_rebooking(facts: Facts) -> str:
    """What a booked award costs next to the best seat that was found, and what changing costs; empty without one."""
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
    """What cancelling the old award costs everybody, and the order in which to go about it."""
    if booked["fee_points"] is None:
        fee = "What cancelling the old award costs is not known here: ask the programme."
    elif booked["fee_money"] is not None:
        money = Decimal(booked["fee_money"]) * passengers
        cost = f"costs {format_amount(money, booked['fee_currency'])} in all" if money else "is free"
        fee = f"Cancelling the old award {cost}."
    else:
        fee = f"Cancelling the old award costs {booked['fee_points'] * passengers:,} points in all."
    return f"{fee} Book the new seat first, then cancel the old one."


def title(facts: Facts) -> str:
    if facts.get("booking"):
        best = facts["options"][0]
        what = "is open in " + _say(best, "cabin") if best["cabin"] != facts["booking"]["cabin"] else "costs less now"
        return (
            f"Your award from {facts['origin']} to {facts['destination']}, {format_iso_weekday(best['date'])}, {what}"
        )
    return f"{facts['origin']} to {facts['destination']}: {pluralize(facts['total'], 'new award option')}"


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
    """Whether a mail tells the same, or did so before: its words stand in the notice, so no one looks for it."""
    if facts.get("mailed"):
        return ["A mail says the same."]
    if earlier := facts.get("mailed_for"):
        watches = " and ".join(name_watch(*watch) for watch in earlier)
        return [f"No mail goes out: these seats were mailed for {watches} already."]
    return []


def name_watch(kind: str, number: int) -> str:
    """`route monitor 12`."""
    return f"{kind.replace('_', ' ')} {number}"
