"""Barcodes of boarding passes (IATA Resolution 792, bar coded boarding pass, "M1..."): the flights they state.

The day of a flight is written without its year, and the compartment is a letter that airlines use as they like: some
print the fare's letter, "F" in economy too. What the standard leaves open stays open.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from shared.domain.confirmations.model import BookedLeg, TravelFacts

MAX_LEGS = 4  # the standard allows nine; no pass is printed for more than four
_HEAD = re.compile(r"M([1-4])(.{20})([E ])", re.S)
_HEAD_CHARACTERS = 23
_LEG = re.compile(
    r"(?P<number>[A-Z0-9 ]{7})(?P<origin>[A-Z]{3})(?P<destination>[A-Z]{3})(?P<carrier>[A-Z0-9]{2}[A-Z0-9 ])"
    r"(?P<flight>[0-9]{4})[A-Z ](?P<day>[0-9]{3})(?P<compartment>[A-Z ]?)"
)
_LEG_CHARACTERS = 37  # up to and with the size of what follows
_ISSUED = re.compile(r">[0-9A-Z][0-9A-F]{2}...(\d)(\d{3})", re.S)
_CABINS = {"C": "business", "J": "business", "Y": "economy"}
_MOST_DAYS_APART = 180  # of a flight and the day its pass was sent, where the pass does not state its own


def read_barcodes(
    texts: list[str], around: date | None, world: TravelFacts, stated: Sequence[BookedLeg] = ()
) -> list[BookedLeg]:
    """The flights of boarding passes, each once, with how many names bear one.

    The year is that of the flight as `stated` elsewhere, of the day the pass was issued, or of `around`, a day near it.
    """
    legs: dict[tuple[object, ...], tuple[BookedLeg, set[str]]] = {}
    for text in texts:
        if not (head := _HEAD.match(text)):
            continue
        for leg in _read_legs(text, int(head[1]), around, world, stated):
            key = (leg.flight_number, leg.origin, leg.destination, leg.departure_date, leg.confirmation_number)
            legs.setdefault(key, (leg, set()))[1].add(head[2].strip())
    return [replace(leg, passengers=len(names)) for leg, names in legs.values()]


def _read_legs(
    text: str, count: int, around: date | None, world: TravelFacts, stated: Sequence[BookedLeg]
) -> list[BookedLeg]:
    legs, at = [], _HEAD_CHARACTERS
    days = [leg.departure_date for leg in stated if leg.departure_date]
    issued = _find_issue_day(text, around)
    for _ in range(min(count, MAX_LEGS)):
        if not (match := _LEG.match(text, at)):
            break
        day = next((d for d in days if d.timetuple().tm_yday == int(match["day"])), None)
        legs.append(_build_leg(match, day or _find_day(int(match["day"]), issued, around), world))
        size = text[at + _LEG_CHARACTERS - 2 : at + _LEG_CHARACTERS]
        at += _LEG_CHARACTERS + (int(size, 16) if re.fullmatch(r"[0-9A-F]{2}", size) else 0)
    return legs


def _build_leg(match: re.Match[str], day: date | None, world: TravelFacts) -> BookedLeg:
    carrier = match["carrier"].strip()
    airline = world.by_icao(carrier) if len(carrier) == 3 else carrier
    number = int(match["flight"])
    origin, destination = (match[end] if world.clock_of(match[end]) else None for end in ("origin", "destination"))
    return BookedLeg(
        confirmation_number=match["number"].strip() or None,
        airline=airline,
        flight_number=f"{airline}{number}" if airline and number else None,
        origin=origin,
        destination=destination,
        departure_date=day,
        cabin_class=_CABINS.get(match["compartment"]),
    )


def _find_day(day_of_year: int, issued: date | None, around: date | None) -> date | None:
    """The day of that number that follows the issue of the pass, or is nearest to the day around which it was sent."""
    if issued:
        years = (issued.year, issued.year + 1)
        return next((day for y in years if (day := _count_day(y, day_of_year)) and day >= issued), None)
    if around is None:
        return None
    days = [day for y in (around.year - 1, around.year, around.year + 1) if (day := _count_day(y, day_of_year))]
    nearest = min(days, key=lambda day: abs((day - around).days), default=None)
    return nearest if nearest and abs((nearest - around).days) <= _MOST_DAYS_APART else None


def _count_day(year: int, day_of_year: int) -> date | None:
    if not 1 <= day_of_year <= 366:
        return None
    day = date(year, 1, 1) + timedelta(days=day_of_year - 1)
    return day if day.year == year else None


def _find_issue_day(text: str, around: date | None) -> date | None:
    """The day the pass was issued: the last digit of its year is stated, the decade is the one around the letter."""
    match = _ISSUED.match(text, _HEAD_CHARACTERS + _LEG_CHARACTERS)
    if match is None or around is None:
        return None
    days = [
        day
        for year in range(around.year - 9, around.year + 2)
        if year % 10 == int(match[1]) and (day := _count_day(year, int(match[2])))
    ]
    nearest = min(days, key=lambda day: abs((day - around).days), default=None)
    return nearest if nearest and abs((nearest - around).days) <= _MOST_DAYS_APART else None
