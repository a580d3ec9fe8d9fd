"""Compact answers: shared provenance once, own provenance where it differs, and nothing that cannot be restored."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.calls.dispatch import condense, write_text
from mcp_server.toolkit.sandbox_rows import list_objects

FACT = {"source_url": "https://a.test/", "as_of": "2026-01-02", "unaudited": False, "confidence": "high"}
SEEN = {"source": "one", "mode": "live", "provider_checked_at": None, "age_seconds": 5}


def _condense(data: dict[str, Any]) -> dict[str, Any]:
    return condense(data, list_objects(data)[1:])


def test_provenance_of_most_rows_stands_once_and_rows_keep_what_differs() -> None:
    rows = [FACT | {"n": 1}, FACT | {"n": 2, "as_of": None}, FACT | {"n": 3, "source_url": "https://b.test/"}]
    answer = _condense({"rows": rows})
    assert answer == {
        "detail": "compact",
        "provenance": FACT,
        "rows": [{"n": 1}, {"n": 2, "as_of": None}, {"n": 3, "source_url": "https://b.test/"}],
    }
    assert '{"as_of":null,"n":2}' in write_text(answer)


def test_facts_and_sightings_share_apart() -> None:
    answer = _condense({"a": [FACT | {"n": 1}, FACT | {"n": 2}], "b": [SEEN | {"n": 3}, SEEN | {"n": 4}]})
    assert answer["provenance"] == FACT | SEEN
    assert (answer["a"], answer["b"]) == ([{"n": 1}, {"n": 2}], [{"n": 3}, {"n": 4}])


def test_a_field_that_some_rows_never_had_stays_in_all() -> None:
    rows = [FACT | {"verified_on": "2026-01-03"}, FACT | {"verified_on": "2026-01-03"}, FACT | {"audited_on": None}]
    answer = _condense({"rows": [dict(row) for row in rows]})
    assert [set(row) for row in answer["rows"]] == [{"verified_on"}, {"verified_on"}, set()]
    assert "verified_on" not in answer["provenance"]


def test_one_row_alone_keeps_its_provenance_and_a_result_its_freshness() -> None:
    freshness = {"mode": "live", "source": "one", "fetched_at": "x", "provider_checked_at": None}
    answer = _condense({"freshness": dict(freshness), "rows": [SEEN | {"n": 1}]})
    assert answer["freshness"] == freshness
    assert "provenance" not in answer
    assert answer["rows"] == [{"source": "one", "mode": "live", "age_seconds": 5, "n": 1}]


def test_rows_leave_out_what_is_empty_and_the_result_does_not() -> None:
    answer = _condense({"left": None, "rows": [{"a": None, "b": 0, "c": [], "d": {"e": None, "f": False}}]})
    assert answer == {"detail": "compact", "left": None, "rows": [{"b": 0, "c": [], "d": {"f": False}}]}


def test_bookable_with_is_said_where_it_differs_from_the_programme() -> None:
    rows = [{"program": "p", "bookable_with": ["p"]}, {"program": "p", "bookable_with": ["p", "q"]}]
    assert _condense({"rows": rows})["rows"] == [{"program": "p"}, {"program": "p", "bookable_with": ["p", "q"]}]


def test_what_airlines_and_values_have_in_common_stands_once_too() -> None:
    standing = {"endpoints": ["availability", "monthly"], "state": "live", "last_success_at": None}
    airlines = [standing | {"code": "AA"}, standing | {"code": "BA"}, standing | {"code": "VS", "endpoints": []}]
    answer = _condense({"airlines": airlines})
    assert answer["provenance"] == standing
    assert answer["airlines"] == [{"code": "AA"}, {"code": "BA"}, {"code": "VS", "endpoints": []}]
    opinions = [{"name": "x", "value": 1, "as_of": "2026-01-02"}, {"name": "y", "value": 1, "as_of": "2025-01-02"}]
    values = [FACT | {"unit": "cents", "basis": "median", "sources": [dict(o) for o in opinions]} for _ in range(2)]
    answer = _condense({"values": values})
    assert answer["provenance"] == FACT | {"unit": "cents", "basis": "median"}
    assert answer["values"] == [{"sources": [{"name": "x", "value": 1}, opinions[1]]}] * 2


def test_a_part_of_a_fact_has_the_confidence_of_the_fact_unless_it_says_another() -> None:
    def fact(confidence: str) -> dict[str, Any]:
        parts = [{"rate": n, "confidence": level} for n, level in enumerate(("high", "low"))]
        return FACT | {"confidence": confidence, "rates": parts}

    first, second, third = _condense({"rows": [fact("high"), fact("high"), fact("low")]})["rows"]
    assert first == second == {"rates": [{"rate": 0}, {"rate": 1, "confidence": "low"}]}
    assert third == {"confidence": "low", "rates": [{"rate": 0, "confidence": "high"}, {"rate": 1}]}


def test_coverage_counts_and_names_failures_alone() -> None:
    bad, left_out = [{"name": "BA", "reason": "timeout"}], [{"name": "QR", "reason": "not_on_sale"}]
    coverage = {"asked": ["one", "BA", "AF"], "answered": ["one", "AF"], "failed": bad, "skipped": left_out}
    assert _condense({"coverage": coverage})["coverage"] == {
        "asked_count": 3,
        "answered_count": 2,
        "failed": bad,
        "skipped": left_out,
    }


def test_the_text_leaves_out_nulls_at_every_depth() -> None:
    assert json.loads(write_text({"a": None, "b": [{"c": None, "d": [None, 1]}]})) == {"b": [{"d": [None, 1]}]}


_PLAIN = st.one_of(st.none(), st.integers(0, 2), st.sampled_from(["x", "y"]))
_ROW = st.fixed_dictionaries(dict.fromkeys((*FACT, "verified_on"), _PLAIN))


@given(st.lists(_ROW, max_size=5))
def test_every_rows_provenance_can_be_restored(rows: list[dict[str, Any]]) -> None:
    answer = _condense({"rows": [dict(row) for row in rows]})
    shared, empty = answer.get("provenance", {}), dict.fromkeys((*FACT, "verified_on"))
    assert [empty | shared | row for row in answer["rows"]] == rows
