"""What speaks against the flights of a letter taken together: a person looks at them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from shared.domain.confirmations.flight_blocks import Block
from shared.domain.confirmations.flight_marks import Letter, Mark
from shared.domain.confirmations.model import BookedLeg, Doubt

_FAR = 30  # lines from a heading to a flight whose day it may state
_MOST_DAYS = 2  # from leaving to landing


def doubt_shared(letter: Letter, blocks: Sequence[Block], legs: list[BookedLeg]) -> list[BookedLeg]:
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


def _find_day_behind(letter: Letter, block: Block) -> Mark | None:
    """The day of a flight, where it stands nowhere but behind the time of its arrival."""
    if len(block.marks) != 2:
        return None
    head = letter.heads[block.flight.line]
    own = [m for n in range(block.start, block.end) for m in letter.days[n]]
    marks = [m for m in ([head] if head and block.lent else own) if m.value == block.day]
    last = max((m.line, m.at) for m in block.marks)
    return marks[0] if marks and (marks[0].line, marks[0].at) > last else None


def _find_earlier(letter: Letter, block: Block, day: Mark, behind: Sequence[Mark | None]) -> date | None:
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
        joined = before.destination and before.destination == leg.origin
        if joined and _leaves_too_early(before, leg):
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
