"""Folded text: small letters without accents, character for character, so that one pattern reads many languages."""

import re
import unicodedata
from functools import lru_cache

_UNDECOMPOSED = str.maketrans("łøđı", "lodi")  # letters that Unicode does not take apart
_FEW = 40  # non-English letters of a text: with more, as in Japanese, one pass is faster

# Digits and signs of numbers of Arabic, Persian, Hindi, Bengali, Tamil, Thai and Lao, as most papers write them.
_DIGITS = {ord(zero) + n: str(n) for zero in "٠۰०০௦๐໐" for n in range(10)} | {ord("٫"): ".", ord("٬"): ","}
_OTHER_DIGITS = re.compile("[" + "".join(map(chr, _DIGITS)) + "]+")


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    # NFKD also resolves full-width letters and ligatures. Superscripts stay: "Bonvoy™" is not "bonvoyt", "1º" not "1o".
    # Hangul stays: only the first sound of a syllable would be left, and many words would be one.
    if "가" <= letter <= "힣":
        return letter
    superscript = unicodedata.decomposition(letter).startswith("<super>")
    return unicodedata.normalize("NFD" if superscript else "NFKD", letter)[0].lower()[:1].translate(_UNDECOMPOSED)


def fold(text: str) -> str:
    """Folds a text to one of the same length: positions are the same in both."""
    if text.isascii():
        return text.lower()
    letters = [letter for letter in set(text) if letter > "\x7f"]
    if len(letters) > _FEW:
        return "".join(map(_fold_letter, text))
    for letter in letters:
        text = text.replace(letter, _fold_letter(letter))
    return text.lower()


def write_digits(text: str) -> str:
    """The text with the digits of all scripts as those of English, character for character."""
    return text if text.isascii() else _OTHER_DIGITS.sub(lambda run: run[0].translate(_DIGITS), text)
