"""Folded text: small letters without accents, character for character, so that one pattern reads many languages."""

import unicodedata
from functools import lru_cache

_UNDECOMPOSED = str.maketrans("łøđı", "lodi")  # letters that Unicode does not take apart
_FEW = 40  # letters of a text that are not English: of more, as in Japanese, the text is gone through once


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    # NFKD also resolves full-width letters and ligatures. Superscripts stay: "Bonvoy™" is not "bonvoyt", "1º" not "1o".
    # Hangul stays: of a syllable its first sound alone would be left, and many words would be one.
    if "가" <= letter <= "힣":
        return letter
    superscript = unicodedata.decomposition(letter).startswith("<super>")
    return unicodedata.normalize("NFD" if superscript else "NFKD", letter)[0].lower()[:1].translate(_UNDECOMPOSED)


def fold(text: str) -> str:
    """Folds a text to one of the same length: a place in one is the same place in the other."""
    if text.isascii():
        return text.lower()
    letters = [letter for letter in set(text) if letter > "\x7f"]
    if len(letters) > _FEW:
        return "".join(map(_fold_letter, text))
    for letter in letters:
        text = text.replace(letter, _fold_letter(letter))
    return text.lower()
