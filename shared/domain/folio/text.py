"""Lines of a bill without unseen characters, and with one kind of minus, space and bar."""

import re
import unicodedata

_MAX_LINES, _MAX_LINE_CHARACTERS = 3_000, 400
_SPACES = dict.fromkeys(map(ord, "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u200a\u3000\x0b\x0c"), " ")
_LIKE = _SPACES | dict.fromkeys(map(ord, "−–—‐‑﹣－"), "-") | {ord("’"): "'", ord("│"): "|", ord("¦"): "|"}
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_JOINED = re.compile(r"(?<=\d)[\u00a0\u202f\u2009\u2007](?=\d{3}(?!\d))")
_LEADERS = re.compile(r"[.·…_]{3,}")


def split_lines(text: str) -> list[str]:
    """The lines of a bill, with unseen characters removed and look-alikes of minus, space and bar made one."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n"))
    text = _JOINED.sub("'", text).translate(_LIKE)
    text = re.sub("[\u00a0\u202f\u2009\u2007]", " ", text)
    return [_LEADERS.sub(_to_blanks, line[:_MAX_LINE_CHARACTERS]).rstrip() for line in text.split("\n")[:_MAX_LINES]]


def _to_blanks(leaders: re.Match[str]) -> str:
    return " " * len(leaders.group())
