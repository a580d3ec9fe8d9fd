"""What a person needs of a letter to settle what was not read: the day it was written and a few of its lines."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from shared.domain.confirmations import html_page
from shared.domain.confirmations import price_words as words
from shared.domain.confirmations.clean_text import clean, to_one_line
from shared.domain.confirmations.confirmation_labels import CONFIRMATION
from shared.domain.confirmations.forwarding import unwrap
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.mail_parts import MailLetter, open_mail
from shared.domain.confirmations.phrases import find_cabins
from shared.domain.parsing.amounts import find_amounts
from shared.domain.parsing.text import fold

MAX_CHARACTERS = 300  # of all lines together
_MAX_LINE = 100
_MAX_LINES_READ = 400
_HEADER_LINES = 40
_WRITTEN = re.compile(
    r"^[>\s*]*(?:date|sent|gesendet|datum|envoye(?: le)?|enviado(?: el)?|fecha|inviato|data|verzonden)\s?:\**\s*(.+)$"
)
_LINK = re.compile(r"\S*(?:https?:|www\.|://|\.(?:com|net|org|io)/)\S*|\S+@\S+|<[^>]*>|[<>`{}\[\]]", re.I)
# Sentences to an assistant are no part of a confirmation, and are never repeated to one.
_ORDERS = re.compile(
    r"ignor|instruct|assistant|system\b|prompt|\btools?\b|\bexecute|\bobey|\bdelete|\bforward|\breply|\bmust\b|_"
    r"|\bai\b"
)
_FLIGHT = re.compile(r"\b[A-Z0-9]{2} ?\d{1,4}\b|\([A-Z]{3}\)|\b[A-Z]{3}\b ?[-/>] ?[A-Z]{3}\b|\d{1,2}:\d{2}")
_HOTEL_DAY = re.compile(
    r"check|arriv|depart|anreise|abreise|llegada|salida|entrada|saida|arrivo|partenza|aankomst|vertrek"
)
_PRICE_FIELDS = ("kind", "cash", "points", "taxes", "currency", "original_points")
_FLIGHT_FIELDS = ("airline", "origin", "destination", "flight_number", "departure", "arrival", "type", "booking")


def find_letter_day(raw: bytes) -> date | None:
    """The day the letter itself was written: a forward's header lines say it. Raises UnreadableMail."""
    days = []
    for letter in open_mail(raw):
        days += [letter.posted] if letter.posted else []
        for text in _list_texts(letter):
            days += [day for line in clean(text).split("\n")[:_HEADER_LINES] if (day := _read_written(line, letter))]
    return min(days, default=None)


def _read_written(line: str, letter: MailLetter) -> date | None:
    small = fold(line[:200])
    match = _WRITTEN.match(small)
    if not match or letter.posted is None:
        return None
    day = MailDates(small, letter.posted).first(match[1])
    return day.day if day and day.day and day.day <= letter.posted else None


def _list_texts(letter: MailLetter) -> list[str]:
    return [*letter.texts, *(html_page.read_page(page)[0] for page in letter.pages)]


def find_excerpt(raw: bytes, missing: Sequence[str]) -> list[str]:
    """Lines of the letter about what is missing, each short, without links and orders. Raises UnreadableMail."""
    for letter in reversed(open_mail(raw)):
        for text in _list_texts(letter):
            lines = unwrap(text, letter).body.split("\n")[:_MAX_LINES_READ]
            if excerpt := _choose_lines(lines, missing):
                return excerpt
    return []


def _choose_lines(lines: Iterable[str], missing: Sequence[str]) -> list[str]:
    """The lines about the fields, then those of flights and days of a stay, in the order of the letter."""
    clean_lines = [to_one_line(_LINK.sub(" ", line[:500].replace("\t", "  ")), _MAX_LINE) for line in lines]
    clean_lines = [line for line in dict.fromkeys(clean_lines) if line and not _ORDERS.search(fold(line))]
    about = [line for line in clean_lines if _is_about(line, missing)]
    context = [line for line in clean_lines if _is_about(line, ("type",)) and line not in about]
    excerpt: set[str] = set()
    size = 0
    for line in (*about, *context):
        size += len(line)
        if size > MAX_CHARACTERS:
            break
        excerpt.add(line)
    return [line for line in clean_lines if line in excerpt]


def _is_about(line: str, missing: Sequence[str]) -> bool:
    """Whether a line speaks of one of the fields; only lines with a number or a label of travel do."""
    small = fold(line)
    if not any(c.isdigit() for c in line) and not find_cabins(small):
        return False
    about = {name for name in missing for prefix in (*_PRICE_FIELDS, *_FLIGHT_FIELDS) if name.startswith(prefix)}
    if any(name.startswith(_PRICE_FIELDS) for name in about) and (any(find_amounts(line)) or _has_points(small)):
        return True
    if any(name.startswith(_FLIGHT_FIELDS) for name in about) and _FLIGHT.search(line):
        return True
    if "cabin_class" in missing and find_cabins(small):
        return True
    if "confirmation_number" in missing and CONFIRMATION.search(small):
        return True
    return any(name.startswith(("check", "hotel", "type")) for name in missing) and bool(_HOTEL_DAY.search(small))


def _has_points(small: str) -> bool:
    return bool(re.search(rf"\d.{{0,30}}(?:{words.UNIT})|(?:{words.UNIT}).{{0,12}}\d", small))
