"""Text made comparable: any text goes in; the same text in plain small letters, each in its old place, comes out."""

import re
import unicodedata
from functools import lru_cache

_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_GONE = re.compile(
    r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]"
)
_DASHES = re.compile(r"[\u2010-\u2015\u2212\uff0d]")


def tidy(text: str) -> str:
    """Without control characters and marks nobody sees, with one kind of line end, space and dash."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    return _DASHES.sub("-", _SPACES.sub(" ", _GONE.sub("", text)))


def one_line(text: str, longest: int) -> str:
    """A short text of one line that can be shown: no control characters, no runs of blanks."""
    return " ".join(tidy(text[: longest * 4]).split())[:longest].strip()


@lru_cache(maxsize=4096)
def _small(letter: str) -> str:
    return unicodedata.normalize("NFKD", letter)[0].lower()[:1]


def fold(text: str) -> str:
    """Small letters without accents, as many as before."""
    return text.lower() if text.isascii() else "".join(map(_small, text))
