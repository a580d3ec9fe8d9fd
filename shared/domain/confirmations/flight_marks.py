"""The days and clock times of a letter, each at its place, and what they are said of."""

import re
from dataclasses import dataclass, field
from datetime import date, time
from typing import NamedTuple

from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.mail_dates import DateMention, MailDates
from shared.domain.parsing.dates import find_placed_times

# Days a letter names that are none of its flights: of a payment, a limit, an offer, an earlier booking.

OTHER_DAYS = re.compile(
    r"issue|issued|booked on|date booked|booked:"
    r"|booking date|date of booking|date of change|purchase|payment|paid on|expir|valid|birth"
    r"|cancel|refund|deadline|receipt date|invoice|ticketed"
    r"|ausgestellt|gebucht am|buchungsdatum|check-?in opens|return by|member since|last updated|sent:|printed"
    r"|date d'emission|date de reservation|fecha de emision|fecha de reserva|fecha de compra|data di emissione"
    r"|data (?:della )?prenotazione|data de emissao|data da reserva|boekingsdatum"
    r"|date d'achat|data (?:di acquisto|da compra|d'acquisto)|aankoopdatum|geboekt op|kaufdatum"
    r"|発行日|予約日|購入日|申込日|購入期限|領収|\bbis zum\b"
    r"|\bpaid (?:with|by)|charged|bezahlt|\bpaye(?:e|s)? (?:par|avec)|\bpagad[oa]|\bpagat[oa]|betaald"
    r"|rechnung|\bfactur[ae]\b|\bfattura|\bfatura|factuur"
    r"|(?:previous|earlier|former|past) (?:booking|reservation)|(?:fruhere|vorherige|letzte) buchung"
    r"|reservation (?:precedente|anterieure)|reserva anterior|prenotazione precedente|(?:vorige|eerdere) boeking|前回"
)
# Up to when an offer or a rate holds: the one such day of a line is none of a flight.
_LIMIT = re.compile(
    r"\b(?:until|before|by|bis|vor|jusqu'au|avant|hasta|antes del?|fino al|entro|ate|tot(?: en met)?|t/m|voor)"
    r"(?: (?:the|dem|den|zum|le|el|il|dia|ao?))? (?:[^\W\d]{2,13}\.?,? )?$"
)
_LIMIT_BEHIND = re.compile(r"[\d日]{0,3}\s?(?:\(.\))?\s?まて")


def drop_limit(bare: str, spans: list[DateMention]) -> list[DateMention]:
    """The days of a line; none where its only one is that up to which an offer holds."""
    lone = len(spans) == 1 and (
        _LIMIT.search(bare[: spans[0].start][-40:]) or _LIMIT_BEHIND.match(bare[spans[0].end :])
    )
    return [] if lone else spans


_NEXT_DAY = re.compile(
    r"\d[:h.]\d{2}(?: ?[ap]\.?m\.?| ?uhr| ?h)?,?[ \t*]{0,3}\(?(?:\+ ?([12])(?!\d| ?(?:stop|bag))(?: ?(?:day|tag"
    r"|jour|dia|giorn|dag)\w*)?"
    r"|(?:the )?next day|(?:am )?(?:nachsten|folgenden) tag|nachster tag|folgetag|(?:le |el |il |del? "
    r"|d[ao] )?(?:lendemain|dia siguiente"
    r"|jour suivant|giorno (?:successivo|dopo)|dia seguinte|volgende dag)|翌日)|翌日\s?\d{1,2}[:]\d{2}"
)
_ARRIVES_ON = re.compile(
    r"(?:\b(?:arriv(?:al|es?|ing|ee|o|era?|ant|o)|lands?|landing|ankunft|an(?:kommt|komst)|landet|landung|llega(?:da)?"
    r"|aterriza(?:je)?|chega(?:da)?|aankomst|landt|atterrissage|atterraggio|aterragem)(?: date|s?datum)?"
    r"|到着日?|着)"
    r"\s?[:,|\t]?\s?(?:(?:on|am|le|el|il|em|op|next day|the next day|le lendemain|am nachsten tag"
    r"|al dia siguiente|il giorno dopo|no dia seguinte|de volgende dag)\b[:,]?\s?)?[(]?(?:[a-z-]{2,13}\.?,? )?$"
)
_HEAD = re.compile(
    r"\b(?:outbound|inbound|return(?:ing)?|departing flight|flight \d|segment \d|going out|coming back|hinflug"
    r"|ruckflug"
    r"|hinreise|ruckreise|aller|retour|ida|vuelta|regreso|andata|ritorno|volta|heenreis|terugreis|heenvlucht"
    r"|terugvlucht|utresa|hemresa|outward|onward journey"
    r"|(?:leg|trip|journey|flug|vol|vuelo|volo|voo|vlucht|trecho|tramo|tratta|trajet|etape|segmento|strecke|teilstrecke"
    r"|abschnitt|traject) \d(?!\d))\b|往路|復路|区間|第\d便"
)


_PLAIN_TIMES = re.compile(
    r"(?<![\w.:/-])(\d{3,4})([apn]?)[ \t]+([#+*])?(\d{3,4})([apn]?)(?![\w:/])(?:[ \t]*\+([12]))?(?![\w:/.-])"
)
_TWO_TIMES = re.compile(r"\d[:.h]\d{2}(?!\d)[^\n]{0,150}\d[:.h]\d{2}(?: ?[ap]\.?m\.?| ?uhr| ?h)? ?\($")
_ONLY_TIMES = re.compile(r"^\s*\d{3,4}[apn]?\s{2,}\d{3,4}[apn]?(?:\s*\+[12])?\s*$")
_LEAVES_OR_LANDS = re.compile(  # "LV LONDON HEATHROW LHR   1025A"
    r"^\s*(?:lv|ar|dep|arr|depart|arrive|leave)\b[^\d\n]{2,60}?\b(\d{3,4})([apn])(?![\w:/.-])"
)


class Mark(NamedTuple):
    """A day or a clock time at one place of a letter."""

    line: int
    at: int
    value: date | time | None


@dataclass
class LetterMarks:
    """What a letter's lines hold, for all arrangements alike."""

    lines: list[Line]
    days: list[list[Mark]] = field(default_factory=list)
    times: list[list[Mark]] = field(default_factory=list)
    leaps: dict[tuple[int, int], int] = field(default_factory=dict)  # days later, by line and place of a time
    heads: list[Mark | None] = field(default_factory=list)  # for each line the last day named in it or above it
    landings: set[Mark] = field(default_factory=set)  # days that are said to be those of an arrival
    limits: dict[tuple[int, ...], int] = field(default_factory=dict)  # where the last flight's part ends, as computed

    @classmethod
    def scan(cls, lines: list[Line], dates: MailDates, flown: set[int]) -> "LetterMarks":
        """`flown`: the lines that name a flight, where times may stand without a colon."""
        letter = cls(lines)
        for at, line in enumerate(lines):
            digits = any(map(str.isdigit, line.bare))
            counts = digits and not OTHER_DAYS.search(line.bare) and not _is_below_label(lines, at)
            spans = drop_limit(line.bare, dates.find(line.bare)) if counts else []
            letter.days.append([Mark(at, d.start, d.day) for d in spans])
            letter.times.append(letter._find_times(at, spans, flown, counts) if digits else [])
            if digits:
                letter._find_leaps(at)
            head = letter.heads[-1] if letter.heads else None
            landings = {m for m in letter.days[-1] if letter._is_of_landing(m)}
            letter.landings |= landings
            own = [m for m in letter.days[-1] if m not in landings]
            # "10 Mar - 17 Mar" heads a journey there and back, and no flight of it.
            several = len({m.value for m in own}) > 1
            letter.heads.append(Mark(at, 0, None) if several else own[0] if own else head)
        return letter

    def _find_times(self, at: int, spans: list[DateMention], flown: set[int], counts: bool) -> list[Mark]:
        """The clock times of a line; `counts`: whether it tells of a flight at all."""
        bare = self.lines[at].bare
        for d in spans:
            bare = bare[: d.start] + " " * (d.end - d.start) + bare[d.end :]
        times = list(find_placed_times(bare)) if counts else []
        if not times and (at in flown or _is_printed_below(bare, spans, at, flown)):
            times, later = _find_plain_times(bare)
            self.leaps |= {(at, times[1][1]): later} if later else {}
        elif not times and counts and (match := _LEAVES_OR_LANDS.match(bare)):
            clock = _read_plain_time(match[1], match[2])
            times = [(clock, match.start(1))] if clock else []
        return [Mark(at, start, clock) for clock, start in times]

    def _find_leaps(self, at: int) -> None:
        """Notes the times of a line next to which it says that they are of a later day."""
        for m in _NEXT_DAY.finditer(self.lines[at].bare):
            if m[0].startswith("翌"):
                mark = next((t for t in self.times[at] if t.at > m.start()), None)
            else:
                mark = next((t for t in reversed(self.times[at]) if t.at <= m.start()), None)
            if mark:
                self.leaps[at, mark.at] = int(m[1] or 1)

    def _is_of_landing(self, mark: Mark) -> bool:
        """Whether a day is said to be that of an arrival, or stands behind "07:10 +1" and is as much later."""
        before = self.lines[mark.line].bare[: mark.at]
        if _is_of_landing(before):
            return True
        if not isinstance(mark.value, date) or len(self.days[mark.line]) > 1:
            return False
        if self._is_below_arrival(mark.line, mark.value, before):
            return True
        for n in range(mark.line, max(-1, mark.line - 5), -1):
            times = [t for t in self.times[n] if n < mark.line or t.at < mark.at]
            if self.lines[n].blank or (n == mark.line and len(times) < len(self.times[n])):
                return False
            if times:
                leap, head = self.find_leap(times[-1]), self.heads[n - 1] if n else None
                head = self.heads[n] if n < mark.line else head
                return bool(leap) and self._is_later(mark.value, head, leap)
        return False

    def _is_below_arrival(self, at: int, day: date, before: str) -> bool:
        """Whether a day stands below the second time of a journey that a heading dates one day earlier."""
        above = next((n for n in range(at - 1, max(-1, at - 3), -1) if not self.lines[n].blank), None)
        head = self.heads[above] if above is not None else None
        if above is None or head is None or not isinstance(head.value, date) or (day - head.value).days != 1:
            return False
        times = sum(len(self.times[n]) for n in range(head.line, at)) if at - head.line < 12 else 0
        is_alone = len(self.times[above]) == 1 and len(self.lines[above].text.strip()) <= 10
        return times == 2 and is_alone and len(before.split()) < 2 and self.find_direction(head.line) is not None

    def _is_later(self, day: date, head: Mark | None, leap: int) -> bool:
        earlier = [m.value for m in (head, max(self.landings, default=None)) if m]
        return any(isinstance(d, date) and (day - d).days == leap for d in earlier)

    def find_leap(self, mark: Mark) -> int:
        """How many days later than it heads them the letter says a time is."""
        return self.leaps.get((mark.line, mark.at), 0)

    def find_direction(self, at: int) -> int | None:
        """The line such as "Outbound" that this one is, or that its day stands below."""
        if _HEAD.search(self.lines[at].small):
            return at
        above = next((n for n in range(at - 1, max(-1, at - 3), -1) if not self.lines[n].blank), None)
        if above is None or not self.days[at] or len(self.lines[above].text) > 60:
            return None
        return above if _HEAD.search(self.lines[above].small) else None

    def is_heading(self, at: int) -> bool:
        """A line that can begin what is said of a flight: a day on its own, or "Outbound"."""
        line = self.lines[at]
        short = len(line.text.strip()) <= 60
        return short and ((bool(self.days[at]) and not self.times[at]) or bool(_HEAD.search(line.small)))


def _is_of_landing(before: str) -> bool:
    """ "Arrives on 2 June", or "17:45 Newark 07:40 (2 June)": in brackets behind the second time of a line."""
    if _ARRIVES_ON.search(before[-40:]):
        return True
    return before.endswith("(") and bool(_TWO_TIMES.search(before[-200:]))


def find_days_later(bare: str) -> int:
    """How many days after it leaves a line says the flight lands; 0 where it says nothing of it."""
    match = _NEXT_DAY.search(bare)
    return int(match[1] or 1) if match else 0


# The state of the flight above, and no label of the day below it.
_STATE = re.compile(r"\W*(?:[a-z]+\s?:\s*|flight )?(?:cancell?ed|cancelad[oa]|refunded|ticketed|expired)\W*")


def _is_below_label(lines: list[Line], at: int) -> bool:
    """A day right below a label such as "Date of issue" is none of a flight."""
    if len(lines[at].text.strip()) > 30:
        return False
    above = next((lines[n].small for n in range(at - 1, max(-1, at - 4), -1) if not lines[n].blank), "")
    return (
        len(above) <= 40
        and "\t" not in above
        and not any(map(str.isdigit, above))
        and bool(OTHER_DAYS.search(above))
        and not _STATE.fullmatch(above)
    )


def _is_printed_below(bare: str, spans: list[DateMention], at: int, flown: set[int]) -> bool:
    """Whether a line may tell the times of the flight named right above it: with its day, or nothing but times."""
    return not flown.isdisjoint(range(at - 2, at)) and (bool(spans) or bool(_ONLY_TIMES.match(bare)))


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
