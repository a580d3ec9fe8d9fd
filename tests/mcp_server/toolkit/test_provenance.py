"""The few words of an answer about its facts: how far they were checked, by the day of the page."""

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_server.toolkit.provenance import (
    OLD_AGE,
    cite_checks,
    describe_audited,
    describe_verified,
    find_last_check,
)
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.sandbox_rows import list_objects
from shared import clock
from shared.domain.dates import format_iso_day

HYATT, GUIDE = "https://world.hyatt.com/a", "https://github.com/somebody/lists/blob/abc/hyatt.json"


def build_fact(url: str = HYATT, checked: str | None = None, dated: str | None = None, **more: Any) -> dict[str, Any]:
    usual = {"source_url": url, "as_of": dated, "unaudited": checked is None, "confidence": "medium"}
    return usual | {"verified_on": checked} | more


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ([], ""),
        ([build_fact(checked="2026-11-22")], "Checked 22 Nov 2026."),
        ([build_fact(dated="2025-12-15")], "Not checked; the oldest source is of 15 Dec 2025."),
        ([build_fact("general knowledge", confidence="low")], "Not checked. Confidence is low."),
        (
            [build_fact(checked="2026-11-22"), build_fact(GUIDE, checked="2026-10-01")],
            "Checked 1 Oct 2026 or later.",
        ),
        (
            [build_fact(checked="2026-11-22"), build_fact(dated="2025")],
            "Checked 22 Nov 2026, 1 of 2 not checked; the oldest of these is of 2025.",
        ),
        ([build_fact() | {"unaudited": False}], "Checked, the day is not known."),
    ],
)
def test_a_message_says_how_far_its_facts_were_checked(facts: list[dict[str, Any]], words: str) -> None:
    assert cite_checks(list_objects({"message": "", "rows": [{"fact": fact} for fact in facts]})) == words


@pytest.mark.parametrize(("days", "words"), [(0, "Not checked."), (1, "Not checked; the oldest source is of ")])
def test_an_unchecked_source_is_dated_from_half_a_year_on(days: int, words: str) -> None:
    day = clock.today() - OLD_AGE - timedelta(days=days)
    said = words + (f"{format_iso_day(day.isoformat())}." if days else "")
    assert cite_checks(list_objects({"rows": [{"fact": build_fact(dated=day.isoformat())}]})) == said


def test_the_day_of_an_answers_own_audit_counts() -> None:
    answer = {key: value for key, value in build_fact().items() if key != "verified_on"}
    cited = cite_checks(list_objects(answer | {"audited_on": "2026-11-22", "unaudited": False}))
    assert cited == "Checked 22 Nov 2026."


def test_the_day_told_is_that_of_the_page_not_of_the_look() -> None:
    """A page of July that somebody looked at in November was checked as it was in July."""
    july = SimpleNamespace(source_url=HYATT, as_of="2026-07-04", audited_on=date(2026, 11, 22), confidence="high")
    undated = SimpleNamespace(source_url=HYATT, as_of=None, audited_on=date(2026, 11, 22), confidence="high")
    assert describe_verified(july)["verified_on"] == "2026-07-04"
    assert describe_audited(july)["audited_on"] == date(2026, 7, 4)
    assert describe_verified(undated) == describe_verified(undated) | {"verified_on": None, "unaudited": False}
    assert find_last_check([july, undated]) is None


def test_the_tools_of_static_facts_cite_and_the_others_do_not() -> None:
    assert TOOLS["list_transfer_partners"].cites
    assert TOOLS["get_pricing"].cites
    assert TOOLS["list_my_cards"].cites  # the credits of one card are facts
    assert not TOOLS["list_notifications"].cites
