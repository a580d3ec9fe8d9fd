"""Which airports, days and times of a letter belong to which of its flights.

Letters put a flight's number before, between or behind its airports, and a day above, next to or below it, but all
flights of one letter alike. Each such arrangement is tried on all flights at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import pairwise

from shared.domain.confirmations.airport_mentions import AirportMention, names_end_first
from shared.domain.confirmations.flight_layouts import Arrangement, reduce_places
from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.flight_marks import LetterMarks, Mark
from shared.domain.confirmations.flight_numbers import FlightNumber, find_operator
from shared.domain.confirmations.model import TravelFacts
from shared.domain.confirmations.place_choice import keep_near, narrow_to_home, narrow_to_network, narrow_to_times
from shared.domain.possible_flights import judge_times

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
_NAMES_DEPARTURE = re.compile(
    r"^\W*(?:\w+\W+)?(?:departure|departs|abflug\w*|salida|partenza|partida|vertrek\w*)\b(?:(?! arriv| ankunft).)*$"
)
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
    marks: tuple[Mark, ...] = ()  # where the times stand
    later: int = 0
    lands: date | None = None
    impossible: str = ""  # why its times cannot be
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
    letter: LetterMarks,
    flights: Sequence[FlightNumber],
    places: list[list[AirportMention]],
    way: Arrangement,
    world: TravelFacts,
) -> list[Block] | None:
    """What each flight gets in this arrangement; None where days as headings do not fit the letter."""
    blocks = []
    for flight, (start, end) in zip(flights, way.spans, strict=True):
        block = Block(flight, start, end)
        own = places[flight.line] if len(set(_list_starts(flights))) == len(flights) else []
        block.places = _pick_places(block, [p for n in range(start, end) for p in places[n]], own, way.behind)
        block.days = _pick_days(letter, block)
        if way.days != "own" and not _put_under_heading(block, letter.heads[flight.line], way.days):
            return None
        if _is_reversed(letter, block, places):
            block.places = block.places[::-1]
            _set_clock(letter, block, _pick_times_beside(letter, block, places))
        elif line := _find_backward_line(letter, block, places):
            block.places = block.places[::-1]
            marks = _pick_times(letter, block, places)
            # "to Munich 18:55 from Frankfurt 18:00": each time stands behind its place
            is_apart = len(marks) == 2 and line[0].at < marks[0].at < line[1].at < marks[1].at
            _set_clock(letter, block, marks[::-1] if is_apart and marks[0].line == line[0].line else marks)
        else:
            _set_clock(letter, block, _pick_times(letter, block, places))
        narrow_to_flight(block, letter.lines[flight.line : min(end, flight.line + 8)], world)
        settle_arrival(block, world)
        blocks.append(block)
    _take_names_alike(blocks, world)
    _carry_over_midnight(letter, blocks, world)
    if any(not b.places for b in blocks):
        for block in blocks:
            block.places = () if block.nearest else block.places
    return blocks


def _put_under_heading(block: Block, head: Mark | None, use: str) -> bool:
    """The day of the heading above as the flight's; whether that fits. `mixed`: only where it has none of its own."""
    if use == "mixed" and block.day:
        return True
    day = head.value if head and block.flight.line - head.line <= _FAR else None
    if not isinstance(day, date) or (use == "headed" and block.days and day != block.days[0]):
        return False
    block.days = (day, *(d for d in block.days if d and d > day))
    block.lent = True
    return True


def _list_starts(flights: Sequence[FlightNumber]) -> list[int]:
    return [f.line for f in flights]


def _pick_places(
    block: Block, places: list[AirportMention], own: list[AirportMention], behind: int
) -> tuple[frozenset[str], ...]:
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


def narrow_to_flight(block: Block, lines: Sequence[Line], world: TravelFacts) -> None:
    """Keeps the airports between which its times allow a flight, and then those between which its airline flies, or the
    one that operates the flight for it, as its lines say."""
    if len(block.places) != 2 or block.ends:
        return
    day, landing = block.day, _find_stated_landing(block)
    if day and len(block.clock) == 2:
        block.places = narrow_to_times(block.places, (day, block.clock[0]), block.clock[1], landing, world)
        block.places = narrow_to_home(block.flight.airline, block.places, world)
    operators = (operator for line in lines if (operator := find_operator(line, world)))
    for airline in (block.flight.airline, next(operators, None)) if not block.ends else ():
        block.places = narrow_to_network(airline, block.places, world) if airline else block.places


def _take_names_alike(blocks: Sequence[Block], world: TravelFacts) -> None:
    """A name that is certain of one flight of a letter means no other city in another."""
    certain = {code for block in blocks for code in block.ends or ()}
    for block in blocks:
        if len(block.places) == 2 and not block.ends:
            block.places = tuple(keep_near(codes, codes & certain, world) for codes in block.places)
            settle_arrival(block, world)


def _find_stated_landing(block: Block) -> date | None:
    if len(block.days) > 1 or not block.day or not block.later:
        return block.days[1] if len(block.days) > 1 else None
    return date.fromordinal(block.day.toordinal() + block.later)


def _pick_days(letter: LetterMarks, block: Block) -> tuple[date | None, ...]:
    """The days of the lines, each once, where they can be those of one flight."""
    line = block.flight.line
    head = letter.heads[line]
    under_head = head is not None and letter.find_direction(head.line) is not None
    marks = [
        m
        for n in range(block.start, block.end)
        for m in letter.days[n]
        if not (under_head and (letter.find_direction(n) or 0) > line)  # "Return, 21 March" is of the next flight
    ]
    own = letter.days[block.flight.line]
    for some in (own, marks):
        if some and letter.landings.issuperset(some):  # the day of departure stands in no line of these
            return ()
        in_order = sorted(some, key=lambda m: m in letter.landings)  # "Arrival: 5 May" may stand above "Departure"
        days = list(dict.fromkeys(m.value if isinstance(m.value, date) else None for m in in_order))
        if days and None not in days:
            real = [d for d in days if d]
            if len(real) <= 2 and -1 <= (real[-1] - real[0]).days <= 2:  # over the date line one lands the day before
                return tuple(real)
    return (None,) if marks else ()


def _is_reversed(letter: LetterMarks, block: Block, places: list[list[AirportMention]]) -> bool:
    """Whether labels say that the airport named first is where the flight lands."""
    if len(block.places) != 2:
        return False
    for label, codes in ((_LANDS_AT, block.places[0]), (_LEAVES_FROM, block.places[1])):
        lines = (n for n in range(block.start, block.end) if places[n] and label.match(letter.lines[n].small))
        if not any(codes & p.codes for n in lines for p in places[n][:1]):
            return False
    return True


def _find_backward_line(
    letter: LetterMarks, block: Block, places: list[list[AirportMention]]
) -> tuple[AirportMention, AirportMention] | None:
    """The two airports of the flight where one line names them as "to Munich from Frankfurt"."""
    if len(block.places) != 2:
        return None
    for n in range(block.start, block.end):
        for first, second in pairwise(places[n]):
            is_pair = first.codes & block.places[0] and second.codes & block.places[1]
            if is_pair and names_end_first(letter.lines[n].small, first.at, second.at):
                return first, second
    return None


def _pick_times(letter: LetterMarks, block: Block, places: list[list[AirportMention]]) -> list[Mark]:
    """The times of departure and arrival, or that of departure alone."""
    line = block.flight.line
    for lines in ((line,), range(block.start, block.end)):
        marks = [m for n in lines for m in letter.times[n]]
        if len(marks) == 4 and [m.value for m in marks[:2]] == [m.value for m in marks[2:]]:
            marks = marks[:2]
        if len(marks) == 2:
            # "Scheduled departure 10:15" and, below it, "new departure 12:40": neither is when it lands.
            both_leave = marks[0].line != marks[1].line and all(
                _NAMES_DEPARTURE.search(letter.lines[m.line].small) for m in marks
            )
            return [] if both_leave else marks
    marks = [m for n in range(block.start, block.end) for m in letter.times[n]]
    if len(marks) == 1:
        alone = marks[0].line
        if alone == line or letter.days[alone] or _DEPARTS.search(letter.lines[alone].small):
            return marks
    return _pick_times_beside(letter, block, places)


def _pick_times_beside(letter: LetterMarks, block: Block, places: list[list[AirportMention]]) -> list[Mark]:
    """The times in the very lines of the two airports, if each of them has one."""
    if len(block.places) != 2:
        return []
    timed = [n for n in range(block.start, block.end) if places[n] and letter.times[n]]
    lines = [[n for n in timed if any(p.codes & codes for p in places[n])] for codes in block.places]
    if any(len(own) != 1 or len(letter.times[own[0]]) != 1 for own in lines) or lines[0] == lines[1]:
        return []
    return [letter.times[own[0]][0] for own in lines]


def _set_clock(letter: LetterMarks, block: Block, marks: list[Mark]) -> None:
    """The times as the flight's; "09:45 +1" for a departure counts from the day that heads the journey."""
    block.marks = tuple(marks)
    block.clock = tuple(m.value for m in marks if isinstance(m.value, time))
    leaps = [letter.find_leap(m) for m in marks]
    block.later = max(0, leaps[1] - leaps[0]) if len(leaps) > 1 else 0
    if leaps and leaps[0] and block.day:
        block.days = (date.fromordinal(block.day.toordinal() + leaps[0]),) if block.lent else (None,)


def settle_arrival(block: Block, world: TravelFacts) -> None:
    """The day of arrival, where times and airports tell it; times that cannot be those of the flight are left out."""
    day, ends = block.day, block.ends
    if day is None:
        return
    block.lands = arrival_day = _find_stated_landing(block)
    if len(block.clock) == 2 and ends:
        landing = judge_times(world.route(*ends), (day, block.clock[0]), block.clock[1], arrival_day)
        block.impossible = landing.reason
        block.lands = None if landing.reason else landing.day


def _carry_over_midnight(letter: LetterMarks, blocks: Sequence[Block], world: TravelFacts) -> None:
    """A heading's day is that of the journey: a flight onward from where one landed the day after leaves then."""
    headings = [b.day for b in blocks]
    for (first, second), (heading, own) in zip(pairwise(blocks), pairwise(headings), strict=True):
        if letter.heads[first.flight.line] != letter.heads[second.flight.line]:
            continue
        onward = first.ends and second.ends and first.ends[1] == second.ends[0]
        if not (second.lent and onward and first.lands and len(first.clock) == 2 and second.clock):
            continue
        if heading and own == heading and first.lands > heading and second.clock[0] > first.clock[1]:
            second.days = (first.lands,)
            second.lands = None
            settle_arrival(second, world)


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
