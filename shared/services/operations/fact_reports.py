"""Reports of people about wrong facts: checked, stored, and listed for the operator.

Strangers' text is only shown; nothing acts on it.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from shared.db import fact_reports as store
from shared.db.base import transaction
from shared.errors import Fault, Invalid
from shared.limits import address_key, hit
from shared.reference.audit import FactDoubt
from shared.reference.rows import FILES

# The fields of a report and how many characters each may have.
FIELDS: dict[str, int] = {"file": 60, "tool": 64, "key": 200, "wrong": 2_000, "link": 500, "mail": 254}
MIN_WORDS_CHARACTERS = 10
MAX_BODY_BYTES = 16 * 1024
TRIES_PER_HOUR = 60  # of one address, including faulty ones
REPORTS_PER_HOUR = 10  # of one address
REPORTS_PER_DAY = 500  # of everyone: as many as a person could still read
_NAME = re.compile(r"R[1-9]\d{0,17}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_MAIL = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+")
_TOOL = re.compile(r"[a-z][a-z0-9_]*")


class TooManyReports(Exception):
    """This address, or everyone together, reported too often; `seconds` says for how long."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many reports, for {seconds} seconds")
        self.seconds = seconds


def receive_report(fields: Mapping[str, Any], peer: str) -> int:
    """Stores a report and returns its number. Raises Invalid or TooManyReports; blocks."""
    address = address_key(peer)
    _count(f"facts:report:tries:{address}", TRIES_PER_HOUR, 3600)
    report = check_report(fields)
    _count(f"facts:report:{address}", REPORTS_PER_HOUR, 3600)
    _count("facts:report", REPORTS_PER_DAY, 86_400)
    with transaction() as session:
        return store.store_report(session, report)


def _count(name: str, limit: int, window: int) -> None:
    verdict = hit(name, limit, window)
    if not verdict.allowed:
        raise TooManyReports(verdict.retry_after)


def is_report_name(text: str) -> bool:
    """Whether a text is the number of a report in the form people see."""
    return bool(_NAME.fullmatch(text))


def check_report(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """Returns the report to store. Raises Invalid with every fault, each at its field."""
    faults = [
        Fault(str(name)[:40], "is not a field of a report", ", ".join(FIELDS)) for name in fields if name not in FIELDS
    ]
    texts = {name: fields.get(name) for name in FIELDS}
    faults += [
        Fault(name, "is not a text", "a text")
        for name, value in texts.items()
        if value is not None and not isinstance(value, str)
    ]
    if faults:
        raise Invalid(*faults)
    report = {name: _CONTROLS.sub("", value or "").strip() or None for name, value in texts.items()}
    faults = [
        Fault(name, f"has {len(value)} characters", f"at most {FIELDS[name]}")
        for name, value in report.items()
        if value and len(value) > FIELDS[name]
    ]
    faults += _find_faults(report)
    if faults:
        raise Invalid(*faults)
    return report


def _find_faults(report: Mapping[str, str | None]) -> list[Fault]:
    file, tool, link, mail = report["file"], report["tool"], report["link"], report["mail"]
    faults = []
    if not file and not tool:
        faults.append(Fault("file", "is empty, and so is tool", "the file of the fact, or the tool that stated it"))
    if file and file not in FILES:
        faults.append(Fault("file", "is not a file of facts", "a name such as transfer_partners.csv, or none"))
    if tool and not _TOOL.fullmatch(tool):
        faults.append(Fault("tool", "is not the name of a tool", "a name such as get_transfer_partners, or none"))
    if not report["key"]:
        faults.append(Fault("key", "is empty", "what the fact is about, for example Chase to Hyatt"))
    if len(report["wrong"] or "") < MIN_WORDS_CHARACTERS:
        words = f"what is wrong and what is right, in {MIN_WORDS_CHARACTERS} characters or more"
        faults.append(Fault("wrong", "is too short", words))
    if link and not _is_address(link):
        faults.append(Fault("link", "is not a web address", "an address that begins with https://, or none"))
    if mail and not _MAIL.fullmatch(mail):
        faults.append(Fault("mail", "is not a mail address", "an address such as me@example.org, or none"))
    return faults


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not re.search(r"\s", text)


def list_findings(session: Session) -> list[FactDoubt]:
    """The open reports for the audit, each on one line."""
    return [_to_finding(report) for report in store.list_open_reports(session)]


def _to_finding(report: store.FactReport) -> FactDoubt:
    more = [f"tool {report.tool}"] if report.tool else []
    more += [f"see {report.link}"] if report.link else []
    more += [f"from {report.mail}"] if report.mail else []
    words = " ".join(report.wrong.split())
    text = f'about {report.key}, someone wrote: "{words}"{"".join(f", {part}" for part in more)} (R{report.id})'
    return FactDoubt("reported", report.file or "-", f"report {report.id}", report.received_at.date(), text)
