"""Flights in the plain text of a confirmation: number, airports, days, times and cabin of each leg."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta

from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedLeg, TravelFacts
from shared.domain.confirmations.phrases import CONFIRMATION, find_cabins
from shared.domain.parsing.amounts import CODES
from shared.domain.parsing.dates import find_times
from shared.domain.parsing.text import fold

_DESIGNATOR = re.compile(
    r"(?<![A-Za-z0-9])([A-Z][A-Z0-9]|[0-9][A-Z])( ?)0*(\d{1,4})[A-Z]?(?![A-Za-z0-9:.,/]\d|[A-Za-z0-9])"
)
_ICAO_DESIGNATOR = re.compile(r"(?<![A-Za-z0-9])([A-Z]{3})( ?)0*(\d{2,4})[A-Z]?(?![A-Za-z0-9:.,/]\d|[A-Za-z0-9])")
_FLIGHT_WORD = re.compile(r"\b(?:flight|flug|vol|vuelo|volo|voo|vlucht|flt)\b")
_RIGHT_BEFORE = re.compile(r"\b(?:flight|flug|vol|vuelo|volo|voo|vlucht|flt)(?: ?(?:number|no\.|nr\.))?\s?[:#\t]?\s?$")
# Airline codes that are also words or AM/PM: with a space behind, they count only after the word "flight".
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]\s*$")  # an airline's name in its own letters
_WORDS_AND_CODES = frozenset({"AM", "PM", "TO", "BY", "OR", "IT", "UP"})
_ONLY_JOINED = frozenset({"NO", "ID"})  # "flight no 12", "flight ID 12"
_NUMBER = re.compile(  # "Flight 1:" and "flight 1 of 2" count the flights
    r"\b(?:flight|flug|vol|vuelo|volo|voo|vlucht|flt)(?: ?(?:number|no\.?|nr\.?|#|nummer))?\s?[:#\t]?\s?"
    r"0*(\d{1,4})\b(?! ?(?:hour|min|stop|h\b|of \d))(?<!\D\d(?=:))"
)
_SPREAD = re.compile(
    r"^([ \t]*(?:flight|flug|vol|vuelo|volo|voo|vlucht)[ \t]*)\n(?=[ \t]*#?[ \t]*\d{1,4}[ \t]*$)", re.I | re.M
)
_NAMED = re.compile(r"([A-Za-z][A-Za-z ]{2,30}?) 0*(\d{1,4})", re.ASCII)
_BRACKETS = re.compile(r"\(([A-Z]{3})\)|\[([A-Z]{3})\]")
_PAIR = re.compile(
    r"(?<![A-Za-z])([A-Z]{3})\s*(?:-|>|->|=>|→|➔|➝|✈|⇒|/|\bto\b|\bnach\b|\ba\b)\s*"
    r"(?:[A-ZÀ-Þ][\w'.-]*[a-zß-ÿ] ){0,3}([A-Z]{3})(?![A-Za-z])"  # the second city's name may stand before its code
)
_TIMED = re.compile(
    r"(?<![A-Za-z])([A-Z]{3})[ \t]+(?:[\d/.-]{8,10}[ \t]+)?\d{1,2}[:h]\d{2}"
    r"|\d{1,2}[:h]\d{2}(?: ?[AaPp][Mm])?[ \t]+([A-Z]{3})(?![A-Za-z])"
)
_LABELLED = re.compile(
    r"^\W*(?:from|to|origin|destination|depart\w*|arriv\w*|departing|von|nach|abflug|ankunft"
    r"|de|a|origen|destino|salida|llegada|partenza|arrivo"
    r"|partida|chegada|vertrek|aankomst)\b"
)
_CODE = re.compile(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])")
# Three-letter words of mails that are also airport codes.
_MAX_NAMED_LINES = 60  # lines searched for names of airports
_NOT_AIRPORTS = frozenset(
    re.findall(
        r"\w+",
        "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC MON TUE WED THU FRI SAT SUN USD EUR GBP AUD CAD CHF JPY INR"
        " GMT UTC EST EDT CST CDT PST PDT MST BST CET PNR REF THE AND FOR TAX FEE VAT NON MRS PDF",
    )
)
_NEXT_DAY = re.compile(
    r"\d[:h.]\d{2}(?: ?[ap]\.?m\.?)?,?[ \t]{0,3}\(?(?:\+ ?([12])(?!\d| ?(?:stop|bag))|next day|nachster tag"
    r"|dia siguiente|jour suivant|giorno successivo)"
)
_OTHER_DAYS = re.compile(
    r"issue|issued|booked on|booking date|date of booking|purchase|payment|expir|valid|birth"
    r"|cancel|refund|deadline|receipt date|invoice"
    r"|ausgestellt|gebucht am|buchungsdatum|check-?in opens|return by|member since|last updated|sent:|printed"
)


_Flight = tuple[int, str, str]  # line, airline, number


@dataclass
class _Block:
    """What the lines that belong to one flight say."""

    airline: str
    number: str
    airports: list[str] = field(default_factory=list)
    days: list[date | None] = field(default_factory=list)
    times: list[time] = field(default_factory=list)
    cabins: set[str] = field(default_factory=set)
    later: int = 0  # days after the departure on which it lands, as "+1" says

    @property
    def whole(self) -> bool:
        """Two airports, and days that can be those of one flight."""
        return len(self.airports) == 2 and bool(self.days) and self.fits

    @property
    def fits(self) -> bool:
        days = [d for d in self.days if d is not None]
        return len(days) == len(self.days) and (not days or 0 <= (days[-1] - days[0]).days <= 2)


def read_legs(text: str, dates: MailDates, world: TravelFacts, sender: str) -> list[BookedLeg]:
    """The flights of a text; each with what its lines state without doubt."""
    lines = _SPREAD.sub(r"\1", text).split("\n")
    flights = list(_find_flights(lines, world, sender))
    if not flights:
        return []
    blocks = _split_blocks(lines, flights, _find_airport_codes(lines, world), dates)
    common = find_cabins(fold(text))
    legs_found = [_build_leg(b, common) for b in blocks]
    return _merge_repeats(
        [replace(g, cabin_class=g.cabin_class or world.only_cabin(g.airline or "")) for g in legs_found]
    )


def _split_blocks(lines: list[str], flights: list[_Flight], codes: list[list[str]], dates: MailDates) -> list[_Block]:
    """What belongs to which flight: its own line, its paragraph, or what lies between it and the next or the last.

    Where a day stands above the first flight and none below the last, days are headings of what follows them; where
    it is the other way round they follow their flight. Where neither is so, no day is certain.
    """
    starts = [at for at, _, _ in flights]
    ends = [*starts[1:], len(lines)]

    def split(spans: Iterable[tuple[int, int]]) -> list[_Block]:
        return [_read_block(lines[s:e], f, codes[s:e], dates) for (s, e), f in zip(spans, flights, strict=True)]

    lone = [[(0, len(lines))]] if len(flights) == 1 else []
    certain = [[(s, s + 1) for s in starts], [_find_paragraph(lines, s) for s in starts], *lone]
    for spans in certain:
        blocks = split(spans)
        if all(b.whole for b in blocks):
            return blocks
    after = split(zip(starts, ends, strict=True))
    before = split((s, e + 1) for s, e in zip([0, *(s + 1 for s in starts[:-1])], starts, strict=True))
    headed = _apply_heading_days(after, lines, starts, dates)
    above, below = _has_days(lines[max(0, starts[0] - 4) : starts[0]], dates), _has_days(lines[starts[-1] :], dates)
    ways = [after] if below and not above else [headed, before] if above and not below else [after, headed, before]
    best = max(ways, key=lambda blocks: sum(b.whole for b in blocks))
    if len(ways) == 3:
        best = [replace(b, days=[None]) for b in best]
    return best


def _has_days(lines: list[str], dates: MailDates) -> bool:
    return any(dates.find(small) for line in lines if not _OTHER_DAYS.search(small := fold(line)))


def _find_flights(lines: list[str], world: TravelFacts, sender: str) -> Iterator[_Flight]:
    """Line, airline and number of each flight, in the order they are named; each once in a row."""
    last = ""
    for at, line in enumerate(lines):
        small = fold(line)
        for airline, number in _find_designators(line, small, world) or _find_bare_number(line, small, world, sender):
            if (name := f"{airline}{number}") != last:
                last = name
                yield at, airline, number


def _find_designators(line: str, small: str, world: TravelFacts) -> list[tuple[str, str]]:
    designators = [
        (m[1], m[3])
        for m in _DESIGNATOR.finditer(line)
        if _is_flight_number(m, line, small, world) and (world.airline(m[1]) == m[1] or _FLIGHT_WORD.search(small))
    ]
    return designators or _find_icao_designators(line, small, world)


def _is_flight_number(m: re.Match[str], line: str, small: str, world: TravelFacts) -> bool:
    """Whether the line leaves no doubt that this is a flight's number and not some other text of its shape."""
    before, rest = line[: m.start()], line[m.end() :]
    if m[1] in ("AM", "PM") and not m[2]:
        return not re.search(r"\d{1,2}[:h.]\d{2}\s?$", before)
    if not m[2]:
        return True
    if m[1] in _ONLY_JOINED:
        return False
    if m[1] in _WORDS_AND_CODES:
        return bool(_RIGHT_BEFORE.search(fold(before)))
    begins = not before.strip() and any(True for _ in find_times(rest))
    alone = line.strip() == m[0] or _IDEOGRAPH.search(before) or world.airline(before.strip(" :-\t")[-40:]) == m[1]
    return bool(alone or begins or _FLIGHT_WORD.search(small) or _CODE.search(rest))


def _find_icao_designators(line: str, small: str, world: TravelFacts) -> list[tuple[str, str]]:
    """ "EZY8435", as some airlines write their flights to passengers too."""
    designators = []
    for m in _ICAO_DESIGNATOR.finditer(line):
        sure = line.strip() == m[0] or _FLIGHT_WORD.search(small) or not (m[2] or CONFIRMATION.search(small))
        code = None if m[1] in _NOT_AIRPORTS or m[1] in CODES else world.by_icao(m[1])
        if sure and code:
            designators.append((code, m[3]))
    return designators


def _find_bare_number(line: str, small: str, world: TravelFacts, sender: str) -> list[tuple[str, str]]:
    """ "Flight 117" of an airline named in the line or in the sender's name; or its name and number on their own."""
    if (alone := _NAMED.fullmatch(line.strip())) and (named := world.airline(alone[1])):
        return [(named, alone[2])]
    match = _NUMBER.search(small)
    if not match:
        return []
    airline = world.airline(line[: match.start()].strip(" :-\t")[-40:]) or world.airline(sender)
    return [(airline, match[1])] if airline else []


def _find_airport_codes(lines: list[str], world: TravelFacts) -> list[list[str]]:
    """The airports of each line, in the first of four ways of writing them that the text uses; else by their names."""
    for seek in (_find_bracketed, _find_paired, _find_timed, _find_labelled):
        codes = [[c for c in seek(line) if c not in _NOT_AIRPORTS and world.clock_of(c)] for line in lines]
        if sum(map(len, codes)) >= 2:
            return codes
    return _find_airports_by_name(lines, world)


def _find_airports_by_name(lines: list[str], world: TravelFacts) -> list[list[str]]:
    """Airports without their codes, on the lines that tell a time."""
    candidates = [at for at, line in enumerate(lines) if any(True for _ in find_times(fold(line)))][:_MAX_NAMED_LINES]
    codes = {at: code for at in candidates if (code := world.airport(lines[at]))}
    return [[codes[at]] if at in codes else [] for at in range(len(lines))]


def _find_bracketed(line: str) -> list[str]:
    return [a or b for a, b in _BRACKETS.findall(line)]


def _find_paired(line: str) -> list[str]:
    return [code for pair in _PAIR.findall(line) for code in pair]


def _find_timed(line: str) -> list[str]:
    return [a or b for a, b in _TIMED.findall(line)]


def _find_labelled(line: str) -> list[str]:
    return _CODE.findall(line) if _LABELLED.match(fold(line)) else []


def _find_paragraph(lines: list[str], at: int) -> tuple[int, int]:
    start, end = at, at + 1
    while start > 0 and lines[start - 1].strip():
        start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return start, end


def _read_block(lines: list[str], flight: _Flight, codes: list[list[str]], dates: MailDates) -> _Block:
    block = _Block(flight[1], flight[2])
    for line, here in zip(lines, codes, strict=True):
        small = fold(line)
        block.cabins |= find_cabins(small)
        block.later = next((int(m[1] or 1) for m in _NEXT_DAY.finditer(small)), block.later)
        block.airports += [c for c in here if c not in block.airports]
        if _OTHER_DAYS.search(small):
            continue
        block.days += [d.day for d in dates.find(small) if d.day is None or d.day not in block.days]
        block.times += find_times(small)
    return block


def _apply_heading_days(blocks: list[_Block], lines: list[str], starts: list[int], dates: MailDates) -> list[_Block]:
    """Flights under a day of their own line: such a day counts for those after it until the next."""
    heads: list[date | None] = []
    for line in lines:
        small = fold(line)
        line_days = dates.find(small) if not _OTHER_DAYS.search(small) else []
        heads.append(line_days[0].day if line_days else heads[-1] if heads else None)
    out = []
    for block, start in zip(blocks, starts, strict=True):
        head = heads[start]
        days: list[date | None] = [head] if head else block.days
        out.append(replace(block, airports=block.airports[:2], days=days))
    return out


def _build_leg(block: _Block, common: set[str]) -> BookedLeg:
    cabin = block.cabins if len(block.cabins) == 1 else common if not block.cabins and len(common) == 1 else set()
    two = len(block.airports) == 2
    clock = block.times if len(block.times) == 2 else []
    days = block.days if block.fits else []
    lands = days[-1] if len(days) > 1 else None
    if lands is None and block.later and clock and days and days[0]:
        lands = days[0] + timedelta(days=block.later)
    return BookedLeg(
        airline=block.airline,
        flight_number=f"{block.airline}{block.number}",
        origin=block.airports[0] if two else None,
        destination=block.airports[1] if two else None,
        departure_date=days[0] if days else None,
        departure_time=clock[0] if clock else None,
        arrival_date=lands,
        arrival_time=clock[1] if clock else None,
        cabin_class=next(iter(cabin)) if cabin else None,
    )


def _merge_repeats(read_legs: list[BookedLeg]) -> list[BookedLeg]:
    """A flight named twice, say in a summary and in detail, is one; the fuller account stays."""
    best: dict[tuple[str | None, date | None], BookedLeg] = {}
    for leg in read_legs:
        key = (leg.flight_number, leg.departure_date)
        if key not in best or _count_fields(leg) > _count_fields(best[key]):
            best[key] = leg
    dated = {name for name, day in best if day is not None}
    return [leg for (name, day), leg in best.items() if day is not None or name not in dated]


def _count_fields(leg: BookedLeg) -> int:
    return sum(v is not None for v in vars(leg).values())
