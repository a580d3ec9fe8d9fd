"""The corpus of letters: none is stored wrong, none is passed over in silence, and a floor of them is wholly right."""

from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from tests.shared.domain.confirmations.corpus.letter_source import FOLDER, read_letters
from tests.shared.domain.confirmations.corpus.scorer import Score, score

RIGHT_FLOOR = 0.85  # share of letters wholly right; raised as the readers improve
LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "nl", "ja"}
# Letters whose fault is known and stands: each leaves this list with its fault.
STORED_WRONG: frozenset[str] = frozenset()
SILENT: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def _scores() -> dict[str, Score]:
    return {letter.name: score(letter) for letter in read_letters()}


def _names(outcome: str) -> set[str]:
    return {name for name, result in _scores().items() if result.outcome == outcome}


def test_no_letter_is_stored_wrong() -> None:
    assert _names("WRONG_STORED") == STORED_WRONG


def test_no_letter_is_passed_over_in_silence() -> None:
    assert _names("silent") == SILENT


def test_the_floor_of_letters_is_wholly_right() -> None:
    assert len(_names("right")) / len(_scores()) >= RIGHT_FLOOR


def test_the_corpus_is_as_wide_as_it_says() -> None:
    letters = read_letters()
    assert {letter.language for letter in letters} == LANGUAGES
    assert len({letter.sender for letter in letters}) > 40


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.letter")), ids=lambda path: path.stem)
def test_a_letter_is_whole(path: Path) -> None:
    """No booking is expected twice, and each mail can be built."""
    from tests.shared.domain.confirmations.corpus.expectations import read_expected
    from tests.shared.domain.confirmations.corpus.letter_source import read_letter

    letter = read_letter(path)
    keys = Counter(str(sorted(allowed.items())) for _, allowed in read_expected(letter.expected).bookings)
    assert [key for key, count in keys.items() if count > 1] == []
    assert letter.parts
    assert letter.build()
