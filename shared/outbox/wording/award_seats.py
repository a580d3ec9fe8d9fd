"""Sentences and rows about award seats that a watch has found: notices, and the parts of mails.

Facts of a mail that waits since an older release lack some entries; each of those is optional here.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.domain.dates import format_iso_weekday
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
LISTED = 20  # days a mail spells out; the rest are counted
IN_NOTICE = 5  # days a notice spells out
_ALIKE = ("airline_name", "cabin", "program_name")  # said once where it is the same in every row
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


def find_common(facts: Facts) -> dict[str, str]:
    """What every option has in common: airline, cabin, programme, each as people call it."""
    options = facts["options"]
    values = {name: {_say(option, name) for option in options} for name in _ALIKE}
    return {name: next(iter(names)) for name, names in values.items() if len(names) == 1}


def describe_common(facts: Facts) -> str:
    """`All with British Airways in business, booked with The British Airways Club.` Empty where nothing is alike."""
    common = find_common(facts)
    if facts.get("cabin"):
        common.pop("cabin", None)  # the line about what is watched has it
    if not common or len(facts["options"]) < 2:
        return ""
    airline = f" with {common['airline_name']}" if "airline_name" in common else ""
    cabin = f" in {common['cabin']}" if "cabin" in common else ""
    program = f" booked with {common['program_name']}" if "program_name" in common else ""
    booked = f",{program}" if program and (airline or cabin) else program
    return f"All{airline}{cabin}{booked}."


def describe_search(facts: Facts) -> str:
    """What is watched: route by name, cabin, travellers and days."""
    names = [facts.get(f"{end}_name", facts[end]) for end in ("origin", "destination")]
    cabin = str(facts.get("cabin") or "any cabin").replace("_", " ")
    days = f"{format_iso_weekday(facts['earliest'])} to {format_iso_weekday(facts['latest'])}"
    return f"{names[0]} to {names[1]}, {cabin}, {describe_travellers(_count_passengers(facts))}, {days}"


def _describe_price_lines(option: Facts, passengers: int) -> list[str]:
    price = _price(option, passengers)
    has_taxes = price.taxes is not None and price.currency
    taxes = f" + {format_amount(price.taxes, price.currency)}" if has_taxes else ""  # type: ignore[arg-type]
    lines = [f"{pluralize(price.points, 'point')}{taxes} {'each' if passengers > 1 else 'per person'}"]
    if price.party_points is not None:
        all_taxes = f" + {format_amount(price.party_taxes, price.currency)}" if price.party_taxes else ""  # type: ignore[arg-type]
        lines.append(f"{price.party_points:,} points{all_taxes} for {describe_party(passengers)}")
    return lines if has_taxes else [*lines, "taxes not known"]


def list_rows(facts: Facts) -> list[dict[str, Any]]:
    """One row a day, in the order of the days: the flight, the price in lines, seats, and how many options more."""
    common = find_common(facts) if len(facts["options"]) > 1 else {}
    return [_build_row(option, common, facts) for option in sorted(facts["options"], key=lambda o: o["date"])]


def _build_row(option: Facts, common: Mapping[str, str], facts: Facts) -> dict[str, Any]:
    own = [_say(option, name) for name in ("airline_name", "cabin") if name not in common]
    route = f"{option.get('origin')}-{option.get('destination')}"
    airports = route if route != f"{facts['origin']}-{facts['destination']}" and option.get("origin") else ""
    times = format_flight_times(option.get("departs_at"), option.get("arrives_at"), "–")
    stops = {None: "", 0: "non-stop"}.get(option.get("stops"), pluralize(option.get("stops") or 0, "stop"))
    flight = [", ".join(option["flight_numbers"]), airports, times, stops, *own]
    program = [] if "program_name" in common else [f"with {_say(option, 'program_name')}"]
    more = option.get("others", 0)
    return {
        "day": format_iso_weekday(option["date"]),
        "flight": [part for part in flight if part],
        "price": _describe_price_lines(option, _count_passengers(facts)) + program,
        "seats": "seats not stated" if option["seats"] is None else pluralize(option["seats"], "seat"),
        "more": f"{pluralize(more, 'other option')} that day" if more else "",
        "is_best": option is facts["options"][0] and len(facts["options"]) > 1,
        "checked_at": option.get("checked_at"),
    }


def count_more_days(facts: Facts) -> int:
    return max(0, int(facts.get("days", facts["total"])) - len(facts["options"]))


def describe_rest(facts: Facts) -> str:
    """What the rows leave out: days, none of them cheaper."""
    more = count_more_days(facts)
    noun = "day" if "days" in facts else "option"
    cheaper = ", none of them cheaper" if "days" in facts else ""
    return f"And {pluralize(more, f'more {noun}')}{cheaper}." if more else ""


def describe_option(option: Facts, passengers: int) -> str:
    """One option as a line of a notice."""
    count = option["seats"]
    seats = f", {pluralize(count, 'seat')}" if count is not None else ""
    price = describe_price(_price(option, passengers))
    airline, cabin, program = (_say(option, name) for name in _ALIKE)
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
    balance = f"You hold {part['balance']:,} {part['program_name']} points"
    if not part["targets"]:
        return f"{balance}: enough for the {entry['needed']:,}."
    return f"{balance}: transfer {part['points']:,} to {' and from there to '.join(part['targets'])}, {_posting(part)}."


def _describe_part(part: Facts) -> str:
    if not part["targets"]:
        return f"{part['points']:,} of your {part['balance']:,} {part['program_name']} points"
    ways = " and from there to ".join(part["targets"])
    return (
        f"{part['points']:,} of your {part['balance']:,} {part['program_name']} points transferred to {ways},"
        f" {_posting(part)}"
    )


def _posting(part: Facts) -> str:
    return _POSTING.get(part["posting"], _POSTING["unknown"])


def describe_rebooking(facts: Facts) -> str:
    """What a booked award costs beside the best seat that was found, and what changing costs; empty without one."""
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
        where = f": get_route_monitor {facts['monitor_id']} shows them." if "monitor_id" in facts else "."
        lines.append(f"and {facts['total'] - len(options)} more{where}")
    rebooking = [describe_rebooking(facts)] if facts.get("booking") else []
    return "\n".join([*rebooking, *lines, *describe_funding(facts)])
