"""How a letter shares its lines among its flights: each arrangement that its airports, days and blank lines allow."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from itertools import pairwise
from typing import NamedTuple

from shared.domain.confirmations.airport_mentions import Place
from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.flight_numbers import FlightNumber
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.parsing.dates import find_placed_times

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
_OTHER_DAYS = re.compile(
    r"issue|issued|booked on|booking date|date of booking|date of change|purchase|payment|paid on|expir|valid|birth"
    r"|cancel|refund|deadline|receipt date|invoice|ticketed"
    r"|ausgestellt|gebucht am|buchungsdatum|check-?in opens|return by|member since|last updated|sent:|printed"
    r"|date d'emission|date de reservation|fecha de emision|fecha de reserva|fecha de compra|data di emissione"
    r"|data (?:della )?prenotazione|data de emissao|data da reserva|boekingsdatum|発行日|予約日|購入期限|\bbis zum\b"
)
_NEXT_DAY = re.compile(
    r"\d[:h.]\d{2}(?: ?[ap]\.?m\.?| ?uhr| ?h)?,?[ \t*]{0,3}\(?(?:\+ ?([12])(?!\d| ?(?:stop|bag))(?: ?(?:day|tag"
    r"|jour|dia|giorn|dag)\w*)?"
    r"|(?:the )?next day|(?:am )?(?:nachsten|folgenden) tag|nachster tag|folgetag|(?:le |el |il |de "
    r"|da )?(?:lendemain|dia siguiente"
    r"|jour suivant|giorno (?:successivo|dopo)|dia seguinte|volgende dag)|翌日)|翌日\s?\d{1,2}[:]\d{2}"
)
_ARRIVES_ON = re.compile(
    r"\b(?:arriv(?:al|es|ing|ee|o)|ankunft|llegada|chegada|aankomst) (?:on|am|le|el|il|em|op) (?:[a-z]{2,10}\.?,? )?$"
)
_HEAD = re.compile(
    r"\b(?:outbound|inbound|return(?:ing)?|departing flight|flight \d|segment \d|going out|coming back|hinflug"
    r"|ruckflug"
    r"|hinreise|ruckreise|aller|retour|ida|vuelta|regreso|andata|ritorno|volta|heenreis|terugreis|heenvlucht"
    r"|terugvlucht|utresa|hemresa)\b|往路|復路|区間|第\d便"
)


_PLAIN_TIMES = re.compile(
    r"(?<![\w.:/-])(\d{3,4})([apn]?)[ \t]+([#+*])?(\d{3,4})([apn]?)(?![\w:/])(?:[ \t]*\+([12]))?(?![\w:/.-])"
)


class Mark(NamedTuple):
    """A day or a clock time at one place of a letter."""

    line: int
    at: int
    value: date | time | None


@dataclass
class Letter:
    """What a letter's lines hold, for all arrangements alike."""

    lines: list[Line]
    days: list[list[Mark]] = field(default_factory=list)
    times: list[list[Mark]] = field(default_factory=list)
    later: dict[int, int] = field(default_factory=dict)  # days later, by line
    heads: list[Mark | None] = field(default_factory=list)  # for each line the last day named in it or above it
    landings: set[Mark] = field(default_factory=set)  # days that are said to be those of an arrival
    limits: dict[tuple[int, ...], int] = field(default_factory=dict)  # where the last flight's part ends, as computed

    @classmethod
    def scan(cls, lines: list[Line], dates: MailDates, flown: set[int]) -> "Letter":
        """`flown`: the lines that name a flight, where times may stand without a colon."""
        letter = cls(lines)
        for at, line in enumerate(lines):
            digits = any(map(str.isdigit, line.bare))
            counts = digits and not _OTHER_DAYS.search(line.bare) and not _is_below_label(lines, at)
            spans = dates.find(line.bare) if counts else []
            head = letter.heads[-1] if letter.heads else None
            letter.days.append([Mark(at, d.start, d.day) for d in spans])
            # "10 Mar - 17 Mar" heads a journey there and back, and no flight of it.
            several = len({d.day for d in spans}) > 1
            landings = {m for m in letter.days[-1] if _ARRIVES_ON.search(line.bare[max(0, m.at - 40) : m.at])}
            letter.landings |= landings
            own = [m for m in letter.days[-1] if m not in landings]
            letter.heads.append(Mark(at, 0, None) if several else own[0] if own else head)
            bare = line.bare
            for d in spans:
                bare = bare[: d.start] + " " * (d.end - d.start) + bare[d.end :]
            times = list(find_placed_times(bare)) if counts else []
            if at in flown and not times:
                times, later = _find_plain_times(bare)
                letter.later |= {at: later} if later else {}
            letter.times.append([Mark(at, start, t) for t, start in times])
            if digits and (match := _NEXT_DAY.search(line.bare)):
                letter.later[at] = int(match[1] or 1)
        return letter

    def is_heading(self, at: int) -> bool:
        """A line that can begin what is said of a flight: a day on its own, or "Outbound"."""
        line = self.lines[at]
        short = len(line.text.strip()) <= 60
        return short and ((bool(self.days[at]) and not self.times[at]) or bool(_HEAD.search(line.small)))


def _is_below_label(lines: list[Line], at: int) -> bool:
    """A day right below a label such as "Date of issue" is none of a flight."""
    if len(lines[at].text.strip()) > 30:
        return False
    above = next((lines[n].small for n in range(at - 1, max(-1, at - 4), -1) if not lines[n].blank), "")
    return (
        len(above) <= 40 and "\t" not in above and not any(map(str.isdigit, above)) and bool(_OTHER_DAYS.search(above))
    )


def _find_plain_times(bare: str) -> tuple[list[tuple[time, int]], int]:
    """Two times without a colon, as reservation systems print them ("1145 0811", "615P 625A#"), and days later."""
    match = _PLAIN_TIMES.search(bare)
    if match is None:
        return [], 0
    pair = [_read_plain_time(match[1], match[2]), _read_plain_time(match[4], match[5])]
    if pair[0] is None or pair[1] is None:
        return [], 0
    return [(pair[0], match.start(1)), (pair[1], match.start(4))], int(match[6] or (match[3] in ("#", "+")))


def _read_plain_time(digits: str, half: str) -> time | None:
    hour, minute = int(digits[:-2]), int(digits[-2:])
    if minute > 59 or (half and not 1 <= hour <= 12) or (not half and len(digits) < 4) or hour > 23:
        return None
    return time(hour % 12 + (12 if half in ("p", "n") else 0) if half else hour, minute)


Spans = list[tuple[int, int]]


class Arrangement(NamedTuple):
    """How a letter is laid out: the lines of each flight, how many of its airports stand behind its number, and whether
    its day stands among its lines ("own"), above them ("headed"), or now here and now there ("mixed").
    """

    spans: tuple[tuple[int, int], ...]
    behind: int
    days: str


def list_arrangements(letter: Letter, flights: Sequence[FlightNumber], places: list[list[Place]]) -> list[Arrangement]:
    """Every way in which the lines can be shared among the flights."""
    starts = [f.line for f in flights]
    ways: list[tuple[Spans, int]] = [([(s, s + 1) for s in starts], 2)]
    paragraphs = [_find_paragraph(letter.lines, s) for s in starts]
    if all(a[1] <= b[0] for a, b in pairwise(paragraphs)):
        ways += [(paragraphs, behind) for behind in (2, 0, 1)]
    if len(set(starts)) == len(starts):
        for behind in (2, 0, 1):
            ways += [(spans, behind) for spans in _cut_everywhere(letter, starts, places, behind)]
    unique = dict.fromkeys((tuple(spans), behind) for spans, behind in ways)
    return [Arrangement(spans, behind, days) for spans, behind in unique for days in ("own", "headed", "mixed")]


def _cut_everywhere(letter: Letter, starts: list[int], places: list[list[Place]], behind: int) -> Iterator[Spans]:
    limit = _find_limit(letter, starts)
    gaps = list(pairwise(starts))
    top = max(0, starts[0] - max([25, *(b - a for a, b in gaps)]))
    for cut in (_cut_late, _cut_early, _cut_at_blank, _cut_at_heading):
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


def _find_top(letter: Letter, start: int, places: list[list[Place]], wanted: int, top: int) -> int:
    """The line in which the first flight's part begins: that of the first airport of its own above its number."""
    if not wanted:
        return start
    for n in range(start - 1, top - 1, -1):
        if places[n] and len(reduce_places([p for m in range(n, start) for p in places[m]])) >= wanted:
            return _climb(letter, n, top)
    return top


def _climb(letter: Letter, at: int, top: int) -> int:
    """The heading right above a line, if there is one."""
    first = at
    for n in range(at - 1, max(top, at - 6) - 1, -1):
        if letter.is_heading(n):
            first = n
        elif letter.times[n]:
            break
    return first


def _cut_late(_letter: Letter, start: int, stop: int, places: list[list[Place]], behind: int) -> int:
    """All that stands between two flights belongs to the first; or to the second, where airports come before."""
    if behind == 0:
        return start + 1
    if behind == 1:
        return next((n for n in range(stop - 1, start, -1) if places[n]), stop)
    return stop


def _cut_early(letter: Letter, start: int, stop: int, places: list[list[Place]], behind: int) -> int:
    """Right behind the last airport, time or day that the first of the two flights needs."""
    if behind == 0:
        return next((n for n in range(start + 1, stop) if places[n]), start + 1)
    lines = [n for n in range(start, stop) for _ in places[n]]
    distinct = list(dict.fromkeys(lines))
    own = len({c for p in places[start] for c in p.codes}) if start >= 0 else 0
    want = max(0, behind - min(own, behind))
    reach = start if not want else next((n for n in distinct if _count_places(places, start, n) >= behind), start)
    later = next((n for n in range(reach + 1, stop) if places[n] or letter.is_heading(n)), stop)
    return _skip_times(letter, reach, later)


def _skip_times(letter: Letter, reach: int, later: int) -> int:
    last = max((n for n in range(reach + 1, later) if letter.times[n]), default=reach)
    return last + 1


def _count_places(places: list[list[Place]], start: int, at: int) -> int:
    return len(reduce_places([p for n in range(max(start, 0), at + 1) for p in places[n]]))


def _cut_at_blank(letter: Letter, start: int, stop: int, _places: list[list[Place]], behind: int) -> int:
    blanks = [n for n in range(start + 1, stop) if letter.lines[n].blank]
    return (blanks[-1] + 1) if blanks else (start + 1 if behind == 0 else stop)


def _cut_at_heading(letter: Letter, start: int, stop: int, _places: list[list[Place]], behind: int) -> int:
    heads = [n for n in range(start + 1, stop) if letter.is_heading(n)]
    while len(heads) > 1 and heads[-2] >= heads[-1] - 2:
        heads.pop()
    return heads[-1] if heads else (start + 1 if behind == 0 else stop)


def _find_limit(letter: Letter, starts: list[int]) -> int:
    """Where the last flight's part ends: at the terms, the price or the passengers."""
    key = tuple(starts)
    if key not in letter.limits:
        longest = max([b - a for a, b in pairwise(starts)] + [45])
        end = min(len(letter.lines), starts[-1] + 1 + longest)
        terms = (n for n in range(starts[-1] + 1, end) if _TERMS.match(letter.lines[n].small))
        letter.limits[key] = next(terms, end)
    return letter.limits[key]


def _find_paragraph(lines: list[Line], at: int) -> tuple[int, int]:
    start, end = at, at + 1
    while start > 0 and not lines[start - 1].blank:
        start -= 1
    while end < len(lines) and not lines[end].blank:
        end += 1
    return start, end


def reduce_places(places: Sequence[Place]) -> list[frozenset[str]]:
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
