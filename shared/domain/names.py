"""Loose names: normal form, exact and partial meanings, nearest known names."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping

LIKENESS = 0.6  # share of letters two names must have in common, in order
_NOISE = re.compile(r"[^a-z0-9+]+")
# Letters that Unicode does not split into a plain letter and an accent.
_PLAIN = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "ı": "i"})


def normalize_name(text: str) -> str:
    """Lower case without accents and punctuation, so that spellings match."""
    bare = unicodedata.normalize("NFKD", text.translate(_PLAIN)).encode("ascii", "ignore").decode()
    return _NOISE.sub(" ", bare.lower().replace("&", " and ")).strip()


def find_meanings(
    text: str, names: Mapping[str, tuple[str, ...]], others: Collection[str] | None = None
) -> tuple[str, ...]:
    """The things with exactly this name (one, or several that share it); else those whose name it begins or is in.

    With `others`, further names in the world, a part means one thing only if it starts the name and no other is
    called so: "British" is enough for British Airways, but neither "Royal" nor "Smiles" for the only one here.
    """
    text_form = normalize_name(text)
    if not text_form:
        return ()
    if text_form in names:
        return names[text_form]
    if len(text_form) < 3:  # single letters mean nothing
        return ()
    whole = _hold_words(text_form, names)
    things = tuple(sorted({thing for name in whole for thing in names[name]}))
    if others is None or len(things) != 1:
        return things if others is None or text_form not in others else ()
    begins = any(name.startswith(f"{text_form} ") for name in whole)
    return things if begins and not _hold_words(text_form, others) else ()


def _hold_words(text_form: str, names: Iterable[str]) -> list[str]:
    near = [name for name in names if text_form in name]  # this rules out most: 10 us instead of 60
    return [name for name in near if f" {text_form} " in f" {name} "]


def find_close(text: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The known names that differ by a misspelling, best first; among names of the same first letter."""
    text_form = normalize_name(text)
    same_letter = dict.fromkeys(name for name in names if name[:1] == text_form[:1])
    return difflib.get_close_matches(text_form, same_letter, count, 0.75)


def has_slips_only(words: list[str], name: list[str]) -> bool:
    """Whether each word equals the name's word in its place, or differs by a letter or two."""
    pairs = list(zip(words, name, strict=True))
    return all(a == b or (a[0] == b[0] and difflib.SequenceMatcher(None, a, b).ratio() >= 0.7) for a, b in pairs)


def find_nearest(text: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The closest known names, best first; none if nothing is similar: a far guess would be accepted."""
    text_form = normalize_name(text)
    close = difflib.get_close_matches(text_form, dict.fromkeys(names), 10 * count, LIKENESS) if text_form else []
    return [name for name in close if _is_alike(text_form, name)][:count]


def _is_alike(text_form: str, name: str) -> bool:
    """Whether the parts that the names do not share are similar: "points" is no likeness, and an acronym has none."""
    words, others = text_form.split(), name.split()
    own = " ".join(word for word in words if word not in others)
    rest = [word for word in others if word not in words]
    if len(words) == 1 and len(own) < 4:
        return False
    return not own or bool(difflib.get_close_matches(own, [" ".join(rest), *rest], 1, 0.75))
