"""The citation of an answer: one sentence that names the sources and says when they were last checked."""

from typing import Any

import pytest

from mcp_server.toolkit.provenance import cite_sources
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.sandbox_rows import list_objects

HYATT, GUIDE = "https://world.hyatt.com/a", "https://github.com/somebody/lists/blob/abc/hyatt.json"


def build_fact(url: str = HYATT, checked: str | None = None, dated: str | None = None, **more: Any) -> dict[str, Any]:
    usual = {"source_url": url, "as_of": dated, "unaudited": checked is None, "confidence": "medium"}
    return usual | {"verified_on": checked} | more


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ([], ""),
        ([build_fact(checked="2026-11-22")], "Source: hyatt.com; last checked on 22 Nov 2026."),
        ([build_fact(dated="2025-12-15")], "Source: hyatt.com; never checked, dated 15 Dec 2025."),
        ([build_fact()], "Source: hyatt.com; never checked, undated."),
        (
            [build_fact("general knowledge", confidence="low")],
            "Source: general knowledge; never checked, undated. Confidence is low.",
        ),
        (
            [build_fact(checked="2026-11-22"), build_fact(GUIDE, checked="2026-10-01")],
            "Sources: hyatt.com and github.com/somebody; last checked on 1 Oct 2026 or later.",
        ),
        (
            [build_fact(checked="2026-11-22"), build_fact(dated="2025"), build_fact()],
            "Source: hyatt.com; 2 of 3 never checked, the rest last checked on 22 Nov 2026.",
        ),
        (
            [build_fact(dated="2025-01"), build_fact(dated="2026-02-03"), build_fact()],
            "Source: hyatt.com; never checked, dated 2025-01 to 3 Feb 2026, some undated.",
        ),
        (
            [build_fact(f"https://guide{n}.example/") for n in range(5)],
            "Sources: guide0.example, guide1.example, guide2.example and 2 more; never checked, undated.",
        ),
    ],
)
def test_sources_are_named_once_with_their_last_check(facts: list[dict[str, Any]], sentence: str) -> None:
    assert cite_sources(list_objects({"message": "", "rows": [{"fact": fact} for fact in facts]})) == sentence


def test_the_day_of_an_answers_own_audit_counts() -> None:
    answer = {key: value for key, value in build_fact().items() if key != "verified_on"}
    cited = cite_sources(list_objects(answer | {"audited_on": "2026-11-22", "unaudited": False}))
    assert cited == "Source: hyatt.com; last checked on 22 Nov 2026."


def test_the_tools_of_static_facts_cite_and_the_others_do_not() -> None:
    assert TOOLS["list_transfer_partners"].cites
    assert TOOLS["get_pricing"].cites
    assert TOOLS["list_my_cards"].cites  # the credits of one card are facts
    assert not TOOLS["list_notifications"].cites
