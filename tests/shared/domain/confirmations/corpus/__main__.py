"""Prints how the readers do on the letters: `python -m tests.shared.domain.confirmations.corpus [NAME ...]`."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.shared.domain.confirmations.corpus.letter_source import FOLDER, read_letters
from tests.shared.domain.confirmations.corpus.scorer import OUTCOMES, Score, score


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _print_table(title: str, scores: list[Score], labels: Callable[[Score], list[str]]) -> None:
    rows: dict[str, Counter[str]] = {}
    for s in scores:
        for label in labels(s):
            rows.setdefault(label, Counter())[s.outcome] += 1
    _say(f"\n{title:<24}{'n':>5}" + "".join(f"{o:>14}" for o in OUTCOMES))
    for label, counts in sorted(rows.items(), key=lambda row: (-row[1].total(), row[0])):
        _say(f"{label:<24}{counts.total():>5}" + "".join(f"{counts[o] or '':>14}" for o in OUTCOMES))


def _print_differences(s: Score) -> None:
    _say(f"{s.letter.name}: {s.outcome}; asked: {', '.join(s.missing) or '-'}")
    for title, differences in (("wrong", s.wrong), ("lacking", s.lacking)):
        for booking, name, stated, value in differences:
            _say(f"  {title:<8}{booking:<40}{name:<26}stated {stated:<28}read {value}")


def main() -> None:
    """A table by language, kind and sender; with a name the differences of that letter, field by field."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="letters whose differences to print; their names may be shortened")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--outcome", help="print the differences of all letters of this outcome")
    parser.add_argument("--list", action="store_true", help="print the outcome of each letter")
    parser.add_argument("--mail", action="store_true", help="print the mails themselves")
    chosen = parser.parse_args()
    letters = [x for x in read_letters(chosen.folder) if not chosen.names or any(n in x.name for n in chosen.names)]
    if chosen.mail:
        for letter in letters:
            _say(letter.build().decode("utf-8", "replace"))
    scores = [score(letter) for letter in letters]
    for s in scores:
        if chosen.names or s.outcome == chosen.outcome:
            _print_differences(s)
        elif chosen.list:
            _say(f"{s.outcome:<14}{s.letter.name}")
    if not chosen.names and scores:
        _print_table("language", scores, lambda s: [s.letter.language])
        _print_table("kind", scores, lambda s: s.letter.kinds)
        _print_table("sender", scores, lambda s: [s.letter.sender])
        _print_table("all", scores, lambda s: ["all letters"])


main()
