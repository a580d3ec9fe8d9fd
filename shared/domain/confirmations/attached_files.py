"""Attached files of a mail: PDFs and pictures are read in a child process with limits, wallet passes here."""

import io
import json
import math
import re
import resource
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

from shared.domain.confirmations.mail_parts import MAX_FILE_BYTES, MAX_FILES, AttachedFile
from shared.domain.confirmations.model import UnreadFile

# Wallet passes (.pkpass): a zip archive whose pass.json holds labelled fields and a barcode.

MAX_ENTRIES = 200
# What an archive raises that is no whole one; RecursionError is a RuntimeError.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RuntimeError, OSError)
MAX_BYTES = 300_000  # of pass.json, and of a file of strings
_GROUPS = ("headerFields", "primaryFields", "secondaryFields", "auxiliaryFields", "backFields")
_STYLES = ("boardingPass", "eventTicket", "generic", "storeCard", "coupon")
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=\s*"((?:[^"\\]|\\.)*)"\s*;')
_MAX_FIELDS = 60
# The time of boarding is not the one of departure; seats, groups and persons are no one's business here.
_ASIDE = re.compile(
    r"board|gate|seat|sitz|asiento|siege|posto|zone|group|gruppe|seq|bag|gepack|(?<!hotel.)name|passeng|passag"
    r"|pasajer|traveller"
    r"|status|terminal|embar|imbarc|einstieg|closes",
    re.I,
)


# A moment in UTC (W3C date and time), which a phone shows on its own clock.
_CLOCK = r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?"
_IN_UTC = re.compile(rf"{_CLOCK}(?:Z|[+-]00:?00)")
_MOMENT = re.compile(rf"^{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})$")
_FLIGHT_FIELD = re.compile(r"\b(?:flight|flug|vol|vuelo|volo|voo|vlucht)|便名|航班|рейс", re.I)
_LANDS = re.compile(r"\barr|\bland|ankunft|llegada|aankomst|chegada|destination|到着|到达", re.I)


class PassUnread(Exception):
    """Why a pass is not read, as a plain clause."""


@dataclass
class WalletPass:
    """What a pass holds: its fields as text, its barcodes, its flight as schema.org writes it, and its day."""

    text: str
    barcodes: list[str]
    documents: list[dict[str, Any]]
    day: date | None
    is_boarding_pass: bool
    is_void: bool
    ends: date | None


def read_pass(content: bytes) -> WalletPass:
    """All a pass holds. Raises PassUnread."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(archive.infolist()) > MAX_ENTRIES:
                raise PassUnread("it holds too many files")
            document = _load_json(_read_entry(archive, "pass.json"))
            # Texts in the pass's first language, English before others, by the keys that stand in its fields.
            names = sorted(
                (n for n in archive.namelist() if n.endswith(".lproj/pass.strings")),
                key=lambda n: (not n.startswith("en"), n),
            )
            strings = dict(_STRING.findall(_read_entry(archive, names[0]))) if names else {}
    except _DAMAGED:
        raise PassUnread("it is damaged") from None
    if not isinstance(document, dict):
        raise PassUnread("it is damaged")
    is_air = _find_style(document) is not None
    return WalletPass(
        _write_fields(document, strings),
        _list_barcodes(document) if is_air else [],
        [*_write_reservation(document), *_write_moments(document, strings)] if is_air else [],
        _find_day(document.get("relevantDate")),
        is_air and isinstance(document.get("boardingPass"), dict),
        document.get("voided") not in (None, False, 0, "false"),
        _find_day(document.get("expirationDate")),
    )


def _load_json(text: str) -> Any:
    """Some programs leave a comma after the last entry, which phones forgive. Raises ValueError."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_LAST_COMMA.sub(lambda match: match[1] or "", text))


def list_passes(file: AttachedFile) -> list[AttachedFile]:
    """The passes of a bundle (.pkpasses, a zip archive of passes). Raises PassUnread."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.lower().endswith(".pkpass")]
            if not entries or len(entries) > MAX_FILES:
                raise PassUnread(f"it holds more than {MAX_FILES} passes" if entries else "it holds no pass")
            if sum(entry.file_size for entry in entries) > MAX_FILE_BYTES:
                raise PassUnread("it is too large once it is unpacked")
            return [AttachedFile(file.name, "pkpass", archive.open(e).read(e.file_size)) for e in entries]
    except _DAMAGED:
        raise PassUnread("it is damaged") from None


def _read_entry(archive: zipfile.ZipFile, name: str) -> str:
    """A file of the archive as text; more than its limit is never unpacked."""
    with archive.open(name) as entry:
        raw = entry.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise PassUnread("it is too large")
    for charset in ("utf-16",) if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "utf-16-le", "cp1252"):
        try:
            return raw.decode(charset)
        except ValueError:
            continue
    raise ValueError(name)


def _find_style(document: dict[str, Any]) -> str | None:
    """The kind of the pass; None for passes of railways, buses and ships."""
    style = next((name for name in _STYLES if isinstance(document.get(name), dict)), None)
    is_other = style and document[style].get("transitType", "PKTransitTypeAir") != "PKTransitTypeAir"
    return None if is_other else style


def _write_fields(document: dict[str, Any], strings: dict[str, str]) -> str:
    """One line for each field, "label: value", without those of boarding, seats and persons."""
    style = _find_style(document)
    if style is None:
        return ""
    lines = [str(document.get(name) or "")[:200] for name in ("organizationName", "description")]
    if route := _find_route(document[style].get("primaryFields"), strings):
        lines.append(route)
    for entry, label, value in _list_fields(document[style], strings):
        if entry.get("ignoresTimeZone") is True or not _IN_UTC.fullmatch(value):
            value = _MOMENT.sub(r"\1 \2", value)  # on the clock of the airport
            lines.append(f"{label}: {value}" if label else value)
    return "\n".join(line for line in lines if line.strip())


def _list_fields(style: dict[str, Any], strings: dict[str, str]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Each field with its label and its value, without those of boarding, seats and persons."""
    groups = [style.get(group) for group in _GROUPS]
    fields = [f for group in groups if isinstance(group, list) for f in group[:_MAX_FIELDS] if isinstance(f, dict)]
    for entry in fields[:_MAX_FIELDS]:
        label, value = (_translate(entry.get(name), strings) for name in ("label", "value"))
        if not _ASIDE.search(f"{entry.get('key')} {label}"):
            yield entry, label, value


def _write_moments(document: dict[str, Any], strings: dict[str, str]) -> list[dict[str, Any]]:
    """The flight of a pass whose fields give its times in UTC: the clocks of its airports tell the local ones, as a
    phone there does. Without both codes of the route no clock is known, and the times are left out."""
    style = document.get("boardingPass")
    codes = _find_route(style.get("primaryFields"), strings).split(" - ") if isinstance(style, dict) else []
    if not isinstance(style, dict) or len(codes) != 2:
        return []
    times: dict[str, set[str]] = {}
    number = ""
    for entry, label, value in _list_fields(style, strings):
        name = f"{entry.get('key')} {label}"
        number = value if _FLIGHT_FIELD.search(name) and not number else number
        if _IN_UTC.fullmatch(value) and entry.get("ignoresTimeZone") is not True:
            times.setdefault("arrivalTime" if _LANDS.search(name) else "departureTime", set()).add(
                _IN_UTC.sub(r"\1T\2Z", value)
            )
    flight: dict[str, Any] = {"@type": "Flight", "flightNumber": number[:10]}
    flight |= {"departureAirport": {"iataCode": codes[0]}, "arrivalAirport": {"iataCode": codes[1]}}
    flight |= {end: values.pop() for end, values in times.items() if len(values) == 1}
    return [{"@type": "FlightReservation", "reservationFor": flight}] if times and number else []


def _find_route(primary: Any, strings: dict[str, str]) -> str:
    """The two codes that a boarding pass prints largest, as a pair."""
    values = [_translate(f.get("value"), strings) for f in primary if isinstance(f, dict)] if primary else []
    codes = [v for v in values if re.fullmatch(r"[A-Z]{3}", v)]
    return " - ".join(codes) if len(codes) == 2 else ""


def _write_reservation(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The semantic tags of a boarding pass (Apple's SemanticTags) as a reservation of schema.org."""
    tags = document.get("semantics")
    if not isinstance(tags, dict) or not tags.get("flightNumber"):
        return []
    flight = {
        "@type": "Flight",
        "flightNumber": str(tags["flightNumber"])[:10],
        "airline": {"iataCode": tags.get("airlineCode")},
        "departureAirport": {"iataCode": tags.get("departureAirportCode")},
        "arrivalAirport": {"iataCode": tags.get("destinationAirportCode")},
        "departureTime": tags.get("originalDepartureDate"),
        "arrivalTime": tags.get("originalArrivalDate"),
    }
    reservation = {"@type": "FlightReservation", "reservationNumber": tags.get("confirmationNumber")}
    return [reservation | {"airplaneSeatClass": tags.get("ticketFareClass"), "reservationFor": flight}]


def _find_day(moment: Any) -> date | None:
    match = re.match(r"(\d{4})-(\d{2})-(\d{2})", str(moment))
    try:
        return date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def _translate(value: Any, strings: dict[str, str]) -> str:
    text = str(value)[:1000] if isinstance(value, str | int | float) else ""
    return strings.get(text, text)[:1000]


def _list_barcodes(document: dict[str, Any]) -> list[str]:
    barcodes = document.get("barcodes")
    entries = [*(barcodes if isinstance(barcodes, list) else []), document.get("barcode")][:6]
    messages = [e.get("message") for e in entries if isinstance(e, dict)]
    return list(dict.fromkeys(m[:2000] for m in messages if isinstance(m, str)))


# For all files of one letter: seconds of the clock and of the processor, and bytes that its streams unpack to.
DEADLINE_SECONDS, PROCESSOR_SECONDS = 10.0, 4.0
MAX_UNPACKED_BYTES = 96 << 20
_CHILD = Path(__file__).with_name("file_child.py")


@dataclass
class FileContent:
    """What a file holds: one or more accounts of the same text, the texts of its barcodes, data as schema.org would
    write them, and the day it is for."""

    name: str
    texts: list[str] = field(default_factory=list)
    barcodes: list[str] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    day: date | None = None
    is_pass: bool = False  # a boarding pass, which no one gets who has no booking
    is_void: bool = False
    ends: date | None = None  # the last day of its use


def read_files(files: list[AttachedFile]) -> tuple[list[FileContent], list[UnreadFile]]:
    """What the files hold, and which were not read and why."""
    contents: list[FileContent] = []
    unread: list[UnreadFile] = []
    budget = _Budget()
    each: list[AttachedFile] = []
    for file in files:
        try:
            each += list_passes(file) if file.kind == "pkpasses" else [file]
        except PassUnread as why:
            unread.append(UnreadFile(file.name, str(why)))
    for file in each:
        result = _read_file(file, budget)
        if isinstance(result, str):
            unread.append(UnreadFile(file.name, result))
        else:
            contents.append(result)
    return contents, unread


class _Budget:
    """What is left for the files of a letter that are still to be read."""

    def __init__(self) -> None:
        self.deadline, self.unpacked = monotonic() + DEADLINE_SECONDS, 0
        self._used_before = _count_seconds()

    @property
    def seconds(self) -> float:
        return self.deadline - monotonic()

    @property
    def processor_seconds(self) -> int:
        """Whole ones, as the system counts them."""
        return math.ceil(PROCESSOR_SECONDS - (_count_seconds() - self._used_before))

    @property
    def bytes(self) -> int:
        return MAX_UNPACKED_BYTES - self.unpacked


def _count_seconds() -> float:
    """Seconds of the processor that child processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_file(file: AttachedFile, budget: _Budget) -> FileContent | str:
    """The content, or why it was not read."""
    if file.kind == "pkpass":
        try:
            wallet = read_pass(file.content)
            return FileContent(
                file.name,
                [wallet.text],
                wallet.barcodes,
                wallet.documents,
                wallet.day,
                wallet.is_boarding_pass,
                wallet.is_void,
                wallet.ends,
            )
        except PassUnread as unread:
            return str(unread)
    if budget.seconds <= 0 or budget.processor_seconds <= 0:
        return "the time for attached files had run out"
    return _run_child(file, budget) if budget.bytes > 0 else "the files before it were too large"


def _run_child(file: AttachedFile, budget: _Budget) -> FileContent | str:
    """Starts a program rather than forking: the worker has threads, and a fork would inherit its locks."""
    try:
        process = subprocess.run(  # noqa: S603 - our own program; the file goes to its standard input
            [sys.executable, "-I", str(_CHILD), file.kind, str(budget.processor_seconds), str(budget.bytes)],
            input=file.content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=budget.seconds,
            check=False,
            env={},
        )
    except subprocess.TimeoutExpired:
        return "reading it takes too long"
    except OSError:
        return "no process could be started to read it"
    try:
        result = json.loads(process.stdout)
    except ValueError:
        return "reading it takes too much time or memory"
    budget.unpacked += result["unpacked"]
    return result["reason"] or FileContent(file.name, result["texts"], result["barcodes"])
