"""The confirmation number of a letter: the one its lines or its subject call so."""

import re

from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.phrases import CONFIRMATION
from shared.domain.parsing.text import fold

_NUMBER = re.compile(r"^[\s:#.\t|-]*(?:is|ist|est|es|e)?[\s:#\t]*([A-Z0-9][A-Z0-9-]{4,24})(?![A-Za-z0-9])")
_DOTTED = re.compile(r"^[\s:#\t]*(\d{3,4}(?:\.\d{3}){2})(?![\d.]\d)")
_IN_SUBJECT = re.compile(r"#\s?([A-Z0-9]{5,20})\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])([A-Z0-9]{6})\b|\b(\d{7,12})\b")
_WITH_LETTERS = re.compile(r"^(?=.*\d)[A-Z0-9-]+$|^[A-Z]{6}$")


def find_confirmation(text: Text) -> str | None:
    """The one number the mail calls so; with several the first, as airlines put their own before those of partners."""
    lines = text.body.split("\n")
    for at, line in enumerate(lines):
        small = fold(line)
        for label in CONFIRMATION.finditer(small):
            below = next((ln for ln in lines[at + 1 : at + 3] if ln.strip()), "")
            for rest in (line[label.end() :], below if not line[label.end() :].strip(" :#.\t") else ""):
                if dotted := _DOTTED.match(rest):
                    return dotted[1].replace(".", "")
                if (match := _NUMBER.match(rest)) and _WITH_LETTERS.match(match[1]):
                    return match[1]
    if CONFIRMATION.search(fold(text.subject)) or "booking" in fold(text.subject):
        match = _IN_SUBJECT.search(text.subject)
        return next((g for g in match.groups() if g), None) if match else None
    return None
