"""Hotel stays in the words of a confirmation: hotel, days, room type and the end of free cancellation."""

import itertools
import re
from dataclasses import dataclass
from datetime import date

from shared.domain.confirmations import prices
from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.hotel_names import find_hotel
from shared.domain.confirmations.mail_dates import Day, MailDates
from shared.domain.confirmations.model import BookedStay, Doubt, TravelFacts
from shared.domain.parsing.text import fold

_IN = (
    r"check[ -]?in(?: date)?|arrival(?: date)?|arriving(?: on)?|arrive"
    r"|anreise(?:datum|tag)?|ankunft|arrivee|date d'arrivee"
    r"|llegada|(?:fecha|data) d[ei] (?:entrada|llegada|chegada|arrivo)|dia de (?:entrada|llegada)"
    r"|entrada|chegada|arrivo|aankomst(?:datum)?|incheck(?:en|datum)?|チェックイン日?|こ?到着日?|宿泊日"
)
_OUT = (
    r"check[ -]?out(?: date)?|departure(?: date)?|departing|leaving(?: on)?|abreise(?:datum|tag)?|depart|date de depart"
    r"|(?:fecha|data) d[ei] (?:salida|saida|partida|partenza)|dia de salida|salida|saida|partida|partenza"
    r"|vertrek(?:datum)?|uitcheck(?:en|datum)?|チェックアウト日?|こ?出発日?"
)
_LABELS = re.compile(
    rf"(?:^|[\t|/]|\s\s|[-•]\s)[^\w\t]*(?:(?P<into>{_IN})|(?P<out>{_OUT}))(?![\w-])"
    r"(?! (?:opens|time|from \d|uhrzeit|policy))"
)
_CHECK = re.compile(r"check|チェック|宿泊")
_LABEL = re.compile(r"^[^:：\t]{2,40}[:：\t]")
_RANGE = re.compile(
    r"^\W*(?:stay(?: dates?)?|dates?(?: of stay)?|your stay|aufenthalt|reisezeitraum|sejour|estancia|estadia"
    r"|soggiorno|verblijf|宿泊期間|from|du|vom|von|del|dal|de|van)\b"
)
_NIGHT_WORD = re.compile(r"\b(?:nights?|nachte?n?|nuits?|noches?|noites?|nott[ei]|rooms?|zimmer|chambre|kamer)\b|泊")
_SHORT_RANGE = re.compile(
    r"\b(\d{1,2})\.?\s?(?:-|to|bis|au|al|tot)\s?(\d{1,2}\.?(?: de)? ([a-z]{3,12})\.?,?(?: de)? (\d{4}))\b"
    r"|\b([a-z]{3,12}) (\d{1,2})\s?(?:-|to)\s?(\d{1,2}), (\d{4})\b"
)
_ROOM = re.compile(
    r"^\W*(?:(?:your )?room(?: type| description| plan| category)?(?: 1)?"
    r"|(?:accommodation|bed) type|zimmer(?:typ|kategorie|art)?|type de chambre|chambre"
    r"|habitacion|tipo (?:de|di) (?:habitacion|camera|quarto)|camera|quarto|acomodacao|kamer(?:type)?"
    r"|お?部屋(?:タイフ)?|客室)"
    r"\s?[:：\t]\s*(\S.*)$"
)
_FREE_UNTIL = re.compile(
    r"cancel(?:l?ation|l?ing|l?ed)?\b[^.\n]{0,90}?\b(?:by|before|until|till|prior to|up to)\b|free cancell?ation"
    r"|kosten(?:los|frei)\w* (?:stornier\w*|bis)|stornier\w*[^.\n]{0,40}?\bbis\b"
    r"|\bbis\b[^!?\n]{0,60}?\b(?:kosten|gebuhren)(?:los|frei)\w* stornier"
    r"|\b(?:until|by|before|up to)\b[^!?\n]{0,60}?\bcancel (?:free|without|at no)"
    r"|jusqu.a(?:u|ux)?\b[^!?\n]{0,60}?\b(?:annul\w+ (?:gratuit|sans)|gratuit\w* annul|sans frais)"
    r"|\bhasta\b[^!?\n]{0,60}?\bcancel\w+ (?:gratis|gratuit|sin )|\bfino al?\b[^!?\n]{0,60}?\bcancell\w+ gratuit"
    r"|\btot\b[^!?\n]{0,60}?\b(?:gratis|kosteloos) annul"
    r"|annul\w+[^.\n]{0,60}?(?:jusqu|avant)|annulation (?:gratuite|sans frais)"
    r"|cancel\w*[^.\n]{0,60}?\b(?:hasta|antes del?|ate)\b|cancelacion gratuita|cancelamento gratuito"
    r"|cancella\w*[^.\n]{0,60}?\b(?:fino|entro)\b|cancellazione gratuita"
    r"|annuler\w*[^.\n]{0,60}?\b(?:tot|voor)\b|kosteloos annuleren"
)
_FREE_BEFORE = re.compile(  # Japanese puts the day before the verb
    r"まて.{0,6}無料|無料.{0,8}キャンセル|まて.{0,8}(?:キャンセル|取消)料.{0,4}(?:かかりません|発生しません|無料|不要)"
)
_NIGHTS = re.compile(
    r"(?:number of nights|nights|(?:anzahl (?:der )?)?nachte|(?:nombre de )?nuits|noches|noites|notti|nachten|泊数)"
    r"\s?[:：\t]\s?(?P<label>\d{1,2})\b"
    r"|\b(?P<plain>\d{1,2})[ -]?(?:nights?|nachte?n?|nuits?|noches?|noites?|nott[ei])\b"
    r"|(?P<ja>\d{1,2})泊"
)
_OTHER_NIGHTS = re.compile(r"cancel|storn|annul|charge|penalt|free|credit|earn|certificate|before|per night|pay|gratis")
# Lines that end the block of a stay: when and for how much it can be cancelled, and what it cost.
_TERMS = re.compile(r"cancel|storn|annul|refund|erstatt|rembours|reembols|rimbors|キャンセル|取消|\d[.,]\d{2}(?!\d)")
_OF_FLIGHTS = re.compile(
    r"\b(?:air|airlines?|airways|flights?|flug\w*|fluge|vols?|vuelos?|vol[oi]|voos?|vluch\w*|depart(?:s|ed)?|abflug|boarding"
    r"|trip|package|gesamtreise|reisepreis|pauschal\w*|voyage|viajes?|viaggio|viagem|reissom)\b|便名|航空"
)
_FLIGHT_NUMBER = re.compile(r"\b(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}\b")
_HEADER_LINES = 5  # below a row of labels, in which their days stand
_MAX_STAYS = 12


@dataclass(frozen=True)
class _Entry:
    into: bool
    hotel: bool  # its label is of hotels alone
    day: Day
    line: int


@dataclass(frozen=True)
class _Span:
    """The days of one stay and the lines they stand in."""

    arrives: date | None
    leaves: date | None
    first: int
    last: int


def read_stays(text: str, subject: str, dates: MailDates, world: TravelFacts, sender: str = "") -> list[BookedStay]:
    """The stays of a text: those of which it names the day of arrival and the one of leaving."""
    lines = [line for line in text.split("\n") if line.strip()]
    spans = _find_spans(lines, dates)[:_MAX_STAYS] or _find_ranges(lines, dates)
    return _read_spans(lines, spans, (subject, sender), dates, world)


def read_stays_beside_flights(text: str, dates: MailDates, world: TravelFacts) -> list[BookedStay]:
    """The stays of a letter that also states flights, whose arrivals and departures are none of a hotel."""
    lines = [line for line in text.split("\n") if line.strip()]
    spans = _find_spans(lines, dates, hotels_only=True)[:_MAX_STAYS]
    stays = _read_spans(lines, spans, ("", ""), dates, world)
    paragraphs = [[line for line in p.split("\n") if line.strip()] for p in re.split(r"\n[ \t]*\n", text)]
    starts = [0, *itertools.accumulate(map(len, paragraphs))]
    for stay, span in zip(stays, spans, strict=True):
        block = lines[max(n for n in starts if n <= span.first) : min(n for n in starts if n > span.last)]
        if len(spans) == 1:
            stay.free_cancellation_until = _find_free_until(_cut_flights(lines[span.first :]), dates, span.leaves)
        if not any(_OF_FLIGHTS.search(fold(line)) or _FLIGHT_NUMBER.search(line) for line in block):
            _set_own_number(stay, block, world)
    return [stay for stay in stays if stay.hotel_name]


def _cut_flights(lines: list[str]) -> list[str]:
    """The lines up to the first that speaks of a flight or of the whole journey."""
    return list(itertools.takewhile(lambda line: not _OF_FLIGHTS.search(fold(line)), lines))


def _set_own_number(stay: BookedStay, block: list[str], world: TravelFacts) -> None:
    """The number and the price that stand in one paragraph with the days of the stay."""
    own = "\n".join(block)
    if number := find_confirmation(Text(own, "", "", False, None)):  # without one the price may be that of the journey
        stay.confirmation_number = number
        _set_own_price(stay, own, world)


def _read_spans(
    lines: list[str], spans: list[_Span], around: tuple[str, str], dates: MailDates, world: TravelFacts
) -> list[BookedStay]:
    if len(spans) < 2:
        return [_read_stay(lines, (0, len(lines)), span, around, dates, world) for span in spans]
    out = []
    for at, span in enumerate(spans):
        start = _find_start(lines, spans[at - 1].last + 1 if at else 0, span.first)
        end = _find_start(lines, span.last + 1, spans[at + 1].first) if at + 1 < len(spans) else len(lines)
        stay = _read_stay(lines[:end], (start, end), span, ("", ""), dates, world)
        block = "\n".join(lines[start:end])
        stay.confirmation_number = find_confirmation(Text(block, "", around[1], False, None))
        _set_own_price(stay, block, world)
        out.append(stay)
    if not all(stay.original_points or stay.cash_total for stay in out):  # the one price may be that of all
        for stay in out:
            stay.original_points = stay.cash_total = stay.cash_rate_currency = None
    return out


def _find_start(lines: list[str], start: int, end: int) -> int:
    """Where the block of a stay begins: at the last line above its days that is a title, else right at the start."""
    numbered = [at for at in range(start, end) if re.match(r"\W*\d{1,2}[.)]\s+\D", lines[at])]
    others = [at for at in range(start, end) if not _LABEL.match(lines[at]) and not _TERMS.search(fold(lines[at]))]
    titles = [at for at in others if not re.search(r"[.!?]\s*$", lines[at])]
    return (numbered or titles[-2:] or [start])[0]


def _read_stay(
    lines: list[str], block: tuple[int, int], span: _Span, around: tuple[str, str], dates: MailDates, world: TravelFacts
) -> BookedStay:
    start, end = block
    own = lines[start:end]
    hotel = find_hotel(lines[start : span.first], lines[span.first : end], *around, world)
    stay = BookedStay(
        hotel_id=hotel.id,
        hotel_name=hotel.name,
        free_cancellation_until=_find_free_until(own, dates, span.leaves),
        room_type=_find_room(own),
    )
    if hotel.candidates:
        stay.doubts.append(Doubt("hotel_name", "Several lines may be the hotel's name.", hotel.candidates))
    if span.arrives and span.leaves and span.arrives < span.leaves:
        stay.check_in_date, stay.check_out_date = span.arrives, span.leaves
        _check_nights(stay, own, (span.leaves - span.arrives).days)
    return stay


def _check_nights(stay: BookedStay, lines: list[str], nights: int) -> None:
    """The number of nights the letter names has to be that of its days."""
    stated: set[int] = set()
    for line in (line for line in lines if re.search(r"\d", line)):
        small = fold(line)
        if not _OTHER_NIGHTS.search(small):
            stated |= {int(m["label"] or m["plain"] or m["ja"]) for m in _NIGHTS.finditer(small)}
    if stated and nights not in stated:
        reason = "The number of nights the letter names is not that of its days."
        days = f"{stay.check_in_date} to {stay.check_out_date}"
        stay.doubts.append(Doubt("check_out_date", reason, (*(f"{n} nights" for n in sorted(stated)), days)))
        stay.check_out_date = None


def _find_spans(lines: list[str], dates: MailDates, hotels_only: bool = False) -> list[_Span]:
    entries = [e for e in _find_labelled_days(lines, dates) if e.hotel or not hotels_only]
    if not _has_own_numbers(entries, lines):
        entries = _drop_repeats(entries)
    into, out = ([e for e in entries if e.into is side] for side in (True, False))
    if not into or not out:
        return []
    if len(into) != len(out):
        return [_Span(None, None, min(e.line for e in entries), max(e.line for e in entries))]
    return [
        _Span(a.day.day, b.day.day, min(a.line, b.line), max(a.line, b.line)) for a, b in zip(into, out, strict=True)
    ]


def _has_own_numbers(entries: list[_Entry], lines: list[str]) -> bool:
    """Whether each day of arrival stands below a confirmation number of its own, as those of several rooms do."""
    starts = [0, *(e.line for e in entries if e.into)]
    blocks = ["\n".join(lines[a:b]) for a, b in itertools.pairwise(starts)]
    numbers = [find_confirmation(Text(block, "", "", False, None)) for block in blocks]
    return len(numbers) > 1 and None not in numbers and len(set(numbers)) == len(numbers)


def _drop_repeats(entries: list[_Entry]) -> list[_Entry]:
    """Each day once for each side: a summary and the details name the same stay."""
    unique: dict[tuple[bool, date | None], _Entry] = {}
    for entry in entries:
        unique.setdefault((entry.into, entry.day.day), entry)
    return list(unique.values())


def _find_labelled_days(lines: list[str], dates: MailDates) -> list[_Entry]:
    """The days behind their labels, on the same line, in the row below, or on the line below."""
    entries: list[_Entry] = []
    for at, line in enumerate(lines):
        small = fold(line)
        if not (labels := list(_LABELS.finditer(small))):
            continue
        ends = [*(m.start() for m in labels[1:]), len(small)]
        pieces = [small[m.end() : end] for m, end in zip(labels, ends, strict=True)]
        days = [dates.first(piece) for piece in pieces]
        if not any(days) and not re.search(r"[^\W_]", "".join(pieces)):
            days = _find_days_below(lines[at + 1 : at + 1 + _HEADER_LINES], len(labels), dates)
        entries += [
            _Entry(m["into"] is not None, bool(_CHECK.search(m[0])), day, at)
            for m, day in zip(labels, days, strict=True)
            if day
        ]
    return entries


def _find_days_below(lines: list[str], count: int, dates: MailDates) -> list[Day | None]:
    """The days of a row of labels, in its order: in the lines below, up to the next label."""
    days: list[Day | None] = []
    for line in lines[: _HEADER_LINES if count > 1 else 2]:
        small = fold(line)
        if _LABELS.search(small) or (_LABEL.match(line) and not dates.first(small)):
            break
        days += dates.find(small)
        if len(days) >= count:
            return days[:count]
    return [None] * count


def _find_ranges(lines: list[str], dates: MailDates) -> list[_Span]:
    """ "Stay: 4 May 2026 - 7 May 2026", "Du 28/12/2026 au 29/12/2026" in a letter that speaks of nights or rooms."""
    if not any(_NIGHT_WORD.search(fold(line)) for line in lines):
        return []
    for at, line in enumerate(lines):
        small = _SHORT_RANGE.sub(_write_out_range, fold(line))
        days = dates.find(small)
        if len(days) == 2 and (_RANGE.match(small) or _NIGHT_WORD.search(small)):
            return [_Span(days[0].day, days[1].day, at, at)]
    return []


def _write_out_range(match: re.Match[str]) -> str:
    if match[1]:
        return f"{match[1]} {match[3]} {match[4]} - {match[2]}"
    return f"{match[5]} {match[6]}, {match[8]} - {match[5]} {match[7]}, {match[8]}"


def _find_free_until(lines: list[str], dates: MailDates, leaves: date | None) -> date | None:
    for line in lines:
        small = fold(line)
        day = None
        if match := _FREE_UNTIL.search(small):
            day = dates.first(small[match.start() :])
        elif _FREE_BEFORE.search(small):
            day = dates.first(small)
        if day and day.day and (leaves is None or day.day <= leaves):
            return day.day
    return None


def _find_room(lines: list[str]) -> str | None:
    """What a label calls the room; a mere number of rooms is none."""
    for line in lines:
        if (match := _ROOM.match(fold(line))) and re.search(r"[^\W\d_]{3}", line[match.start(1) :]):
            return to_one_line(line[match.start(1) :].split("\t")[0], 120)
    return None


def _set_own_price(stay: BookedStay, block: str, world: TravelFacts) -> None:
    """The price of one of several stays, where its own lines name one."""
    price = prices.find_price(block, world)
    if price.points is not None and not (price.doubts or price.repeated or price.both):
        stay.original_points = price.points
    elif price.cash is not None and price.currency and not price.doubts:
        stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
