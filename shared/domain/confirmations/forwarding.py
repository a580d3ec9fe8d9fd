"""What forwarding puts around a letter, taken off: the letter's own subject, sender and lines."""

import re
from dataclasses import dataclass, replace
from datetime import date

from shared.domain.confirmations.clean_text import clean, cut_remarks, to_one_line
from shared.domain.confirmations.mail_parts import MailLetter
from shared.domain.confirmations.phrases import FORWARDED, FROM, HEADER, SENT, SUBJECT, strip_subject
from shared.domain.parsing.dates import find_dates, find_times
from shared.domain.parsing.text import fold

MAX_LINES = 3_000
MAX_LINE_CHARACTERS = 600


_LEADER = re.compile(r"(?<=[^\s.]) ?\.{6,} ?(?=[^\s.])")  # dots from a label to its value
_QUOTED = re.compile(r"^(?:\s?>)+ ?")
_FLIGHT = re.compile(r"(?<![a-z0-9])(?:[a-z]{2}|[a-z]\d|\d[a-z]) ?\d{2,4}(?![a-z0-9])")
_ADDRESS = re.compile(r"@([a-z0-9.-]{3,120}[a-z])")


@dataclass(frozen=True)
class Text:
    """One readable text of a letter, freed of what forwarding put around it."""

    body: str
    subject: str
    sender: str
    forwarded: bool
    posted: date | None
    domain: str = ""  # of the sender's address


def unwrap(content: str, letter: MailLetter) -> Text:
    visible = _LEADER.sub("\t", clean(cut_remarks(content)))
    lines = [line[:MAX_LINE_CHARACTERS].rstrip() for line in visible.split("\n", MAX_LINES)[:MAX_LINES]]
    text = Text("\n".join(lines), strip_subject(letter.subject)[0], letter.sender, False, letter.posted, letter.domain)
    if "\n>" in text.body and not FORWARDED.search(fold(text.body)):
        text = replace(text, body="\n".join(_drop_earlier(lines)))
    for _ in range(3):  # a forward of a forward
        marks = list(FORWARDED.finditer(fold(text.body)))
        at = marks[0].end() if marks else _find_headers(text.body)
        if at is None:
            break
        text = _open_forwarded(text, text.body[at:])
    return text


def _drop_earlier(lines: list[str]) -> list[str]:
    """The lines without a quoted earlier letter, where the letter above it tells of a flight itself."""
    depths = [match[0].count(">") if (match := _QUOTED.match(line)) else 0 for line in lines]
    outer = next((depth for depth, line in zip(depths, lines, strict=True) if line.strip(" >")), 0)
    first = next((at for at, depth in enumerate(depths) if depth > outer), len(lines))
    if first == len(lines):
        return lines
    above = fold("\n".join(lines[:first]))
    tells = _FLIGHT.search(above) and any(True for _ in find_times(above)) and len(list(find_dates(above))) > 1
    return [line for at, line in enumerate(lines) if at < first or depths[at] <= outer] if tells else lines


def _find_headers(body: str) -> int | None:
    """Finds where a block of at least three header lines begins, as some programs put one before what they forward."""
    run, at, start = 0, 0, 0
    for line in body.split("\n"):
        small = fold(line.lstrip("> "))
        if HEADER.match(small):
            start = at if run == 0 else start
            run += 1
            if run == 3 and _is_header(body[start : start + 600]):
                return start
        else:
            run = 0
        at += len(line) + 1
    return None


def _is_header(block: str) -> bool:
    """Whether lines such as "From:", "To:" and "Date:" are of a letter, and not of a flight."""
    lines = [fold(line.lstrip("> ")) for line in block.split("\n")[:8]]
    return any(SUBJECT.match(line) or (FROM.match(line) and "@" in line) for line in lines)


def _open_forwarded(outer: Text, rest: str) -> Text:
    """The forwarded letter: its own subject and sender, its lines without marks of quoting."""
    lines = [_QUOTED.sub("", line) for line in _drop_earlier(rest.split("\n"))]
    subject, sender, posted, domain, start = outer.subject, outer.sender, outer.posted, outer.domain, 0
    for at, line in enumerate(lines[:30]):
        small = fold(line.strip())
        if not HEADER.match(small):
            if small and start:
                break
            continue
        start = at + 1
        if match := SUBJECT.match(small):
            subject = to_one_line(line.strip()[match.end() :], 200)
        elif match := SENT.match(small):
            posted = _read_day(small[match.end() :]) or posted
        elif match := FROM.match(small):
            address = _ADDRESS.search(small)
            domain = address[1] if address else domain
            sender = to_one_line(re.sub(r"<[^>]*>|\[mailto:[^\]]*\]", "", line.strip()[match.end() :]), 120)
    return Text("\n".join(lines[start:]), strip_subject(subject)[0], sender, True, posted, domain)


def _read_day(folded: str) -> date | None:
    """The day on which the forwarded letter was sent, where its header leaves no doubt of it."""
    days = {day for written, _, _ in find_dates(folded) for order in ("dmy", "mdy") if (day := written.exact(order))}
    return days.pop() if len(days) == 1 else None
