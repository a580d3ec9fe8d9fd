"""Folded text: small letters without accents, character for character, so that one pattern reads many languages."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    # NFKD also resolves full-width letters and ligatures. Superscripts stay: "Bonvoy™" is not "bonvoyt", "1º" not "1o".
    superscript = unicodedata.decomposition(letter).startswith("<super>")
    return unicodedata.normalize("NFD" if superscript else "NFKD", letter)[0].lower()[:1]


def fold(text: str) -> str:
    """As long as the text itself: a place in one is the same place in the other."""
    return text.lower() if text.isascii() else "".join(map(_fold_letter, text))
