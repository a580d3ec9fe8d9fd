"""The heat-map of a month: shades by cabin, and three kinds of days without a price that are told apart."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from auth_server.pages.search import Row, build_searched, build_seen, format_thousands

TODAY = date(2027, 3, 5)
NOON = datetime(2027, 3, 5, 12, tzinfo=UTC)


def answer(*days: dict[str, Any], failed: int = 0) -> dict[str, Any]:
    cabins = ["economy", "premium_economy", "business", "first"]
    return {"days": list(days), "asked": {"cabins": cabins}, "coverage": {"failed": [{"name": "x"}] * failed}}


def day(number: int, state: str = "available", **prices: int) -> dict[str, Any]:
    cabins = {cabin: {"points": points} for cabin, points in prices.items()}
    return {"date": f"2027-03-{number:02}", "state": state, "cabins": cabins}


def seen(number: int, points: int, **more: Any) -> dict[str, Any]:
    row = {"date": f"2027-03-{number:02}", "cabin": "business", "points": points, "seats": 2}
    return row | {"seen_at": "2027-03-05T10:00:00Z"} | more


def kinds(rows: list[Row], number: int) -> list[str]:
    return [f"{cell.kind} {cell.words}" for cell in rows[number - 1].cells]


def test_each_cabin_has_its_own_scale() -> None:
    prices = zip((10, 11, 12, 14, 18), (100, 111, 126, 161, 109), strict=True)
    days = [day(5 + n, economy=eco * 1000, business=bus * 1000) for n, (eco, bus) in enumerate(prices)]
    rows = build_searched(answer(*days), "2027-03", TODAY)
    assert len(rows) == 31
    assert [kinds(rows, 5 + n)[0] for n in range(5)] == ["c1 10", "c1 11", "c2 12", "c3 14", "c4 18"]
    assert [kinds(rows, 5 + n)[2] for n in range(5)] == ["c1 100", "c2 111", "c3 126", "c4 161", "c1 109"]


def test_nothing_found_not_known_and_past_are_three_things() -> None:
    rows = build_searched(answer(day(5, economy=10_000), day(6, "none"), day(7, "unknown")), "2027-03", TODAY)
    assert kinds(rows, 4) == ["cu past"] * 4
    assert kinds(rows, 5) == ["c1 10", "c0 none", "c0 none", "c0 none"]
    assert kinds(rows, 6) == ["c0 none"] * 4
    assert kinds(rows, 7) == ["cu unknown"] * 4
    assert kinds(rows, 8) == ["cu unknown"] * 4, "the answer does not tell of it"


def test_where_a_source_failed_no_cabin_is_called_empty() -> None:
    rows = build_searched(answer(day(5, economy=10_000), failed=1), "2027-03", TODAY)
    assert kinds(rows, 5) == ["c1 10", "cu unknown", "cu unknown", "cu unknown"]


def test_what_was_seen_keeps_the_lowest_price_and_says_when_it_is_old() -> None:
    old = seen(9, 60_000, seen_at="2027-03-04T11:59:59Z")
    rows = build_seen([seen(8, 70_000), seen(8, 62_500), seen(8, 80_000), old], "2027-03", 1, NOON)
    assert [kinds(rows, n)[2] for n in (7, 8, 9)] == ["cu unknown", "c1 62.5", "old 60"]


def test_seats_too_few_for_the_party_are_left_out_and_uncounted_ones_are_not() -> None:
    rows = build_seen([seen(8, 10_000, seats=2), seen(8, 20_000, seats=None)], "2027-03", 3, NOON)
    assert kinds(rows, 8)[2] == "c1 20"


@pytest.mark.parametrize(
    ("points", "words"), [(500, "0.5"), (32_500, "32.5"), (60_000, "60"), (99_960, "100"), (146_500, "146")]
)
def test_prices_fit_a_cell(points: int, words: str) -> None:
    assert format_thousands(points) == words
