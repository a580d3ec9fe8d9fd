"""The confirmation number of a letter: the one its lines or its subject call so."""

import re

from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.phrases import CONFIRMATION
from shared.domain.parsing.text import fold

_NUMBER = re.compile(
    r"^(?:\s?\([^()\n]{1,24}\)|(?: [a-z]{2,12}){1,3}(?=\s?:))?[\s:#.\t|*\[(>-]*(?:(?:is|ist|lautet|est|es|e|var"
    r"|:)(?![a-z0-9])[\s:#\t]*)?[\s*\[(]*([A-Z0-9][A-Z0-9-]{4,24})(?![A-Za-z0-9])",
    re.I,
)
_SPACED = re.compile(r"^[\s:#\t]*(\d{3}(?: \d{3}){2,3})(?![\d ]\d)")
_DOTTED = re.compile(r"^[\s:#\t]*(\d{3,4}(?:\.\d{3}){2})(?![\d.]\d)")
_IN_SUBJECT = re.compile(
    r"#\s?([A-Z0-9]{5,20})\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])([A-Z0-9]{6,7})\b|[\[(:]\s?([A-Z]{6})\b"
    r"|\b(\d{7,12})\b"
)
_WITH_LETTERS = re.compile(r"^(?=.*\d)[A-Z0-9-]+$|^[A-Z]{5,8}$")
# Six letters behind a label that are a word of the letter and no number.
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "NUMBER DETAILS STATUS FLIGHT PLEASE TRAVEL ONLINE TICKET RECEIPT MANAGE BOOKING SUMMARY AIRLINE"
        " CONTACT POLICY HELP CODES DATE HOTEL VERIFY CHECK GUEST TOTAL CONFIRM THANK CANCEL CHANGE BELOW"
        " HISTORY PASSENGER",
    )
)
_HEADS = re.compile(r"[^\t]+")
# "Your booking HKM7RX is confirmed."
_IN_SENTENCE = re.compile(
    r"\b(?i:your|ihre|deine|votre|tu|su|la sua|la tua|sua|uw|je) (?i:booking|reservation|buchung"
    r"|reservierung|réservation|reserva|prenotazione|boeking|reservering) \(?([A-Z0-9]{6})\)?"
    r" (?i:is|has|was|ist|wurde|est|a été|está|ha sido|è|foi)\b"
)
_LONGEST = 300


def find_confirmation(text: Text) -> str | None:
    """The one number the mail calls so; with several the first, as airlines put their own before those of partners."""
    lines = to_plain(text.body).split("\n")
    for at, line in enumerate(lines):
        small = fold(line)
        for label in CONFIRMATION.finditer(small):
            if number := _find_behind(lines, at, line, label):
                return number
    for line in lines:
        if len(line) < _LONGEST and (match := _IN_SENTENCE.search(line)) and _is_number(match[1]):
            return match[1]
    subject = to_plain(text.subject)
    if CONFIRMATION.search(fold(subject)) or _BOOKING_WORD.search(fold(subject)):
        match = _IN_SUBJECT.search(subject)
        return next((g for g in match.groups() if g), None) if match else None
    return None


_BOOKING_WORD = re.compile(
    r"booking|bokning|reservation|reserva|buchung|reservierung|prenotazione|boeking|confirmation|itinerary|ref\b|予約"
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
    clean = re.sub(r"\((?:pnr|code|ref)\)", "", fold(rest)).strip(" :#.\t*()")
    return _read_number(below[0]) if clean in ("", "is", "number", "code", "ist", "est", "es", "e", "is:") else None


def _read_number(rest: str) -> str | None:
    for pattern in (_DOTTED, _SPACED):
        if match := pattern.match(rest):
            return re.sub(r"[. ]", "", match[1])
    match = _NUMBER.match(rest)
    return match[1] if match and _is_number(match[1]) else None


def _is_number(text: str) -> bool:
    return bool(_WITH_LETTERS.match(text)) and text not in _WORDS
