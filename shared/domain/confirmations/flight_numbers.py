"""Numbers of flights in the lines of a letter, told from types of aircraft, partners' numbers and other codes."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from shared.domain.confirmations.confirmation_labels import CONFIRMATION
from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.model import TravelFacts
from shared.domain.confirmations.phrases import find_cabins
from shared.domain.parsing.amounts import CODES
from shared.domain.parsing.dates import DATE, MONTH, find_times
from shared.domain.parsing.text import fold

_DESIGNATOR = re.compile(
    r"(?<![A-Za-z0-9./_+@-])([A-Z][A-Z0-9]|[0-9][A-Z])( {0,4}|-)0*(\d{1,4})[A-Z]?(?![A-Za-z0-9:.,/%-]\d"
    r"|[A-Za-z0-9%€$£°]|[ \d]{0,4}[*•·…]{2}|X{2,}|(?: \d{3}){2}(?![\d:])"  # a member's number, perhaps masked
    r"| {1,2}\d[ABD-HJLNP-UW-Z]{2}(?![A-Za-z0-9]))"  # "TW6 2JA" is a postcode
)
_ICAO_DESIGNATOR = re.compile(r"(?<![A-Za-z0-9])([A-Z]{3})( ?)0*(\d{2,4})[A-Z]?(?![A-Za-z0-9:.,/]\d|[A-Za-z0-9])")
_WORD = r"(?:flight|flug|vol|vuelo|volo|voo|vlucht|flt|flyg|便名|フライト)"
_FLIGHT_WORD = re.compile(rf"(?<![a-z]){_WORD}(?:nummer|nr\.?)?(?![a-z])")
_RIGHT_BEFORE = re.compile(rf"(?<![a-z]){_WORD}(?:nummer)?(?: ?(?:number|no\.|nr\.|n°|#))?\s{{0,4}}[:#\t]?\s{{0,40}}$")
_MOST_IN_LINE = 12
_SURE_DIGITS = 3
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]\s*$")  # an airline's name in its own letters
# Airline codes that are also words: with a space behind, they count only after the word "flight".
_WORDS_AND_CODES = frozenset(("AM", "PM", "TO", "BY", "OR", "IT", "UP", "ON", "IN", "AT", "IS", "IF", "MR"))
_ONLY_JOINED = frozenset(("NO", "ID", "NR", "CO"))  # "flight no 12", "flight ID 12"
# Others that stand before numbers now and then: with a space they want a flight's day, time or airport next to them.
_ALSO_WORDS = frozenset(
    re.findall(
        r"\w+",
        "AS DE LA LE EN EL AN AB SO DO DA ET ES BE OM UN IL AL NA SE TE ME WE HE MI MA SI LO",
    )
)
_NUMBER = re.compile(  # "Flight 1:" and "flight 1 of 2" count the flights
    rf"(?<![a-z]){_WORD}(?: ?(?:number|no\.?|nr\.?|#|nummer|n°))?\s?[:#\t]?\s?(?:# ?)?"
    r"0*(\d{1,4})\b(?! ?(?:hours?|min|stops?|h\b|of \d|/ ?\d|passe|von \d|de \d|days?))(?<!\D\d(?=:))"
)
_LABEL = re.compile(rf"^\W*{_WORD}(?:nummer)?(?: ?(?:number|no\.?|nr\.?|#|n°))?\W*$")
_ALONE = re.compile(r"^[ \t]*#?[ \t]*0*(\d{1,4})(?=[ \t]*$|[ \t]{2,}|\t)")
_NAMED = re.compile(r"(?:^|\t|  |\|)\s*([A-Za-z][A-Za-z ]{2,30}?) 0*(\d{1,4})\*?(?=\s*$|\t|  |\s*[|,(·•])", re.ASCII)
_AIRCRAFT = re.compile(
    r"(?:A ?(?:2[12]0|3[0-9]{2}|3[0-9])[A-Z]?|B ?7[0-9]{2}|B7[0-9]|E ?(?:1[3-9][05]|[19][057]|[79]0)"
    r"|CR[JKA] ?\d{1,4}|ERJ ?\d*"
    r"|ATR ?\d*|AT[4-7]\d?|DH8?[A-D]?\d*|MD ?[89]\d|RJ ?(?:70|85|1[H0]0?)|Q ?400|F ?(?:70|100)|SU ?95|SF ?340|CO2)"
)
_AIRCRAFT_NOUN = (
    r"(?:aircraft|airbus|boeing|embraer|equipment|bombardier|flugzeug\w*|appareil|avion|aeronave|aeromobile|aereo"
    r"|toestel\w*|vliegtuig\w*|fluggerat|機材|機種)(?: ?(?:type|typ|industrie))?"
)
_AIRCRAFT_WORD = re.compile(rf"{_AIRCRAFT_NOUN}[\s:\t-]*[\w .-]{{0,12}}$")
_GATE_WORD = re.compile(
    r"(?:\bgates?|\bporte|\bpuerta|\buscita|\bportao|\bflugsteig|\bausgang|搭乗口|ケート|\bstand|\bexit)[\s:#.]{0,3}$"
)
_AIRCRAFT_ABOVE = re.compile(rf"^\W*{_AIRCRAFT_NOUN}\W*$")
_PARTNER = re.compile(
    r"(?:operat(?:ed|ing|or)(?: (?:by|as|carrier|flight|airline))?|durchgefuhrt(?: (?:von|durch))?|ausgefuhrt von"
    r"|betrieben von|opere(?:e)?(?: par)?|(?:effectue|exploite|assure)e? par"
    r"|effettuat[oa] da|gestito da|flown by|realizado por|operad[oa](?: por)?|operat[oa](?: da)?|uitgevoerd(?: door)?"
    r"|opereras av|codeshare|code-share|also sold as|connecting (?:to|from)|運航(?:会社|便)?|共同運航(?:便)?)"
)
_PARTNER_ABOVE = re.compile(rf"{_PARTNER.pattern}\W*$")
_DAY_BEFORE = re.compile(
    r"^\W{0,4}(?:[A-Za-z]{2,3}\.?,? )?\d{1,2}\.? ?[A-Za-z]{3,4}\.?(?: ?(?:20)?\d{2})?\s"
)  # "So 14MRZ"
_PRINTED = re.compile(r"\s{0,4}[A-Z]?\s{1,4}\d{1,2}[A-Z]{3}(?![A-Z])")  # class and day, of a reservation system
_ONE_WORD = re.compile(r"\W*[^\W\d_]{2,20}[ \t:.#]{1,6}")
_CODE = re.compile(r"\(([A-Z]{3})\)")
_TAIL = re.compile(r"\s*(?:$|[|\t,;:(\[*•·-]|  )")  # what may stand behind a number that begins its line or cell


_DIRECTION_BEFORE = re.compile(  # "Heenvlucht HV 5131"
    r"(?<![a-z])(?:outbound|inbound|return|hinflug|ruckflug|hinreise|ruckreise|aller|retour|ida|vuelta|regreso|volta"
    r"|andata|ritorno|heenvlucht|terugvlucht|heenreis|terugreis|往路|復路)\W{0,3}$"
)
_MASKED = re.compile(r"[ -]?(?:\d+[ -]?)?(?:[*•●]{2}|[xX]{2}|…|\.{3})")  # the number of a traveller's account
_APART_BEFORE = re.compile(r"(?:^|[\t|,;(\[•·*:-]|  )\s*$")
_APART_BEHIND = re.compile(r"\s*(?:$|[\t|,;)\]•·*-]|  )")


_DAYS_OF_WEEK = frozenset(  # short, in the languages that shorten them to two or three letters
    re.findall(
        r"\w+",
        "MO TU WE TH FR SA SU DI MI DO SO LU MA ME JE VE JU VI GI WO VR ZA ZO MON TUE WED THU FRI SAT SUN LUN MAR MER"
        " JEU VEN SAM DIM MIE JUE VIE SAB DOM GIO TER QUA QUI SEX SEG DIE MIT DON FRE SON",
    )
)
_MONTH_BEHIND = re.compile(rf"[.,]?[ \t]{{0,3}}(?:de |di )?(?:{MONTH})(?![a-z])")


class FlightNumber(NamedTuple):
    """The place where a letter names a flight: line and place in it, airline and number."""

    line: int
    at: int
    airline: str
    number: str

    @property
    def name(self) -> str:
        return f"{self.airline}{self.number}"


def find_flight_numbers(lines: list[Line], world: TravelFacts, sender: str) -> list[FlightNumber]:
    """Every place at which a flight is named, in order. Bare numbers count where none has its airline's code."""
    own = world.airline(sender) or ""
    numbers = [n for at in range(len(lines)) for n in _find_designators(lines, at, world, own)]
    return numbers or [n for at in range(len(lines)) for n in _find_bare_numbers(lines, at, world, sender)]


def _find_designators(lines: list[Line], at: int, world: TravelFacts, own: str) -> Iterator[FlightNumber]:
    line = lines[at]
    if not any(map(str.isdigit, line.text)):
        return
    above = next((ln.small for ln in reversed(lines[max(0, at - 2) : at]) if not ln.blank), "")
    if _PARTNER_ABOVE.search(above) or _AIRCRAFT_ABOVE.search(above):
        return
    numbers = [
        FlightNumber(at, m.start(), m[1], m[3])
        for m in islice(_DESIGNATOR.finditer(line.text), _MOST_IN_LINE)
        if (_is_flight_number(m, line, world, own) or _heads_flight(m, lines, at, world))
        and (world.airline(m[1]) == m[1] or _RIGHT_BEFORE.search(line.small[: m.start()]))
    ]
    if "\t" in line.text and (head := _find_heading(lines, at)):
        numbers = [n for n in numbers if not _is_of_operator(head, line.text[: n.at].count("\t"))]
    yield from numbers or _find_icao_designators(line, at, world, own)


def _find_heading(lines: list[Line], at: int) -> list[str]:
    """The cells of the row without a digit that heads the table of a line."""
    for line in reversed(lines[max(0, at - _MOST_IN_LINE) : at]):
        if line.blank or "\t" not in line.text:
            return []
        if not any(map(str.isdigit, line.text)):
            return line.small.split("\t")
    return []


def _is_of_operator(head: list[str], column: int) -> bool:
    """Whether a column names the partner's number of the flight, next to one of the number that was sold."""
    return column < len(head) and bool(_PARTNER.search(head[column])) and any(not _PARTNER.search(h) for h in head)


def _is_flight_number(m: re.Match[str], line: Line, world: TravelFacts, own: str) -> bool:
    """Whether the line leaves no doubt that this is a flight's number and not some other text of its shape."""
    before, rest = line.text[: m.start()], line.text[m.end() :]
    small_before = line.small[: m.start()]
    if _is_day(m, line):
        return False
    if _MASKED.match(rest) or not _is_own_number(m[0], small_before, rest):
        return False
    if m[1] in ("AM", "PM") and not m[2]:
        return not re.search(r"\d{1,2}[:h.]\d{2}\s?$", before)
    if not m[2] and len(m[3]) > 1:
        return True
    if m[2] and m[1] in _WORDS_AND_CODES | _ONLY_JOINED:
        return _is_no_word(m, line, world, own)
    if _PRINTED.match(rest):
        return True
    begins = not _DAY_BEFORE.sub("", before, count=1).strip(" \t*•·-|>") and (
        _has_time(rest) or any(True for _ in world.places(rest[:60])) or DATE.match(line.small[m.end() :].lstrip())
    )
    follows_name = world.airline(before.strip(" :-\t*")[-40:]) == m[1]
    if (
        begins
        or follows_name
        or _DIRECTION_BEFORE.search(small_before)
        or _IDEOGRAPH.search(before)
        or _FLIGHT_WORD.search(line.small)
        or any(world.clock_of(code) for code in re.findall(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])", rest))
    ):
        return True
    if _fills_cell(m, line) or (m[1] == own and len(m[3]) > 1) or _PARTNER.match(fold(rest[:40]).strip(" \t|,(-")):
        return True
    return m[1] not in _ALSO_WORDS and bool(re.search(r"(?:^|[\t|•·*]|  | - )\s*$", before)) and _ends_well(rest)


def _heads_flight(m: re.Match[str], lines: list[Line], at: int, world: TravelFacts) -> bool:
    """Whether it is all of a line, or ends it behind one word, as "Lot LH 400" in whatever language, and two airports
    with their times stand in the lines below. A code that is also a word wants three digits."""
    line = lines[at]
    before = line.text[: m.start()]
    if line.text[m.end() :].strip() or (before.strip() and not _ONE_WORD.fullmatch(before)):
        return False
    if m[1] in _ONLY_JOINED or (m[1] in _WORDS_AND_CODES and before.strip()):
        return False
    if m[1] in _WORDS_AND_CODES | _ALSO_WORDS and sum(map(str.isdigit, m[0][2:])) < _SURE_DIGITS:
        return False
    if _is_day(m, line) or not _is_own_number(m[0], line.small[: m.start()], ""):
        return False
    below = [other.text for other in lines[at + 1 : at + _MOST_IN_LINE] if _has_time(other.text)][:2]
    codes = {code for text in below for code in _CODE.findall(text) if world.clock_of(code)}
    return len(below) == 2 and len(codes) == 2


def _is_day(m: re.Match[str], line: Line) -> bool:
    """Whether this is a day of the week and of the month: "FR 12 FEBRUAR", though FR is an airline too."""
    return m[1] in _DAYS_OF_WEEK and 1 <= int(m[3]) <= 31 and bool(_MONTH_BEHIND.match(line.small[m.end() :]))


def _is_no_word(m: re.Match[str], line: Line, world: TravelFacts, own: str) -> bool:
    """Whether "NO 2720" or "OR 1415" is a flight: behind its label, in a letter of that airline, or set apart from the
    rest of a line that tells a time and an airport."""
    small_before = line.small[: m.start()]
    if _RIGHT_BEFORE.search(small_before):
        return m[1] not in _ONLY_JOINED or bool(re.search(r"[:\t]\s*$", small_before)) or m[1] == own
    if len(m[3]) < 3 or not _APART_BEFORE.search(small_before) or not _APART_BEHIND.match(line.small[m.end() :]):
        return False
    if m[1] == own or ("\t" in line.text and _fills_cell(m, line) and _has_time(line.text)):
        return True
    return _has_time(line.text) and any(True for _ in world.places(line.text))


def _fills_cell(m: re.Match[str], line: Line) -> bool:
    """Whether it is all of its line, or all of a cell and no day such as "SA 14"."""
    if line.text.strip() == m[0]:
        return True
    alone = line.text[: m.start()].rstrip(" ").endswith(("\t", "|")) or not line.text[: m.start()].strip()
    return len(m[3]) > 2 and alone and line.text[m.end() :].lstrip(" ")[:1] in ("\t", "|", "")


def _ends_well(rest: str) -> bool:
    return bool(_TAIL.match(rest)) or bool(find_cabins(fold(rest[:40])))


def _is_own_number(text: str, before: str, rest: str) -> bool:
    """Neither a type of aircraft, nor a booking's number, nor that under which a partner operates the flight."""
    if any(not before[label.end() :].strip(" :#.\t*|([") for label in CONFIRMATION.finditer(before)):
        return False
    if _AIRCRAFT.fullmatch(text) or re.match(r"(?:-\d{2,3}|neo)\b", rest):
        return False
    if _AIRCRAFT_WORD.search(before) or _GATE_WORD.search(before[-16:]):
        return False
    partners = list(_PARTNER.finditer(before))
    between = before[partners[-1].end() :] if partners else ""
    return not partners or "\t" in between.rstrip("\t: ") or "|" in between


def find_operator(line: Line, world: TravelFacts) -> str | None:
    """The airline that a line says operates the flight."""
    match = _PARTNER.search(line.small)
    behind = re.split(r"[\t|(,;·]| - ", line.text[match.end() : match.end() + 60].lstrip(" :\t"))[0] if match else ""
    return world.airline(behind.strip(" .*/")) if behind.strip() else None


def _has_time(rest: str) -> bool:
    return any(True for _ in find_times(fold(rest)))


def _find_icao_designators(line: Line, at: int, world: TravelFacts, own: str) -> Iterator[FlightNumber]:
    """ "EZY8435", as some airlines write their flights to passengers too."""
    for m in _ICAO_DESIGNATOR.finditer(line.text):
        if _is_day(m, line) or not _is_own_number(m[0], line.small[: m.start()], line.text[m.end() :]):
            continue
        sure = (
            line.text.strip() == m[0]
            or _FLIGHT_WORD.search(line.small)
            or not (m[2] or CONFIRMATION.search(line.small))
        )
        code = None if m[1] in CODES else world.by_icao(m[1])
        behind = line.small[m.end() :]
        is_called_flight = behind.startswith("便") or _RIGHT_BEFORE.search(line.small[: m.start()]) or code == own
        if code and (
            is_called_flight or (sure and not world.clock_of(m[1]))
        ):  # "JAL515便", though JAL is an airport too
            yield FlightNumber(at, m.start(), code, m[3])


def _find_bare_numbers(lines: list[Line], at: int, world: TravelFacts, sender: str) -> Iterator[FlightNumber]:
    """ "Flight 117" of an airline named in the line or in the sender's name; or its name and number on their own."""
    line = lines[at]
    if not any(map(str.isdigit, line.text)):
        return
    for m in _NAMED.finditer(line.text):
        if (airline := world.airline(m[1])) and not _AIRCRAFT_WORD.search(m[1].lower()):
            yield FlightNumber(at, m.start(1), airline, m[2])
            return
    above = lines[at - 1].small if at else ""
    match = _NUMBER.search(line.small) or (
        _ALONE.match(line.small) if _LABEL.match(above.rsplit("\t", 1)[-1]) else None
    )
    if not match:
        return
    airline = world.airline(line.text[: match.start()].strip(" :-\t")[-40:]) or world.airline(sender)
    if airline and (len(match[1]) > 1 or len(sender) < 2):
        yield FlightNumber(at, match.start(1), airline, match[1])
