"""MIME parts of a mail (RFC 2045): the letter itself and those attached to it, decoded and limited in size.

Texts, pages, calendars and files each have room of their own, so that a long page hides no calendar. What has no room,
or is of a kind that may hold a booking and is not read, is named in `unread`.
"""

import binascii
import email
import re
from dataclasses import dataclass, field
from datetime import date
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.model import UnreadFile

MAX_PARTS = 60  # further parts are ignored
MAX_CHARACTERS = {"texts": 600_000, "pages": 1_500_000, "invites": 300_000}  # of one letter, by where they belong
MAX_FILE_BYTES = 4 << 20  # of one file
MAX_FILES = 6  # of one letter
MAX_DEPTH = 4  # nested message/rfc822 parts
_NESTED = re.compile(rb"boundary\s*(?:\*[\d*]*)?\s*=|message/", re.I)
_MAX_NESTED = 250


class UnreadableMail(Exception):
    """The message exceeds the limits or cannot be parsed."""


class _ShortHeaders(Compat32):
    """Truncates headers while parsing, because the standard library needs quadratic time for very long ones."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines[:100])
        return name[:100], value[:4000]


@dataclass(frozen=True)
class AttachedFile:
    """One attached file that can be read: its name, its kind ("pdf", "pkpass", "pkpasses", "picture") and its bytes."""

    name: str
    kind: str
    content: bytes


@dataclass
class MailLetter:
    """One letter: who sent it, when, about what, its text in both forms, and what is attached."""

    sender: str = ""
    address: str = ""
    subject: str = ""
    posted: date | None = None
    texts: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    invites: list[str] = field(default_factory=list)
    files: list[AttachedFile] = field(default_factory=list)
    unread: list[UnreadFile] = field(default_factory=list)
    attached: bool = False  # it came inside another letter

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2].lower()[:120]


def open_mail(raw: bytes) -> list[MailLetter]:
    """The letter itself and then those attached to it. Raises UnreadableMail."""
    if len(_NESTED.findall(raw)) > _MAX_NESTED:
        raise UnreadableMail("too many parts")
    try:
        message = email.message_from_bytes(raw, policy=_ShortHeaders())
    except (RecursionError, ValueError) as error:
        raise UnreadableMail(type(error).__name__) from None
    letters: list[MailLetter] = []
    _collect(message, letters, 0)
    return letters


def read_headers(raw: bytes) -> MailLetter:
    """The headers alone, for what has not been read yet. Raises UnreadableMail."""
    try:
        head = re.split(rb"\r?\n\r?\n", raw[:64_000], maxsplit=1)[0]
        return _read_envelope(email.message_from_bytes(head + b"\n\n", policy=_ShortHeaders()))
    except (RecursionError, ValueError) as error:
        raise UnreadableMail(type(error).__name__) from None


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
    waiting, count = [message], 0
    inner: list[Message] = []
    while waiting and count < MAX_PARTS:
        part, count = waiting.pop(0), count + 1
        payload = part.get_payload()
        if part.get_content_type() == "message/rfc822":
            inner += [p for p in payload if isinstance(p, Message)] if isinstance(payload, list) else []
        elif isinstance(payload, list):
            waiting[:0] = [p for p in payload[:MAX_PARTS] if isinstance(p, Message)]
        else:
            _take_part(letter, part)
    most = MAX_DEPTH if depth < MAX_DEPTH else 0
    if waiting or len(inner) > most:
        letter.unread.append(UnreadFile("further parts", "the letter has more parts than are read"))
    for message_inside in inner[:most]:
        _collect(message_inside, letters, depth + 1)


_CALENDAR_FILE = re.compile(r"\.(?:ics|vcs)\b|(?:text/(?:x-v)?calendar|application/ics)\b", re.I)
_KINDS = {
    "pdf": re.compile(r"\.pdf\b|^application/(?:x-)?pdf\b", re.I),
    "pkpasses": re.compile(r"\.pkpasses\b|^application/vnd\.apple\.pkpasses\b", re.I),
    "pkpass": re.compile(r"\.pkpass\b|^application/(?:vnd\.apple\.|x-apple-)pkpass(?!es)", re.I),
}
_MAGIC = {b"%PDF-": "pdf", b"\x89PNG\r\n": "picture", b"\xff\xd8\xff": "picture"}
# Pictures in the text of a letter are mostly logos; a boarding pass is attached, or its name says what it is.
_PASS_NAME = re.compile(r"board|barcode|aztec|qr[ _-]?code|pdf417|\bm?bp\b|ticket|\bpass", re.I)
_UNREAD_FILE = re.compile(
    r"\.(?:docx?|rtf|odt|pages|xlsx?|zip|rar|7z|msg)\b|winmail\.dat|application/(?:ms-tnef|vnd\.ms-tnef"
    r"|msword|zip)"
    r"|application/vnd\.(?:openxmlformats|oasis)",
    re.I,
)


def _take_part(letter: MailLetter, part: Message) -> None:
    """Puts the content of a part where it belongs in the letter, as far as there is room."""
    headers = " ".join(str(part.get(name, ""))[:1000] for name in ("Content-Type", "Content-Disposition"))
    name = to_one_line(str(part.get_filename() or ""), 120)
    words = f"{part.get_content_type()} {headers} {name}"
    if _CALENDAR_FILE.search(words):
        _take_text(letter, "invites", part, name)
    elif kind := _find_kind(part, words, name):
        _take_file(letter, kind, part, name)
    elif _UNREAD_FILE.search(words):
        letter.unread.append(UnreadFile(name or part.get_content_type(), "files of its kind are not read"))
    elif part.get_content_type() in ("text/plain", "text/html"):
        _take_text(letter, "texts" if part.get_content_type() == "text/plain" else "pages", part, name)


def _find_kind(part: Message, words: str, name: str) -> str | None:
    """The kind of a file that can be read, by its declared kind and name, else by the first bytes of an unknown one."""
    for kind, pattern in _KINDS.items():
        if pattern.search(words):
            return kind
    content_type = part.get_content_type()
    if content_type == "application/octet-stream":
        payload = str(part.get_payload())[:400]
        head = _decode_head(part, payload)
        return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if content_type in ("image/png", "image/jpeg", "image/jpg"):
        is_attached = part.get_content_disposition() == "attachment"
        return "picture" if is_attached or _PASS_NAME.search(name) else None
    return None


def _decode_head(part: Message, payload: str) -> bytes:
    """The first bytes of a part, decoding no more than its beginning."""
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() != "base64":
        return payload.encode("latin-1", "replace")
    letters = re.sub(r"[^A-Za-z0-9+/]", "", payload)
    return binascii.a2b_base64(letters[: len(letters) // 4 * 4])


def _take_text(letter: MailLetter, place: str, part: Message, name: str) -> None:
    texts: list[str] = getattr(letter, place)
    room = MAX_CHARACTERS[place] - sum(map(len, texts))
    payload = part.get_payload(decode=True)
    text = _decode(payload, part.get_content_charset()) if isinstance(payload, bytes) else ""
    if len(text) > room:
        letter.unread.append(UnreadFile(name or part.get_content_type(), "it is too long to be read whole"))
    if room > 0 and text:
        texts.append(text[:room])


def _take_file(letter: MailLetter, kind: str, part: Message, name: str) -> None:
    content = part.get_payload(decode=True)
    name = name or part.get_content_type()
    if not isinstance(content, bytes) or not content:
        letter.unread.append(UnreadFile(name, "it is empty"))
    elif len(content) > MAX_FILE_BYTES:
        letter.unread.append(UnreadFile(name, "it is too large"))
    elif len(letter.files) >= MAX_FILES:
        letter.unread.append(UnreadFile(name, f"only {MAX_FILES} files of a letter are read"))
    else:
        letter.files.append(AttachedFile(name, kind, content))


def _decode(raw: bytes, charset: str | None) -> str:
    for name in (charset, "utf-8", "cp1252"):
        try:
            if name and name.lower() not in _NO_TEXT:
                return raw.decode(name)
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")


_NO_TEXT = frozenset({"idna", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape", "undefined"})
