"""The confirmation number of a letter: the one its lines or its subject call so."""

import re
from collections.abc import Iterator
from functools import lru_cache

from shared.domain.confirmations.confirmation_labels import AIRLINE, BARE, CONFIRMATION, ORDER
from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.forwarding import Text
from shared.domain.parsing.text import fold

# What may stand between a label and its number: whose number it is, "is", signs, and the airline's code.
_GAP = re.compile(
    r"^(?:[- ]?\(?pnr\)?|\))?"
    r"(?:\s?\([^()\d\n]{1,40}\)|\s(?:[^\d:：\t\n]{1,48})(?=[:：\t])|(?: [a-z]{2,12}){1,3}(?=\s?:))?"
    r"[\s:：#.\t|*\[\](>】」=-]*(?:(?:is|ist|lautet|luidt|was|est|es|e|è|é|var|:)(?![A-Za-z0-9])[\s:：#\t]*)?[\s*\[(#]*"
    r"(?:(?:nr|no|n)\.?[°º]?[ :]\s?|[A-Z0-9]{2}/(?=[A-Z0-9]{6}\b)|[a-z]{2,12}: ?(?=[A-Z0-9]{6}\b))?",
    re.I,
)
_NUMBER = re.compile(
    r"([A-Z]{1,5}/\d{2,8}(?:/\d{1,8})?|[A-Z0-9][A-Z0-9-]{3,24}(?:/[A-Z0-9]{1,8}(?:/\d{1,6})?)?)(?![A-Za-z0-9])", re.I
)
_OTHER_OWNER = re.compile(
    r"ticket|passag|passeng|guest|gast|date|datum|fecha|phone|\btel\b|kunde|custom|member|vat|tax|pin"
)
# "Your previous booking K8PLM2": not the one the letter is about.
_EARLIER_BEFORE = re.compile(
    r"(?:\b(?:previous|earlier|former|past|fruhere[nrs]?|vorherige[nrs]?|letzte[nrs]?|vorige|eerdere)|前回の?こ?|以前の?こ?)\s*$"
)
_EARLIER_BEHIND = re.compile(r"^\s?(?:precedente|anterior|anterieure)\b")
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[A-Za-z]{3}(?:\d\d){0,2}"
    r"|(?:19|20)\d\d"
)
_PHONE = re.compile(r"0\d{1,4}-\d{2,4}-\d{3,4}")
_FLIGHT = re.compile(r"(?:[A-Z]{2}|[A-Z]\d|\d[A-Z])\d{2,4}")
_SPACED = re.compile(r"(\d{3,4}(?: \d{3,4}){1,3})(?![\d ]\d)")
_DOTTED = re.compile(r"(\d{3,4}(?:\.\d{3}){2})(?![\d.]\d)")
_IN_SUBJECT = re.compile(
    r"#\s?([A-Z0-9-]{5,20})\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])([A-Z0-9]{6,12})\b|[\[(:]\s?([A-Z]{6})\b"
    r"|(?<![\d-])(\d{7,14}|\d{3,5}-\d{4,7})(?![\d-])"
)
_OF_AGENCY, _LOCATOR = re.compile(r"\d{5,}"), re.compile(r"(?=.*[A-Z])[A-Z0-9]{6}")
_WITH_LETTERS = re.compile(r"^(?=.*\d)[A-Z0-9/-]+$|^[A-Z]{5,8}$|^(?=(?:.*\d){2})(?=.*[A-Za-z])[A-Za-z0-9]{6,25}$")
# Six letters behind a label that are a word of the letter and no number.
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "NUMBER DETAILS STATUS FLIGHT PLEASE TRAVEL ONLINE TICKET RECEIPT MANAGE BOOKING SUMMARY AIRLINE"
        " CONTACT POLICY HELP CODES DATE HOTEL VERIFY CHECK GUEST TOTAL CONFIRM THANK CANCEL CHANGE BELOW"
        " HISTORY PASSENGER",
    )
)
# "Your booking HKM7RX is confirmed.", "votre réservation n° 88213 du 4 mai"
_IN_SENTENCE = re.compile(
    r"\b(?i:booking|reservation|buchung|reservierung|réservation|reserva|reservación|prenotazione|boeking|reservering"
    r"|confirmation|予約) \(?#?((?=[A-Z0-9-]*\d{4})[A-Z0-9-]{5,20}(?![\w/])|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{6}(?!\w)"
    r"|[A-Z0-9]{6}(?=\)?[.,]|\)? (?i:is|has|was"
    r"|ist|wurde"
    r"|est|a été|a bien"
    r"|está|ha|se ha|fue|queda|quedó|è|foi|ficou|werd|zijn|for|für|pour|para|per|voor|at|im|in|du|del|vom)\b|\)?$))"
)
# "LH1124 K 10MAR 3 FRABCN HK1  0955 1200  10MAR  E  LH/XK7PQT": the airline's number behind a flight.
_OF_SEGMENT = re.compile(r"^.*(?<![A-Z])[A-Z]{6} ?\*?[A-Z]{2}\d{1,2}\s.*\s[A-Z0-9]{2}/([A-Z0-9]{6})\s*$")
_LONGEST = 300
# One of these is in every label: most lines hold none, and need not be searched for each label.
_PARTS = (
    *(
        "book",
        "bokn",
        "reserv",
        "confirm",
        "conf",
        "conferma",
        "ref",
        "itiner",
        "trip",
        "record",
        "pnr",
        "loca",
        "buch",
    ),
    *(
        "bestatig",
        "auftrag",
        "vorgang",
        "reis",
        "boek",
        "bevestig",
        "dossier",
        "prenot",
        "pratica",
        "expedient",
        "viaje",
    ),
    *("viagem", "voyage", "file", "riferimento", "kenmerk", "processo", "order", "purchase", "transact", "voucher"),
    *("bestel", "commande", "pedido", "compra", "ordine", "bono", "予約", "受付", "申", "旅程", "手配", "照会", "確認"),
    *("注文", "問", "管理", "整理", "预", "預", "订", "訂", "确认", "確認", "rezerw", "rezerv", "numer", "kod", "onay"),
    *("брон", "заказ", "номер", "예약", "확인", "bestilling", "bekr", "foglal", "visszaig", "varau", "vahvist"),
    *(
        "κρατησ",
        "επιβεβ",
        "حجز",
        "تاكيد",
        "dat cho",
        "dat ve",
        "dat phong",
        "xac nhan",
        "จอง",
        "ยืนยัน",
        "הזמנה",
        "אישור",
        "броню",
    ),
)


def find_confirmation(text: Text) -> str | None:
    """The one number the mail calls so; with several the first, as airlines put their own before those of partners."""
    lines = to_plain(text.body).split("\n")
    subject = to_plain(text.subject)
    # A reservation system prints the number behind each flight.
    segments = {match[1] for line in lines if len(line) < 120 and (match := _OF_SEGMENT.match(line))}
    return (
        _find_labelled(lines, AIRLINE)
        or _prefer_locator(list(_list_labelled(lines, CONFIRMATION)))
        or (segments.pop() if len(segments) == 1 else None)
        or _find_in_sentence([*lines, subject])
        or _find_in_subject(subject)
        or next((n for n in _list_labelled(lines, BARE) if re.search(r"\d", n) and not _FLIGHT.fullmatch(n)), None)
    )


def _prefer_locator(numbers: list[str]) -> str | None:
    """The first; where that is digits alone, as agencies count, the airline's code if another line has one."""
    if numbers and _OF_AGENCY.fullmatch(numbers[0]):
        return next((number for number in numbers if _LOCATOR.fullmatch(number)), numbers[0])
    return next(iter(numbers), None)


def find_order(text: Text) -> str | None:
    """The number under which a shop sold the booking, for a letter that names no other."""
    return _find_labelled(to_plain(text.body).split("\n"), ORDER)


def list_numbers(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """All that lines call the number of a booking: the line up to the number's label, the number, and its place."""
    for at, line in enumerate(lines):
        if small := _fold_label_line(line):
            for label in (*AIRLINE.finditer(small), *CONFIRMATION.finditer(small)):
                is_earlier = _is_of_earlier(small, label.start(), label.end())
                if not is_earlier and (number := _find_behind(lines, at, line, label)):
                    yield small[: label.end()].strip(), number, at


def _fold_label_line(line: str) -> str:
    """The folded line if it may hold a label; else nothing."""
    return _fold_short_line(line) if len(line) <= _LONGEST else _keep_with_label(fold(line))


@lru_cache(maxsize=4096)
def _fold_short_line(line: str) -> str:
    # Each line is asked about for several kinds of number.
    return _keep_with_label(fold(line))


def _keep_with_label(small: str) -> str:
    return small if any(part in small for part in _PARTS) else ""


def _find_labelled(lines: list[str], labels: re.Pattern[str]) -> str | None:
    return next(_list_labelled(lines, labels), None)


def _list_labelled(lines: list[str], labels: re.Pattern[str]) -> Iterator[str]:
    for at, line in enumerate(lines):
        small = _fold_label_line(line)
        for label in labels.finditer(small):
            if _is_of_earlier(small, label.start(), label.end()):
                continue
            if number := _find_behind(lines, at, line, label):
                yield number


def _is_of_earlier(small: str, start: int, end: int) -> bool:
    return bool(_EARLIER_BEFORE.search(small[max(0, start - 24) : start]) or _EARLIER_BEHIND.match(small[end:]))


def _find_in_sentence(lines: list[str]) -> str | None:
    matches = (m for line in lines if len(line) < _LONGEST for m in _IN_SENTENCE.finditer(line))
    return next(
        (
            m[1]
            for m in matches
            if _is_number(m[1])
            and not _FLIGHT.fullmatch(m[1])
            and not _EARLIER_BEFORE.search(fold(m.string[max(0, m.start() - 24) : m.start()]))
        ),
        None,
    )


def _find_in_subject(subject: str) -> str | None:
    small = fold(subject)
    if number := _find_labelled([subject], CONFIRMATION):
        return number
    if not _BOOKING_WORD.search(small):
        return None
    matches = [next(g for g in m.groups() if g) for m in _IN_SUBJECT.finditer(subject) if not _FLIGHT.fullmatch(m[0])]
    return next((n for n in matches if not _DATE.fullmatch(n) and n not in _WORDS), None)


_BOOKING_WORD = re.compile(
    r"booking|bokning|reservation|reserva|buchung|reservierung|prenotazione|boeking|reservering|confirma|conferma"
    r"|bestatigung|bevestiging|itinerary|reiseplan|viaggio|\bref\b|予約"
)


def _find_behind(lines: list[str], at: int, line: str, label: re.Match[str]) -> str | None:
    """The number behind a label, in its line, in the line below or in the cell below."""
    rest = line[label.end() :]
    if number := _read_number(rest):
        return number
    below = [ln for ln in lines[at + 1 : at + 4] if ln.strip()][:1]
    if not below:
        return None
    if "\t" in line and line.count("\t") >= 1:
        column = line[: label.start()].count("\t")
        cells = below[0].split("\t")
        return _read_number(cells[column]) if column < len(cells) and not rest.split("\t")[0].strip(" :#.()*") else None
    clean = re.sub(r"\((?:pnr|code|ref)\)", "", fold(rest)).strip(" :#.\t*()】」]")
    announced = rest.rstrip().endswith((":", "：")) and len(rest) < 50 and not re.search(r"\d", rest)
    return (
        _read_number(below[0])
        if announced or clean in ("", "is", "number", "code", "ist", "est", "es", "e", "is:")
        else None
    )


def _read_number(rest: str) -> str | None:
    gap = _GAP.match(rest)
    start = gap.end() if gap else 0
    if _OTHER_OWNER.search(fold(rest[:start])):
        return None
    for pattern in (_DOTTED, _SPACED):
        if match := pattern.match(rest, start):
            return re.sub(r"[. ]", "", match[1])
    match = _NUMBER.match(rest, start)
    number = match[1].rstrip("-/") if match else ""
    return number if _is_number(number) else None


def _is_number(text: str) -> bool:
    """Whether a text can be a booking's number: no date, no telephone's, no word in capitals."""
    can_be = bool(_WITH_LETTERS.match(text)) and text not in _WORDS
    short = len(text) < 5 and not text.isdigit()
    return can_be and not short and not _DATE.fullmatch(text) and not _PHONE.fullmatch(text)
