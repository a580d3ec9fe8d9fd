"""Flights in the plain text of a confirmation: number, airports, days, times and cabin of each leg."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, time
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from shared.domain.confirmations.airport_mentions import CODE_WAYS, AirportMention, Way, find_codes, find_named
from shared.domain.confirmations.flight_blocks import Block, fill_blocks, score_blocks
from shared.domain.confirmations.flight_layouts import find_paragraph, list_arrangements
from shared.domain.confirmations.flight_lines import Line, split_lines
from shared.domain.confirmations.flight_marks import LetterMarks, Mark
from shared.domain.confirmations.flight_numbers import FlightNumber, find_flight_numbers
from shared.domain.confirmations.flight_prose import read_prose
from shared.domain.confirmations.letter_actions import says_changed
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedLeg, Doubt, TravelFacts
from shared.domain.confirmations.phrases import find_cabins, names_other_cabin
from shared.domain.confirmations.place_choice import doubt_places
from shared.domain.parsing.text import fold

# What speaks against the flights of a letter taken together: a person looks at them.

_FAR = 30  # lines from a heading to a flight whose day it may state
_MOST_DAYS = 2  # from leaving to landing


def doubt_shared(letter: LetterMarks, blocks: Sequence[Block], legs: list[BookedLeg]) -> list[BookedLeg]:
    """Without the times that two flights would take from one place of the letter, and the days of those that alone have
    theirs behind their arrival, where a day above is a little earlier."""
    uses = Counter(mark for block in blocks for mark in dict.fromkeys(block.marks))
    names = Counter(block.flight.name for block in blocks)  # of a flight named twice, its days are compared
    behind = [_find_day_behind(letter, block) if names[block.flight.name] == 1 else None for block in blocks]
    out: list[BookedLeg] = []
    for block, day, leg in zip(blocks, behind, legs, strict=True):
        about = leg.flight_number or ""
        if any(uses[mark] > 1 for mark in block.marks):
            doubt = Doubt("departure_time", "Another flight would have the same times.", (), about)
            leg = replace(leg, departure_time=None, arrival_time=None, doubts=[*leg.doubts, doubt])
        if day and leg.departure_date and (head := _find_earlier(letter, block, day, behind)):
            if out and out[-1].destination == leg.origin and (out[-1].arrival_date or head) > head:
                out.append(leg)  # no one is there before the flight before it lands
                continue
            values = (head.isoformat(), leg.departure_date.isoformat())
            doubt = Doubt("departure_date", "The day next to the arrival may be that of landing.", values, about)
            leg = replace(leg, departure_date=None, arrival_date=None, doubts=[*leg.doubts, doubt])
        out.append(leg)
    return out


def _find_day_behind(letter: LetterMarks, block: Block) -> Mark | None:
    """The day of a flight, where it stands nowhere but behind the time of its arrival."""
    if len(block.marks) != 2:
        return None
    head = letter.heads[block.flight.line]
    own = [m for n in range(block.start, block.end) for m in letter.days[n]]
    marks = [m for m in ([head] if head and block.lent else own) if m.value == block.day]
    last = max((m.line, m.at) for m in block.marks)
    return marks[0] if marks and (marks[0].line, marks[0].at) > last else None


def _find_earlier(letter: LetterMarks, block: Block, day: Mark, behind: Sequence[Mark | None]) -> date | None:
    """The day above a flight on which it may leave, if what stands behind its arrival is when it lands."""
    head = letter.heads[block.start - 1] if block.start else None
    if head is None or head in behind or block.start - head.line > _FAR:
        return None
    if not isinstance(head.value, date) or not isinstance(day.value, date):
        return None
    return head.value if 0 < (day.value - head.value).days <= _MOST_DAYS else None


def doubt_twins(legs: list[BookedLeg]) -> list[BookedLeg]:
    """Two flights between the same airports on the same day are seldom both flown: a person looks."""
    out = []
    for leg in legs:
        twins = [o for o in legs if o is not leg and leg.origin and leg.departure_date and _is_twin(o, leg)]
        if twins:
            reason = f"{twins[0].flight_number} is said to fly the same way on the same day."
            leg = replace(leg, doubts=[*leg.doubts, Doubt("flight_number", reason, (), leg.flight_number or "")])
        out.append(leg)
    return out


def doubt_order(legs: list[BookedLeg]) -> list[BookedLeg]:
    """A flight that would leave before the one that brings people to its airport lands has another day: it is asked."""
    out = legs[:1]
    for before, leg in pairwise(legs):
        is_connected = before.destination and before.destination == leg.origin
        if is_connected and _leaves_too_early(before, leg):
            days = (leg.departure_date,)
            doubt = Doubt(
                "departure_date", "It leaves before the flight before it lands.", days, leg.flight_number or ""
            )
            leg = replace(leg, departure_date=None, arrival_date=None, doubts=[*leg.doubts, doubt])
        out.append(leg)
    return out


def _leaves_too_early(before: BookedLeg, leg: BookedLeg) -> bool:
    landing, leaving = before.arrival_date, leg.departure_date
    if landing is None or leaving is None or (leaving - landing).days < -3:  # the way back may be told first
        return False
    if landing != leaving:
        return leaving < landing
    return bool(before.arrival_time and leg.departure_time and leg.departure_time < before.arrival_time)


def _is_twin(one: BookedLeg, other: BookedLeg) -> bool:
    fields = ("origin", "destination", "departure_date")
    return all(getattr(one, f) == getattr(other, f) for f in fields)


# The cabin of a journey, which some letters print once for all its flights.


def share_cabins(legs: list[BookedLeg]) -> list[BookedLeg]:
    """The cabin next to the first or the last flight of each journey as that of all its flights.

    Only where at least two journeys of several flights show this: elsewhere the others may be of another cabin.
    """
    journeys = _list_journeys(legs)
    several = [journey for journey in journeys if len(journey) > 1]
    alone = [journey[0] for journey in journeys if len(journey) == 1]
    ends = [_find_end(journey) for journey in several]
    if len(several) < 2 or None in ends or len(set(ends)) > 1 or not all(leg.cabin_class for leg in alone):
        return legs
    shared = {id(leg): next(o.cabin_class for o in journey if o.cabin_class) for journey in several for leg in journey}
    return [replace(leg, cabin_class=shared.get(id(leg), leg.cabin_class)) for leg in legs]


def _list_journeys(legs: Sequence[BookedLeg]) -> list[list[BookedLeg]]:
    """Flights that each go on from where the one before lands, within a day, and not back to where they began."""
    journeys: list[list[BookedLeg]] = []
    for leg in legs:
        if journeys and _goes_on(journeys[-1], leg):
            journeys[-1].append(leg)
        else:
            journeys.append([leg])
    return journeys


def _goes_on(journey: Sequence[BookedLeg], leg: BookedLeg) -> bool:
    before = journey[-1]
    landed = before.arrival_date or before.departure_date
    if not leg.origin or before.destination != leg.origin or leg.destination in {o.origin for o in journey}:
        return False
    return bool(landed and leg.departure_date and 0 <= (leg.departure_date - landed).days <= 1)


def _find_end(journey: Sequence[BookedLeg]) -> int | None:
    """0 or -1: which end alone has a cabin."""
    cabins = [leg.cabin_class for leg in journey]
    if sum(c is not None for c in cabins) != 1:
        return None
    return 0 if cabins[0] else -1 if cabins[-1] else None


_MAX_FLIGHTS = 40  # more are a timetable
_MAX_MENTIONS = 200
_ABOVE, _BELOW = 80, 160  # lines around the flights in which what is said of them can stand

Tier = tuple[tuple[Way, ...], bool]
# The ways of writing airports, from the surest on: the first under which every flight is whole is taken.
_TIERS: tuple[Tier, ...] = (*(((way,), False) for way in CODE_WAYS), (CODE_WAYS, False), ((), True), (CODE_WAYS, True))


_ASIDE = re.compile(
    r"upgrade|lounge|aufwert|surclass|mejora|ascenso|アッフクレート"
)  # of another cabin than the booked


class _Try(NamedTuple):
    """The best arrangements of one set of flights and one way of writing airports; all of the same score."""

    score: float
    whole: int  # 2: each flight has airports, a day and times that can be; 1: times that cannot be; 0: not each has
    blocks: list[list[Block]]


def read_legs(text: str, dates: MailDates, world: TravelFacts, sender: str) -> list[BookedLeg]:
    """The flights of a text; each with what its lines state without doubt."""
    lines = split_lines(text, says_changed(fold(text[:3000])))
    numbers = find_flight_numbers(lines, world, sender)[:_MAX_MENTIONS]
    if not numbers:
        return []
    first = max(0, numbers[0].line - _ABOVE)
    lines = lines[first : numbers[-1].line + _BELOW]
    numbers = [n._replace(line=n.line - first) for n in numbers]
    letter = LetterMarks.scan(lines, dates, {n.line for n in numbers})
    best = _find_best(letter, numbers, world)
    common = _list_cabins(lines)
    if best is None or not best.whole:
        prose = read_prose(lines, dates, world, sender)
        if {n.name for n in numbers} == {blocks[0].flight.name for blocks in prose.flights}:
            return doubt_order(doubt_twins([_build_leg(prose.lines, b, common, world) for b in prose.flights]))
    if best is None:
        return []
    arranged = list(zip(*best.blocks, strict=True))
    common = _list_common_cabins(lines, [block for blocks in arranged for block in blocks])
    legs = [_build_leg(lines, blocks, common, world) for blocks in arranged]
    legs = doubt_shared(letter, [blocks[0] for blocks in arranged], legs)
    return doubt_order(doubt_twins(share_cabins(_merge_repeats(legs))))


def _find_best(letter: LetterMarks, numbers: list[FlightNumber], world: TravelFacts) -> _Try | None:
    best: _Try | None = None
    lines = letter.lines
    attempts: list[list[AirportMention]] = []
    for tier in _TIERS:
        places = _find_tier(lines, tier, {n.line for n in numbers}, world)
        if places in attempts or (len(places) < 2 and tier is not _TIERS[-1]):
            continue
        attempts.append(places)
        by_line: list[list[AirportMention]] = [[] for _ in lines]
        for place in places:
            by_line[place.line].append(place)
        for flights in _list_anchors(numbers, letter, by_line):
            result = _try_arrangements(letter, flights[:_MAX_FLIGHTS], by_line, world)
            if result and (best is None or (result.whole, result.score) > (best.whole, best.score)):
                best = result
            if result and result.whole == 2:
                return best
    return best


def _find_tier(lines: list[Line], tier: Tier, near: set[int], world: TravelFacts) -> list[AirportMention]:
    ways, by_name = tier
    places = find_codes(lines, ways, world) if ways else []
    if by_name:
        place_spots = {(p.line, p.at) for p in places}
        lines_taken = {p.line for p in places}
        places += [
            p for p in find_named(lines, near, world) if (p.line, p.at) not in place_spots and p.line not in lines_taken
        ]
    return sorted(places, key=lambda p: (p.line, p.at))


def _list_anchors(
    numbers: list[FlightNumber], letter: LetterMarks, places: list[list[AirportMention]]
) -> Iterator[list[FlightNumber]]:
    """The mentions of flights that may each begin, end or stand amid what is said of a flight.

    First all but those repeated at once; then each flight once, at its first or at its last mention.
    """
    names_by_line: dict[int, set[str]] = {}
    for n in numbers:
        names_by_line.setdefault(n.line, set()).add(n.name)
    several = {line for line, names in names_by_line.items() if len(names) > 1}
    elsewhere = {n.name for n in numbers if n.line not in several}
    numbers = [n for n in numbers if n.line not in several or n.name not in elsewhere]
    every: list[FlightNumber] = []
    for number in numbers:
        if every and every[-1].name == number.name and not _tells_anew(every[-1], number, letter, places):
            continue
        every.append(number)
    names = list(dict.fromkeys(n.name for n in every))
    yield every
    if len(names) < len(every):
        yield sorted({n.name: n for n in reversed(every)}.values(), key=lambda n: (n.line, n.at))
        yield sorted({n.name: n for n in every}.values(), key=lambda n: (n.line, n.at))


def _tells_anew(
    last: FlightNumber, number: FlightNumber, letter: LetterMarks, places: list[list[AirportMention]]
) -> bool:
    """Whether a flight named again is told of again, with days or airports of its own in between or next to it."""
    if number.line == last.line:
        return False
    between = range(last.line, number.line)
    return bool(letter.days[number.line] or places[number.line]) or any(letter.days[n] or places[n] for n in between)


def _try_arrangements(
    letter: LetterMarks, flights: Sequence[FlightNumber], places: list[list[AirportMention]], world: TravelFacts
) -> _Try | None:
    results = []
    for way in list_arrangements(letter, flights, places):
        blocks = fill_blocks(letter, flights, places, way, world)
        if blocks:
            results.append((score_blocks(blocks, world), blocks))
    if not results:
        return None
    top = max(score for score, _ in results)
    best = [blocks for score, blocks in results if score == top]
    whole = all(b.ends and b.day for b in best[0])
    return _Try(top / len(flights), whole * (1 if any(b.impossible for b in best[0]) else 2), best)


def _build_leg(lines: list[Line], arranged: tuple[Block, ...], common: set[str], world: TravelFacts) -> BookedLeg:
    """One flight of what the best arrangements agree on."""
    block = arranged[0]
    airline = block.flight.airline
    doubts: list[Doubt] = []
    name = block.flight.name

    def agree(field: str, values: list[Any]) -> Any:  # the value of all the best arrangements
        distinct = list(dict.fromkeys(values))
        if len(distinct) > 1:
            doubts.append(_doubt(field, name, [v for v in distinct if v is not None]))
            return None
        return distinct[0]

    ends = agree("origin", [b.ends for b in arranged])
    if ends is None and any(len(b.places) == 2 for b in arranged):
        doubts += doubt_places(next(b.places for b in arranged if len(b.places) == 2), name)
        if len({b.places for b in arranged}) == 1:  # one end may be certain
            ends = tuple(next(iter(codes)) if len(codes) == 1 else None for codes in block.places)
    day = agree("departure_date", [b.day for b in arranged])
    clock: tuple[time, ...] = agree("departure_time", [b.clock or None for b in arranged]) or ()
    lands = agree("arrival_date", [b.lands for b in arranged])
    if reason := next((b.impossible for b in arranged if b.impossible), None):
        doubts.append(Doubt("arrival_time", reason, (), name))
        clock, lands = (), None
    return BookedLeg(
        airline=airline,
        flight_number=name,
        origin=ends[0] if ends else None,
        destination=ends[1] if ends else None,
        departure_date=day,
        departure_time=clock[0] if clock else None,
        arrival_date=lands if day else None,
        arrival_time=clock[1] if len(clock) > 1 else None,
        cabin_class=_find_cabin(lines, arranged, common, world),
        doubts=doubts,
    )


def _doubt(field: str, about: str, values: Sequence[Any]) -> Doubt:
    shown_values = tuple(_show(v) for v in values)
    return Doubt(field, "The letter can be read in more than one way.", shown_values, about)


def _show(value: Any) -> Any:
    if isinstance(value, tuple):
        return "-".join(str(_show(v)) for v in value)
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return value.isoformat() if isinstance(value, date) else value


def _find_cabin(lines: list[Line], arranged: tuple[Block, ...], common: set[str], world: TravelFacts) -> str | None:
    """The cabin of the flight's own lines; `common`, the letter's one cabin, where no flight has one of its own."""
    if only := world.only_cabin(arranged[0].flight.airline):
        return only
    line = arranged[0].flight.line
    own = _list_cabins(lines[line : line + 1], lines[line + 1 : line + 2])
    parts = [own] if len(own) == 1 else [_list_cabins(lines[b.start : b.end]) for b in arranged]
    cabins = [set(part) for part in parts if part]
    if cabins and len(shared := set.intersection(*cabins)) == 1:
        return shared.pop()
    if cabins and len(near := _list_cabins(lines[slice(*find_paragraph(lines, line))])) == 1:
        return near.pop()
    if not cabins and any(names_other_cabin(ln.small) for b in arranged for ln in lines[b.start : b.end]):
        return None
    return next(iter(common)) if len(common) == 1 else None


def _list_common_cabins(lines: list[Line], blocks: list[Block]) -> set[str]:
    """The cabins that can be those of a flight without one of its own: where others have theirs, not those of them.

    What stands behind the last flight may be said of all.
    """
    blocks = sorted(blocks, key=lambda b: b.flight.line)
    last = blocks[-1].flight
    if not any(_list_cabins(lines[b.start : b.end]) for b in blocks if b.flight != last):
        return _list_cabins(lines)
    block_lines = {n for b in blocks for n in range(b.start, b.end)}
    return _list_cabins([line for at, line in enumerate(lines) if at not in block_lines])


def _list_cabins(lines: list[Line], below: Sequence[Line] = ()) -> set[str]:
    """The cabins of the lines; "Premium" at the end of one and "Economy" at the start of the next are one."""
    cabins: set[str] = set()
    before = ""
    for line, after in zip_longest(lines, [*lines[1:], *below[:1]]):
        if line and not _ASIDE.search(line.small):
            small = line.small.rstrip()
            is_torn = small.endswith("premium") and after is not None and after.small.lstrip().startswith("eco")
            rest = small.lstrip().removeprefix("economy") if before.endswith("premium") else small
            cabins |= find_cabins(f"{small} economy" if is_torn else rest)
            before = small
    return cabins


def _merge_repeats(legs: list[BookedLeg]) -> list[BookedLeg]:
    """A flight named twice, say in a summary and in detail, is one; the fuller account stays.

    The same number on another day or between other airports is another flight; but where one of two days has no times
    or is next to the other, one of them is a slip, and a person looks.
    """
    out: list[BookedLeg] = []
    for leg in legs:
        twin = next((k for k in out if _is_same(k, leg)), None)
        slip = next((k for k in out if _is_slip(k, leg)), None) if twin is None else None
        if slip:
            fuller = max(slip, leg, key=_count_fields)
            days = (slip.departure_date, leg.departure_date)
            out[out.index(slip)] = replace(
                fuller,
                departure_date=None,
                arrival_date=None,
                doubts=[*fuller.doubts, _doubt("departure_date", fuller.flight_number or "", days)],
            )
        elif twin is None:
            out.append(leg)
        elif _count_fields(leg) > _count_fields(twin):
            out[out.index(twin)] = leg
    return out


def _is_slip(one: BookedLeg, other: BookedLeg) -> bool:
    if one.flight_number != other.flight_number or not one.departure_date or not other.departure_date:
        return False
    ends = [(leg.origin, leg.destination) for leg in (one, other)]
    if ends[0] != ends[1] and None not in (*ends[0], *ends[1]):
        return False
    timed = bool(one.departure_time) != bool(other.departure_time)
    return timed or abs((one.departure_date - other.departure_date).days) == 1


def _is_same(one: BookedLeg, other: BookedLeg) -> bool:
    fields = ("departure_date", "origin", "destination", "departure_time")
    agree = all(
        getattr(one, f) is None or getattr(other, f) is None or getattr(one, f) == getattr(other, f) for f in fields
    )
    if one.flight_number == other.flight_number:
        return agree
    # A second number for the same seat: "also sold as".
    return agree and all(getattr(one, f) is not None and getattr(other, f) is not None for f in fields)


def _count_fields(leg: BookedLeg) -> int:
    return sum(v is not None for v in vars(leg).values()) - len(leg.doubts)
