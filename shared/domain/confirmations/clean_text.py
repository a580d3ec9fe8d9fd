"""Text of mails without control characters and invisible marks, with one kind of space and dash."""

import re

_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile(
    r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]"
)
_DASHES = re.compile(r"[\u2010-\u2015\u2212\uff0d]")


def clean(text: str) -> str:
    """Without control characters and marks nobody sees, with one kind of line end, space and dash."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    return _DASHES.sub("-", _SPACES.sub(" ", _INVISIBLE.sub("", text)))


def cut_remarks(text: str) -> str:
    """Without closed remarks of a page's source, which no reader of the page sees.

    By `find`: a pattern that spans lines needs quadratic time on a text of openings.
    """
    out, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        out.append(text[at:start])
        at = end + 3
    return "".join(out) + text[at:]


def to_one_line(text: str, max_characters: int) -> str:
    """A short text of one line that can be shown: no control characters, no runs of blanks."""
    return " ".join(clean(text[: max_characters * 4]).split())[:max_characters].strip()
