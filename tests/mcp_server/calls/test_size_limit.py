"""The length of an answer: whole up to a ceiling, cut where nothing is lost, a page to a smaller page."""

from typing import Any

import pytest

from mcp_server.calls.dispatch import MAX_CHARACTERS, count_characters, fit_to_limit
from shared.errors import Invalid

ROW = {"name": "x" * 990}


def data(rows: int, **more: Any) -> dict[str, Any]:
    return {"status": "ok", "message": "Here.", "rows": [dict(ROW) for _ in range(rows)], **more}


def test_what_is_short_enough_stays_as_it_is() -> None:
    given = data(90)
    assert fit_to_limit(given, reads=True) is given
    assert len(given["rows"]) == 90


def paging(page: int, per_page: int, total: int) -> dict[str, Any]:
    return {"page": page, "per_page": per_page, "total": total, "has_more": page * per_page < total}


def test_a_page_that_is_too_long_becomes_a_smaller_one_that_begins_where_it_began() -> None:
    made = fit_to_limit(data(100, paging=paging(3, 100, 400)), reads=True)
    assert count_characters(made) <= MAX_CHARACTERS
    assert len(made["rows"]) == 50
    assert made["paging"] == {"page": 5, "per_page": 50, "total": 400, "has_more": True}
    assert made["message"] == "Here. Too long to show whole: go on with page 6 and per_page 50."


def test_a_last_page_that_is_not_full_has_more_once_it_is_cut() -> None:
    made = fit_to_limit(data(101, paging=paging(1, 200, 101)), reads=True)
    assert (len(made["rows"]), made["paging"]["has_more"]) == (50, True)


def test_a_page_of_two_lists_is_refused_and_told_how_many_rows_fit() -> None:
    mixed = data(60, others=[dict(ROW) for _ in range(40)], paging=paging(1, 100, 400))
    with pytest.raises(Invalid) as refused:
        fit_to_limit(mixed, reads=True)
    assert refused.value.facts["errors"] == [
        {"field": "per_page", "problem": "makes a result longer than 100,000 characters", "expected": "at most 89 here"}
    ]


def test_lists_without_pages_are_cut_the_longest_first_and_the_sentence_says_so() -> None:
    short = [{"name": "y"} for _ in range(20)]
    made = fit_to_limit(data(300, few=short, has_more=False), reads=True)
    assert count_characters(made) <= MAX_CHARACTERS
    assert (len(made["few"]), made["has_more"]) == (20, True)
    assert made["message"] == f"Here. Too long to show whole: {len(made['rows'])} of 300 rows."
    assert len(made["rows"]) > 70


def test_what_was_written_is_told_even_where_its_page_is_too_long() -> None:
    made = fit_to_limit(data(300, paging={"per_page": 300}), reads=False)
    assert count_characters(made) <= MAX_CHARACTERS
    assert made["status"] == "ok"


def test_a_list_inside_a_part_is_cut_too_and_the_last_entry_stays() -> None:
    made = fit_to_limit(data(1, part={"nights": [{"name": "é" * 60_000}, {"name": "z" * 60_000}]}), reads=True)
    assert len(made["part"]["nights"]) == 1
    assert "1 of 2 part.nights" in made["message"]
