"""Text of mails without control characters and invisible marks, with one kind of space and dash."""

import re
from collections.abc import Sequence

from shared.domain.parsing.text import write_digits

_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile(
    r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]"
)
_DASHES = re.compile(r"[\u2010-\u2015\u2212\uff0d]")


def clean(text: str) -> str:
    """Removes control characters and marks no one sees; leaves one kind of line end, space and dash."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    return write_digits(_DASHES.sub("-", _SPACES.sub(" ", _INVISIBLE.sub("", text))))


def cut_remarks(text: str) -> str:
    """Removes closed remarks of a page's source, which no reader of the page sees.

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


_WRAPPED_AT = 45  # characters; a shorter line may be a title or a cell
_LONGEST_SENTENCE = 600


def join_wrapped(lines: Sequence[str]) -> list[str]:
    """The lines, with a sentence that a writer of plain text broke over several of them on one."""
    out: list[str] = []
    width = 0  # of the last line as it was written
    for line in lines:
        goes_on = width >= _WRAPPED_AT and "\t" not in line and "\t" not in out[-1] and line[:1].islower()
        if goes_on and len(out[-1]) < _LONGEST_SENTENCE and not out[-1].rstrip().endswith((".", "!", "?", ":")):
            out[-1] = f"{out[-1].rstrip()} {line}"
        else:
            out.append(line)
        width = len(line)
    return out
