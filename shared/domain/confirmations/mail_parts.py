"""MIME parts of a mail (RFC 2045): the letter itself and those attached to it, decoded and limited in size."""

import email
import re
from dataclasses import dataclass, field
from datetime import date
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime

from shared.domain.confirmations.clean_text import to_one_line

MAX_PARTS = 60  # further parts are ignored
MAX_TEXT_CHARACTERS = 600_000  # characters of one letter
MAX_DEPTH = 4  # nested message/rfc822 parts
_NESTED = re.compile(rb"boundary\s*(?:\*[\d*]*)?\s*=|message/", re.I)
_MAX_NESTED = 250


class Unreadable(Exception):
    """The message exceeds the limits or cannot be parsed."""


class _ShortHeaders(Compat32):
    """Truncates headers while parsing, because the standard library needs quadratic time for very long ones."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines[:100])
        return name[:100], value[:4000]


@dataclass
class MailLetter:
    """One letter: who sent it, when, about what, and its text in both forms."""

    sender: str = ""
    address: str = ""
    subject: str = ""
    posted: date | None = None
    texts: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    invites: list[str] = field(default_factory=list)
    closed: bool = False  # has an attachment of a kind that is not read
    attached: bool = False  # it came inside another letter

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2].lower()[:120]


def open_mail(raw: bytes) -> list[MailLetter]:
    """The letter itself and then those attached to it. Raises Unreadable."""
    if len(_NESTED.findall(raw)) > _MAX_NESTED:
        raise Unreadable("too many parts")
    try:
        message = email.message_from_bytes(raw, policy=_ShortHeaders())
    except (RecursionError, ValueError) as error:
        raise Unreadable(type(error).__name__) from None
    letters: list[MailLetter] = []
    _collect(message, letters, 0)
    return letters


def read_headers(raw: bytes) -> MailLetter:
    """The headers alone, for what has not been read yet. Raises Unreadable."""
    try:
        head = re.split(rb"\r?\n\r?\n", raw[:64_000], maxsplit=1)[0]
        return _read_envelope(email.message_from_bytes(head + b"\n\n", policy=_ShortHeaders()))
    except (RecursionError, ValueError) as error:
        raise Unreadable(type(error).__name__) from None


def _read_envelope(message: Message) -> MailLetter:
    name, address = _split_sender(to_one_line(_decode_header(message, "From"), 400))
    subject = to_one_line(_decode_header(message, "Subject"), 200)
    return MailLetter(to_one_line(name, 120), to_one_line(address, 254), subject, _read_date(message))


_ADDRESS = re.compile(r"[^\s<>@\"(),;]{1,64}@[A-Za-z0-9.-]{1,190}")


def _split_sender(text: str) -> tuple[str, str]:
    """Name and address; `email.utils.parseaddr` fails on nested brackets."""
    addresses = list(_ADDRESS.finditer(text))
    if not addresses:
        return text, ""
    return text[: addresses[-1].start()].strip(' "<'), addresses[-1][0]


def _decode_header(message: Message, name: str) -> str:
    """A decoded header (RFC 2047), or its raw text where it cannot be decoded."""
    value = str(message.get(name, ""))[:2000]
    try:
        pieces = decode_header(value)
    except (ValueError, LookupError):
        return value
    return "".join(_decode(p, c) if isinstance(p, bytes) else p for p, c in pieces)


def _read_date(message: Message) -> date | None:
    try:
        return parsedate_to_datetime(str(message.get("Date", ""))[:100]).date()
    except (ValueError, TypeError, OverflowError):
        return None


def _collect(message: Message, letters: list[MailLetter], depth: int) -> None:
    letter = _read_envelope(message)
    letter.attached = depth > 0
    letters.append(letter)
    waiting, count, characters_left = [message], 0, MAX_TEXT_CHARACTERS
    inner: list[Message] = []
    while waiting and count < MAX_PARTS and characters_left > 0:
        part, count = waiting.pop(0), count + 1
        payload = part.get_payload()
        if part.get_content_type() == "message/rfc822":
            inner += [p for p in payload if isinstance(p, Message)] if isinstance(payload, list) else []
        elif isinstance(payload, list):
            waiting[:0] = [p for p in payload[:MAX_PARTS] if isinstance(p, Message)]
        elif (place := _choose_list(letter, part)) is not None:
            text = _decode_text(part)[:characters_left]
            characters_left -= len(text)
            place.append(text)
    for message_inside in inner[: MAX_DEPTH if depth < MAX_DEPTH else 0]:
        _collect(message_inside, letters, depth + 1)


_UNREAD_FILE = re.compile(r"\.(?:pdf|pkpass|docx?)\b|application/(?:pdf|vnd\.apple\.pkpass)", re.I)
_CALENDAR_FILE = re.compile(r"\.ics\b|(?:text/calendar|application/ics)\b", re.I)


def _choose_list(letter: MailLetter, part: Message) -> list[str] | None:
    """Where in the letter the text of a part belongs; a file that may hold a booking and is not read is noted."""
    kind = part.get_content_type()
    headers = " ".join(str(part.get(name, ""))[:1000] for name in ("Content-Type", "Content-Disposition"))
    if _CALENDAR_FILE.search(headers):
        return letter.invites
    letter.closed = letter.closed or bool(_UNREAD_FILE.search(headers))
    return {"text/plain": letter.texts, "text/html": letter.pages}.get(kind)


def _decode_text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    return _decode(payload, part.get_content_charset()) if isinstance(payload, bytes) else ""


def _decode(raw: bytes, charset: str | None) -> str:
    for name in (charset, "utf-8", "cp1252"):
        try:
            if name and name.lower() not in _NO_TEXT:
                return raw.decode(name)
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")


_NO_TEXT = frozenset({"idna", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape", "undefined"})
