"""Flights told in sentences: "You leave Lisbon at 10:30 on TP237 and land in Newark at 13:30"."""

import re
from collections.abc import Iterator, Sequence
from datetime import time
from itertools import pairwise
from typing import NamedTuple

from shared.domain.confirmations.airport_mentions import CODE_WAYS, AirportMention, find_codes, names_end_first
from shared.domain.confirmations.flight_blocks import Block, narrow_to_flight, settle_arrival
from shared.domain.confirmations.flight_layouts import reduce_places
from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.flight_marks import find_days_later
from shared.domain.confirmations.flight_numbers import FlightNumber, find_flight_numbers
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import TravelFacts
from shared.domain.parsing.dates import find_placed_times, find_weekday

_MOST_CHARACTERS = 1_500  # of one paragraph
_MOST_PARAGRAPHS = 12
_MOST_FLIGHTS = 6  # of one paragraph
_MOST_CUTS = 10  # between two flights
_MOST_READINGS = 6
_WINDOW, _OVERLAP = 110, 50  # characters in which names of places are looked for at once
_CUT = re.compile(
    r"(?<!(?<![\d:.h])\d)(?<!(?<![\d:.h])\d\d)\.(?= )|[;:!](?= )|, (?=[a-z(])|(?<=[a-z0-9)]) - (?=[a-z])"
    r"| (?=(?:and|then|und|dann|et|puis|y|luego|e|poi|depois|en|daarna)\b)"
)
# What stands before the name of a place that someone flies from or to.
_BEFORE_PLACE = re.compile(
    r"(?:\b(?:from|to|in|at|into|leav(?:e|es|ing)|reach(?:es|ing)?|via|von|vom|nach|ab|an|aus|zuruck|de|du|a|au|depuis"
    r"|vers|pour|desde|hasta|hacia|da|di|per|verso|para|do|van|naar|vanuit|uit|op|te)(?: the)?|[-/>:,→(])\s*$"
)
_ARRIVES = re.compile(
    r"(?:\b(?:arriv\w*|land\w*|ankunft|an|llega\w*|chega\w*|aankom\w*|atterr\w*|aterri\w*)\b)[^\d]{0,40}$"
)
_LEAVES = re.compile(
    r"(?:\b(?:depart\w*|leav\w*|abflug|ab|part\w*|sal[ie]\w*|sai\w*|vertrek\w*|decoll\w*|despeg\w*)\b)[^\d]{0,40}$"
)


class Told(NamedTuple):
    """The sentences in which flights are told, and for each flight its readings; more than one leaves it open."""

    lines: list[Line]
    flights: list[tuple[Block, ...]]


def read_prose(lines: Sequence[Line], dates: MailDates, world: TravelFacts, sender: str) -> Told:
    """The flights of all paragraphs, in order; those of which a sentence does not tell the airports and the day not."""
    prose = Told([], [])
    for paragraph in _join_paragraphs(lines):
        numbers = list({n.name: n for n in reversed(find_flight_numbers([paragraph], world, sender))}.values())[::-1]
        if 0 < len(numbers) <= _MOST_FLIGHTS:
            readings = _list_readings(paragraph, numbers, dates, world)
            prose.flights.extend(_keep_readings(readings, prose.lines))
    return prose


def _join_paragraphs(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines between blank ones as one each, of those that have a number and no cells."""
    parts: list[Line] = []
    count = 0
    for line in (*lines, Line("", "", "")):
        if not line.blank and "\t" not in line.text:
            parts.append(line)
            continue
        length = sum(len(p.text) for p in parts)
        if 40 < length < _MOST_CHARACTERS and any(map(str.isdigit, "".join(p.text for p in parts))):
            count += 1
            yield Line(*(" ".join(p) for p in zip(*((p.text, p.small, p.bare) for p in parts), strict=True)))
        if count == _MOST_PARAGRAPHS:
            return
        parts = []


def _list_readings(
    paragraph: Line, numbers: Sequence[FlightNumber], dates: MailDates, world: TravelFacts
) -> list[list[tuple[Line, Block]]]:
    """Every way to share the paragraph among its flights in which each has two airports and a day."""
    edges = _list_cuts(paragraph.small)
    if full := next((d for d in sorted(dates.full) if d in {s.day for s in dates.find(paragraph.bare)}), None):
        dates = dates.nearest_to(full)
    starts: list[tuple[int, list[tuple[Line, Block]]]] = [(0, [])]
    for at, number in enumerate(numbers):
        is_last = at + 1 == len(numbers)
        stop = len(paragraph.text) if is_last else numbers[at + 1].at
        ends = [stop] if is_last else [e for e in edges if number.at < e <= stop][-_MOST_CUTS:]
        longer = [
            (end, [*reading, pair])
            for start, reading in starts
            for end in ends
            if end > start and (pair := _read_part(paragraph, (start, end), number, dates, world))
        ]
        starts = _drop_equal(longer)[:_MOST_READINGS]
    most = max((_count_facts(reading) for _, reading in starts), default=0)
    return [reading for _, reading in starts if _count_facts(reading) == most]


def _count_facts(reading: list[tuple[Line, Block]]) -> int:
    return sum(-2 if block.impossible else len(block.clock) for _, block in reading)


def _list_cuts(small: str) -> list[int]:
    """The places where a part of a sentence ends, but for the comma between a weekday and its date."""
    return [m.end() for m in _CUT.finditer(small) if find_weekday(small[max(0, m.start() - 14) : m.start()]) is None]


def _drop_equal(
    readings: list[tuple[int, list[tuple[Line, Block]]]],
) -> list[tuple[int, list[tuple[Line, Block]]]]:
    unique = {(end, *(_describe(block) for _, block in reading)): (end, reading) for end, reading in readings}
    return sorted(unique.values(), key=lambda pair: -_count_facts(pair[1]))


def _describe(block: Block) -> tuple[object, ...]:
    return block.flight.name, block.places, block.days, block.clock


def _read_part(
    paragraph: Line, span: tuple[int, int], number: FlightNumber, dates: MailDates, world: TravelFacts
) -> tuple[Line, Block] | None:
    """What a part of a sentence tells of its flight; None without two airports and a day."""
    line = Line(*(text[span[0] : span[1]] for text in (paragraph.text, paragraph.small, paragraph.bare)))
    places = _find_places(line, world)
    spans = [day for start, end in _list_pieces(line.bare) for day in dates.find(line.bare[start:end])]
    days = list(dict.fromkeys(s.day for s in spans))
    real = [d for d in days if d]
    ends = reduce_places(places)
    if len(ends) != 2 or ends[0] & ends[1] or not real or len(real) < len(days) or len(real) > 2:
        return None
    if not 0 <= (real[-1] - real[0]).days <= 2 or names_end_first(line.small, places[0].at, places[-1].at):
        return None
    block = Block(number, 0, 1, tuple(ends), tuple(real))
    block.clock = _pick_clock(line, dates)
    block.later = find_days_later(line.bare)
    narrow_to_flight(block, [line], world)
    settle_arrival(block, world)
    return line, block


def _find_places(line: Line, world: TravelFacts) -> list[AirportMention]:
    codes = {p.at: p for p in find_codes([line], CODE_WAYS, world)}
    mentions = [
        AirportMention(0, start, airports)
        for start, airports in _list_named(line.text, world)
        if _BEFORE_PLACE.search(line.small[max(0, start - 16) : start]) or not line.small[:start].strip()
    ]
    return sorted([*codes.values(), *(p for p in mentions if p.at not in codes)], key=lambda p: p.at)


def _list_named(text: str, world: TravelFacts) -> Iterator[tuple[int, frozenset[str]]]:
    """Every name of a place, with its start; long sentences are looked at in windows that overlap."""
    last = -1
    for at in range(0, max(1, len(text) - _OVERLAP), _WINDOW - _OVERLAP):
        for start, end, airports in world.places(text[at : at + _WINDOW]):
            is_cut = end > _WINDOW - 2 and at + _WINDOW < len(text)
            is_torn = at > 0 and start < 2
            # "de Madrid": a small word next to it can count as part of the name
            capital = next((n for n in range(at + start, at + end) if text[n].isupper()), at + start)
            if not is_cut and not is_torn and capital > last:
                last = capital
                yield capital, airports


def _list_pieces(bare: str) -> Iterator[tuple[int, int]]:
    """Parts of a sentence, each with at most one day: one without a year counts next to another that has one."""
    return pairwise([0, *_list_cuts(bare), len(bare)])


def _pick_clock(line: Line, dates: MailDates) -> tuple[time, ...]:
    """Departure and arrival, or the departure alone."""
    bare = line.bare
    for day in dates.find(bare):
        bare = bare[: day.start] + " " * (day.end - day.start) + bare[day.end :]
    times = list(find_placed_times(bare))
    if len(times) == 2:
        first, second = (bare[max(0, at - 50) : at] for _, at in times)
        is_swapped = _ARRIVES.search(first) and _LEAVES.search(second)
        return () if is_swapped else (times[0][0], times[1][0])
    if len(times) == 1 and not _ARRIVES.search(bare[: times[0][1]]):
        return (times[0][0],)
    return ()


def _keep_readings(readings: list[list[tuple[Line, Block]]], lines: list[Line]) -> Iterator[tuple[Block, ...]]:
    """Each flight's readings, with its sentences added to `lines`."""
    for pairs in zip(*readings, strict=True):
        unique = {_describe(block): (line, block) for line, block in pairs}
        for line, block in unique.values():
            lines.append(line)
            block.start, block.end = len(lines) - 1, len(lines)
            block.flight = block.flight._replace(line=block.start)
        yield tuple(block for _, block in unique.values())
