"""Which airports, days and times of a letter belong to which of its flights.

Letters put a flight's number before, between or behind its airports, and a day above, beside or below it, but all
flights of one letter alike. Each such arrangement is tried on all flights at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import pairwise

from shared.domain.confirmations.airport_mentions import Place
from shared.domain.confirmations.arrival_days import find_arrival_day
from shared.domain.confirmations.flight_layouts import Arrangement, Letter, Mark, reduce_places
from shared.domain.confirmations.flight_numbers import FlightNumber
from shared.domain.confirmations.model import TravelFacts

_DEPARTS = re.compile(
    r"\b(?:depart\w*|from|leav\w*|outbound|dep|abflug\w*|ab|von|salida|origen|partenza|da|partida|vertrek\w*"
    r"|van)\b|出発|発"
)
_LANDS_AT = re.compile(
    r"^\W*(?:to|arriv\w*|destination|nach|ankunft|llegada|destino|arrivo|chegada|para|aankomst|naar|到着\w*)\b"
)
_LEAVES_FROM = re.compile(
    r"^\W*(?:from|depart\w*|origin|von|abflug|salida|origen|partenza|partida|origem|vertrek|van|出発\w*)\b"
)
_MOST_ROUTES = 200
_FAR = 60  # lines from a heading to a flight it is of


@dataclass
class Block:
    """What one arrangement gives to one flight."""

    flight: FlightNumber
    start: int
    end: int
    places: tuple[frozenset[str], ...] = ()
    days: tuple[date | None, ...] = ()
    clock: tuple[time, ...] = ()
    later: int = 0
    lands: date | None = None
    impossible: bool = False
    lent: bool = False  # the day is that of a heading
    nearest: bool = False  # the airports are the nearest of more than two

    @property
    def ends(self) -> tuple[str, str] | None:
        """Both airports, where each is certain."""
        if len(self.places) != 2 or any(len(codes) != 1 for codes in self.places):
            return None
        return next(iter(self.places[0])), next(iter(self.places[1]))

    @property
    def day(self) -> date | None:
        return self.days[0] if self.days else None


def fill_blocks(
    letter: Letter, flights: Sequence[FlightNumber], places: list[list[Place]], way: Arrangement, world: TravelFacts
) -> list[Block] | None:
    """What each flight gets in this arrangement; None where days as headings do not fit the letter."""
    blocks = []
    for flight, (start, end) in zip(flights, way.spans, strict=True):
        block = Block(flight, start, end)
        own = places[flight.line] if len(set(_list_starts(flights))) == len(flights) else []
        block.places = _pick_places(block, [p for n in range(start, end) for p in places[n]], own, way.behind)
        block.places = narrow_places(flight.airline, block.places, world)
        block.days = _pick_days(letter, block)
        if way.days != "own" and not _put_under_heading(block, letter.heads[flight.line], way.days):
            return None
        if _is_reversed(letter, block, places):
            block.places = block.places[::-1]
            block.clock, block.later = _pick_times_beside(letter, block, places) or ((), 0)
        else:
            block.clock, block.later = _pick_times(letter, block, places)
        _settle_arrival(block, world)
        blocks.append(block)
    if any(not b.places for b in blocks):
        for block in blocks:
            block.places = () if block.nearest else block.places
    return blocks


def _put_under_heading(block: Block, head: Mark | None, use: str) -> bool:
    """The day of the heading above as the flight's; whether that fits. `mixed`: only where it has none of its own."""
    if use == "mixed" and block.day:
        return True
    day = head.value if head and block.flight.line - head.line <= _FAR else None
    if not isinstance(day, date) or (use == "headed" and block.days and day not in block.days):
        return False
    block.days = (day, *(d for d in block.days if d and d > day))
    block.lent = True
    return True


def _list_starts(flights: Sequence[FlightNumber]) -> list[int]:
    return [f.line for f in flights]


def _pick_places(block: Block, places: list[Place], own: list[Place], behind: int) -> tuple[frozenset[str], ...]:
    """The two airports of a flight, or what there is of them."""
    if len(reduce_places(own)) > 2:  # "Sydney - Singapore - London": of which part the times are is not said
        return ()
    for some in (own, places):
        reduced = reduce_places(some)
        if len(reduced) == 2 and not reduced[0] & reduced[1]:
            return tuple(reduced)
    line, at = block.flight.line, block.flight.at
    before = reduce_places([p for p in places if (p.line, p.at) < (line, at)])
    after = reduce_places([p for p in places if (p.line, p.at) > (line, at)])
    picked = {2: after[:2], 0: before[-2:], 1: [*before[-1:], *after[:1]]}[behind]
    if len(picked) == 2 and not picked[0] & picked[1]:
        block.nearest = True
        return tuple(picked)
    return ()


def narrow_places(airline: str, places: tuple[frozenset[str], ...], world: TravelFacts) -> tuple[frozenset[str], ...]:
    """The airports of the one route among those possible that the airline is known to fly; else as they are.

    Not every route is known: where the airline flies to two airports of such a city, either can be meant.
    """
    if len(places) != 2 or all(len(codes) == 1 for codes in places):
        return places
    routes = [(a, b) for a in sorted(places[0]) for b in sorted(places[1]) if a != b][:_MOST_ROUTES]
    flown = [pair for pair in routes if world.flies(airline, *pair)]
    used = [[code for code in codes if world.flies_to(airline, code)] for codes in places]
    if len(flown) == 1 and all(len(codes) == 1 for codes in used):
        return frozenset((flown[0][0],)), frozenset((flown[0][1],))
    return places


def _pick_days(letter: Letter, block: Block) -> tuple[date | None, ...]:
    """The days of the lines, each once, where they can be those of one flight."""
    marks = [m for n in range(block.start, block.end) for m in letter.days[n]]
    own = letter.days[block.flight.line]
    for some in (own, marks):
        if some and some[0] in letter.landings:  # the day of departure stands in no line of these
            return ()
        days = list(dict.fromkeys(m.value if isinstance(m.value, date) else None for m in some))
        if days and None not in days:
            real = [d for d in days if d]
            if len(real) <= 2 and 0 <= (real[-1] - real[0]).days <= 2:
                return tuple(real)
    return (None,) if marks else ()


def _is_reversed(letter: Letter, block: Block, places: list[list[Place]]) -> bool:
    """Whether labels say that the airport named first is where the flight lands."""
    if len(block.places) != 2:
        return False
    for label, codes in ((_LANDS_AT, block.places[0]), (_LEAVES_FROM, block.places[1])):
        lines = (n for n in range(block.start, block.end) if places[n] and label.match(letter.lines[n].small))
        if not any(codes & p.codes for n in lines for p in places[n][:1]):
            return False
    return True


def _pick_times(letter: Letter, block: Block, places: list[list[Place]]) -> tuple[tuple[time, ...], int]:
    """Departure and arrival, and how many days later the letter says it is then."""
    line = block.flight.line
    for lines in ((line,), range(block.start, block.end)):
        marks = [m for n in lines for m in letter.times[n]]
        values = [m.value for m in marks if isinstance(m.value, time)]
        if len(values) == 4 and values[:2] == values[2:]:
            values, marks = values[:2], marks[:2]
        if len(values) == 2:
            return (values[0], values[1]), letter.later.get(marks[1].line, 0)
    marks = [m for n in range(block.start, block.end) for m in letter.times[n]]
    if len(marks) == 1 and isinstance(marks[0].value, time):
        alone = marks[0].line
        if alone == line or letter.days[alone] or _DEPARTS.search(letter.lines[alone].small):
            return (marks[0].value,), 0
    beside = _pick_times_beside(letter, block, places)
    return beside or ((), 0)


def _pick_times_beside(letter: Letter, block: Block, places: list[list[Place]]) -> tuple[tuple[time, ...], int] | None:
    """The times in the very lines of the two airports, if each of them has one."""
    if len(block.places) != 2:
        return None
    timed = [n for n in range(block.start, block.end) if places[n] and letter.times[n]]
    lines = [[n for n in timed if any(p.codes & codes for p in places[n])] for codes in block.places]
    if any(len(own) != 1 or len(letter.times[own[0]]) != 1 for own in lines) or lines[0] == lines[1]:
        return None
    first, second = (letter.times[own[0]][0].value for own in lines)
    if isinstance(first, time) and isinstance(second, time):
        return (first, second), letter.later.get(lines[1][0], 0)
    return None


def _settle_arrival(block: Block, world: TravelFacts) -> None:
    """The day of arrival, where times and airports tell it; times that cannot be those of the flight are left out."""
    day, ends = block.day, block.ends
    stated = block.days[1] if len(block.days) > 1 else None
    if day is None:
        return
    if not stated and block.later:
        stated = date.fromordinal(day.toordinal() + block.later)
    block.lands = stated
    if len(block.clock) == 2 and ends:
        flown = find_arrival_day(ends, (day, block.clock[0]), block.clock[1], stated, world)
        block.lands, block.impossible = flown.day, not flown.possible


def score_blocks(blocks: Sequence[Block], world: TravelFacts) -> int:
    """How well an arrangement fits, for comparing it with others of the same letter."""
    placed = sum(3 * (b.ends is not None) + (len(b.places) == 2) for b in blocks)
    days = sum(2 for b in blocks if b.day)
    clocks = sum(-4 if b.impossible else len(b.clock) for b in blocks)
    flown = sum(1 for b in blocks if b.ends and world.flies(b.flight.airline, *b.ends))
    ordered = sum(_follows(a, b) for a, b in pairwise(blocks))
    mixed = -1 if len({b.lent for b in blocks}) > 1 else 0
    return 2 * (placed + days + clocks + flown + ordered) + mixed


def _follows(first: Block, second: Block) -> int:
    """Whether the second flight can come after the first."""
    score = 0
    if first.day and second.day:
        score += 0 if second.day >= (first.lands or first.day) else -3
    if first.ends and second.ends:
        score += 1 if first.ends[1] == second.ends[0] else 0
        score -= 3 if first.ends == second.ends and first.day == second.day else 0
    return score
