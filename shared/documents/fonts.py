"""Shipped typefaces: which faces show a text, and text without characters that none can show."""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from fontTools.ttLib import TTFont

FOLDER = Path(__file__).parent / "font_files"
FAMILY = "NotoSans"
FACES = {"": "NotoSans-Regular.ttf", "B": "NotoSans-Bold.ttf"}
# Fallbacks for characters the family lacks: arrows, Arabic, Hebrew and Georgian; scripts of India; Thai; East Asia.
FALLBACKS = (
    "DejaVuSans",
    "NotoSansDevanagari-Regular",
    "NotoSansBengali-Regular",
    "NotoSansTamil-Regular",
    "NotoSansThai-Regular",
    "DroidSansFallback",
)
MAX_MARKS = 6  # combining marks per letter; no language uses more, and hundreds make the layout take seconds
_JOINERS = "\u200c\u200d"  # zero-width joiners, needed by Indic scripts and Persian
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_SHAPED = ("AL", "AN", "R", "NSM")  # bidirectional classes that need shaping


@cache
def _list_characters(name: str) -> frozenset[int]:
    """The characters a face can show."""
    with TTFont(FOLDER / f"{name}.ttf", lazy=True) as font:
        return frozenset(font.getBestCmap())


@lru_cache(maxsize=4096)
def _find_face(character: str) -> str | None:
    """The face that shows a character; None when no face does."""
    faces = (FAMILY + "-Regular", *FALLBACKS)
    return next((name for name in faces if ord(character) in _list_characters(name)), None)


def clean_text(text: str) -> str:
    """Text in NFC without control and direction characters; line breaks stay."""
    whole = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " "))
    characters = (c for c in whole if c == "\n" or c in _JOINERS or unicodedata.category(c) not in _UNSEEN)
    out: list[str] = []
    marks = MAX_MARKS  # a text must not begin with a mark
    for c in characters:
        marks = marks + 1 if c in _JOINERS or unicodedata.category(c) in ("Mn", "Me") else 0
        if marks <= MAX_MARKS:
            out.append(c)
    return "".join(out)


def to_showable(text: str) -> tuple[str, bool]:
    """The text with what no face can show left out, and whether anything was."""
    clean = clean_text(text)
    shown_text = "".join(c for c in clean if c in "\n " + _JOINERS or _find_face(c))
    return shown_text, shown_text != clean


def list_fallbacks(texts: Iterable[str]) -> list[str]:
    """The faces beyond the family that these texts need."""
    needed = {_find_face(c) for c in set().union(*map(set, texts)) - {"\n", " ", *_JOINERS}}
    return [name for name in FALLBACKS if name in needed]


def needs_shaping(texts: Iterable[str]) -> bool:
    """Whether letters join, change places or run from right to left in any of the texts."""
    return any(
        unicodedata.bidirectional(c) in _SHAPED or unicodedata.category(c) in ("Mn", "Mc") or "\u0900" <= c <= "\u0eff"
        for c in set().union(*map(set, texts))
    )


def is_right_to_left(text: str) -> bool:
    """Whether a paragraph begins in a script written from right to left."""
    strong = (unicodedata.bidirectional(c) for c in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"
