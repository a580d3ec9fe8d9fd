"""python -m tests.evals [--search hosts|find_tools] [--file FILE] [--misses] [--learn]: how often a tool is found."""

import argparse
from collections.abc import Iterable
from pathlib import Path

import yaml

from mcp_server.calls.tool_search import LEARNED
from tests.evals.requests import PARTS, UNSEEN
from tests.evals.selection import (
    Answer,
    Score,
    answer_file,
    answers_of,
    count_confusions,
    learn_words,
    score,
    score_by_area,
    score_by_style,
)


def _print_score(label: str, figures: Score) -> None:
    shares = "".join(f"{share:>8.3f}" for share in figures[1:])
    print(f"{label:<20}{figures.requests:>5}{shares}")


def _print_scores(label: str, answers: list[Answer]) -> None:
    print(f"\n{label:<20}{'n':>5}{'R@1':>8}{'R@5':>8}{'MRR':>8}")
    _print_score("all", score(answers))
    for group, figures in (score_by_style(answers) | score_by_area(answers)).items():
        _print_score(f"  {group}", figures)


def _print_confusions(label: str, answers: Iterable[Answer]) -> None:
    print(f"\n{label}: wanted, taken for")
    for (wanted, first), times in count_confusions(answers).most_common():
        print(f"  {times} {wanted} < {first}")


def _print_misses(answers: Iterable[Answer]) -> None:
    for answer in answers:
        if answer.place is None or answer.place > 5:
            print(f"{answer.request.id} [{answer.place or '-'}] {answer.request.text}")
            print(f"    wanted {', '.join(answer.request.accept)}\n    got    {', '.join(answer.first_five)}")


def _parse_options(words: list[str] | None) -> tuple[argparse.Namespace, dict[str, list[Answer]]]:
    """The options, and the answers of each part and of the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="also the requests not answered within the first five")
    parser.add_argument("--file", type=Path, help="also requests of your own: YAML rows of id, text, style and accept")
    parser.add_argument(
        "--search",
        choices=("hosts", "find_tools"),
        default="hosts",
        help="what hosts' searches index (the default), or find_tools with its phrases",
    )
    parser.add_argument("--learn", action="store_true", help="write what find_tools learns from the requests, first")
    options = parser.parse_args(words)
    if options.learn:
        LEARNED.write_text(learn_words(), encoding="utf-8")
    answers = {part: answers_of(part, options.search) for part in PARTS}
    try:
        return options, answers | (
            {str(options.file): answer_file(options.file, options.search)} if options.file else {}
        )
    except (OSError, ValueError, yaml.YAMLError) as error:
        parser.error(str(error))


def main(words: list[str] | None = None) -> None:
    options, answers_by_part = _parse_options(words)
    for label, answers in answers_by_part.items():
        _print_scores(label, answers)
    for label, answers in answers_by_part.items():
        if label in UNSEEN:
            continue
        _print_confusions(label, answers)
        if options.misses:
            _print_misses(answers)


if __name__ == "__main__":
    main()
