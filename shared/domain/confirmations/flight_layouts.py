"""How a letter shares its lines among its flights: each arrangement that its airports, days and blank lines allow."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from shared.domain.confirmations.airport_mentions import AirportMention
from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.flight_marks import LetterMarks
from shared.domain.confirmations.flight_numbers import FlightNumber

_TERMS = re.compile(
    r"^\W*(?:baggage (?:allow|info|polic|rules)|terms|conditions|fare (?:rules|conditions|details)"
    r"|important (?:info|notice)"
    r"|payment|price (?:details|summary)|total|receipt|your (?:ticket|payment|receipt)|travell?er"
    r"|passenger (?:info|det|name|list)"
    r"|passengers\W*$|hand baggage|checked baggage|legal|notice|gepack(?:be|in)|wichtige hinweise|zahlung|gesamt"
    r"|preis"
    r"|bagages|conditions tarifaires|informations importantes|paiement|montant|equipaje|condiciones"
    r"|informacion importante"
    r"|pago\b|importe|bagaglio|condizioni|informazioni importanti|pagamento|totale|bagagem|condicoes"
    r"|informacoes importantes"
    r"|bagage|voorwaarden|belangrijke informatie|betaling|totaal|手荷物|お支払|合計|注意事項|こ注意|運賃規則)"
)
_LONE_TIME = re.compile(r"^\W*\d{1,2}[:.h]\d{2}(?: ?[ap]\.?m\.?| ?uhr| ?hrs?| ?h)?\W*$")

Spans = list[tuple[int, int]]


class Arrangement(NamedTuple):
    """How a letter is laid out: the lines of each flight, how many of its airports stand behind its number, and whether
    its day stands among its lines ("own"), above them ("headed"), or now here and now there ("mixed").
    """

    spans: tuple[tuple[int, int], ...]
    behind: int
    days: str


def list_arrangements(
    letter: LetterMarks, flights: Sequence[FlightNumber], places: list[list[AirportMention]]
) -> list[Arrangement]:
    """Every way in which the lines can be shared among the flights."""
    starts = [f.line for f in flights]
    ways: list[tuple[Spans, int]] = [([(s, s + 1) for s in starts], 2)]
    paragraphs = [find_paragraph(letter.lines, s) for s in starts]
    if all(a[1] <= b[0] for a, b in pairwise(paragraphs)):
        ways += [(paragraphs, behind) for behind in (2, 0, 1)]
    if len(set(starts)) == len(starts):
        for behind in (2, 0, 1):
            ways += [(spans, behind) for spans in _cut_everywhere(letter, starts, places, behind)]
    unique = dict.fromkeys((tuple(spans), behind) for spans, behind in ways)
    return [Arrangement(spans, behind, days) for spans, behind in unique for days in ("own", "headed", "mixed")]


def _cut_everywhere(
    letter: LetterMarks, starts: list[int], places: list[list[AirportMention]], behind: int
) -> Iterator[Spans]:
    limit = _find_limit(letter, starts)
    gaps = list(pairwise(starts))
    top = max(0, starts[0] - max([25, *(b - a for a, b in gaps)]))
    for cut in (_cut_late, _cut_early, _cut_at_blank, _cut_at_heading, _cut_above_time):
        cuts = [cut(letter, a, b, places, behind) for a, b in gaps]
        first = _find_top(letter, starts[0], places, 2 - behind, top)
        if behind == 2 and cut is not _cut_late:
            first = _climb(letter, starts[0], top)
        last = (
            min(limit, starts[-1] + 1 + max([c - s for s, c in zip(starts, cuts, strict=False)] + [6]))
            if behind == 0
            else limit
        )
        edges = [first, *cuts, max(last, starts[-1] + 1)]
        yield [(min(a, s), max(b, s + 1)) for a, b, s in zip(edges, edges[1:], starts, strict=False)]


def _find_top(letter: LetterMarks, start: int, places: list[list[AirportMention]], wanted: int, top: int) -> int:
    """The line in which the first flight's part begins: that of the first airport of its own above its number."""
    if not wanted:
        return start
    for n in range(start - 1, top - 1, -1):
        if places[n] and len(reduce_places([p for m in range(n, start) for p in places[m]])) >= wanted:
            return _climb(letter, _reach_time_above(letter, n, top), top)
    return top


def _reach_time_above(letter: LetterMarks, at: int, top: int) -> int:
    """The line of a time that stands alone above an airport, or above its city: "20:10", "Santiago", "SCL"."""
    for n in range(at - 1, max(top, at - 4) - 1, -1):
        if _LONE_TIME.match(letter.lines[n].bare):
            return n
        if any(map(str.isdigit, letter.lines[n].text)):
            break
    return at


def _climb(letter: LetterMarks, at: int, top: int) -> int:
    """The heading right above a line, if there is one."""
    first = at
    for n in range(at - 1, max(top, at - 6) - 1, -1):
        if letter.is_heading(n):
            first = n
        elif letter.times[n]:
            break
    return first


def _cut_late(_letter: LetterMarks, start: int, stop: int, places: list[list[AirportMention]], behind: int) -> int:
    """All that stands between two flights belongs to the first; or to the second, where airports come before."""
    if behind == 0:
        return start + 1
    if behind == 1:
        return next((n for n in range(stop - 1, start, -1) if places[n]), stop)
    return stop


def _cut_above_time(letter: LetterMarks, start: int, stop: int, places: list[list[AirportMention]], behind: int) -> int:
    """Above the time over the airport from which the second flight leaves, and above the heading over that."""
    at = _cut_late(letter, start, stop, places, behind)
    return _climb(letter, _reach_time_above(letter, at, start + 1), start + 1) if behind == 1 and at < stop else at


def _cut_early(letter: LetterMarks, start: int, stop: int, places: list[list[AirportMention]], behind: int) -> int:
    """Right behind the last airport, time or day that the first of the two flights needs."""
    if behind == 0:
        return next((n for n in range(start + 1, stop) if places[n]), start + 1)
    lines = [n for n in range(start, stop) for _ in places[n]]
    distinct = list(dict.fromkeys(lines))
    own = len({c for p in places[start] for c in p.codes}) if start >= 0 else 0
    want = max(0, behind - min(own, behind))
    reach = start if not want else next((n for n in distinct if _count_places(places, start, n) >= behind), start)
    later = next((n for n in range(reach + 1, stop) if places[n] or letter.is_heading(n)), stop)
    return max((n for n in range(reach + 1, later) if letter.times[n]), default=reach) + 1


def _count_places(places: list[list[AirportMention]], start: int, at: int) -> int:
    return len(reduce_places([p for n in range(max(start, 0), at + 1) for p in places[n]]))


def _cut_at_blank(letter: LetterMarks, start: int, stop: int, _places: list[list[AirportMention]], behind: int) -> int:
    blanks = [n for n in range(start + 1, stop) if letter.lines[n].blank]
    return (blanks[-1] + 1) if blanks else (start + 1 if behind == 0 else stop)


def _cut_at_heading(
    letter: LetterMarks, start: int, stop: int, _places: list[list[AirportMention]], behind: int
) -> int:
    heads = [n for n in range(start + 1, stop) if letter.is_heading(n)]
    while len(heads) > 1 and heads[-2] >= heads[-1] - 2:
        heads.pop()
    return heads[-1] if heads else (start + 1 if behind == 0 else stop)


def _find_limit(letter: LetterMarks, starts: list[int]) -> int:
    """The end of the last flight's part: at the terms, the price or the passengers."""
    key = tuple(starts)
    if key not in letter.limits:
        longest = max([b - a for a, b in pairwise(starts)] + [45])
        end = min(len(letter.lines), starts[-1] + 1 + longest)
        terms = (n for n in range(starts[-1] + 1, end) if _TERMS.match(letter.lines[n].small))
        letter.limits[key] = next(terms, end)
    return letter.limits[key]


def find_paragraph(lines: list[Line], at: int) -> tuple[int, int]:
    start, end = at, at + 1
    while start > 0 and not lines[start - 1].blank:
        start -= 1
    while end < len(lines) and not lines[end].blank:
        end += 1
    return start, end


def reduce_places(places: Sequence[AirportMention]) -> list[frozenset[str]]:
    """The airports in order; one that is named again right after itself, by code and by name, is one."""
    out: list[frozenset[str]] = []
    for place in places:
        if out and out[-1] & place.codes:
            out[-1] &= place.codes
        else:
            out.append(place.codes)
    if len(out) == 4 and out[0] & out[2] and out[1] & out[3]:
        return [out[0] & out[2], out[1] & out[3]]
    return out
