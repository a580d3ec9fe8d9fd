"""The audit: what is stale, contradicted, over, corrected or in doubt is found, the oldest first; the rest is not."""

from datetime import UTC, date, datetime, timedelta

import pytest

from shared.reference.ages import UNDATED
from shared.reference.audit import AGE_LIMITS, FactDoubt, ObservedPrice, audit_facts
from shared.reference.load import FOLDER, load, reference
from shared.reference.overrides import Override
from shared.reference.rows import FILES
from shared.reference.tables import read_raw_rows

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")

TODAY = date(2026, 11, 21)
PAGE = "https://www.americanexpress.com/us/"  # an issuer's own
WHEN = datetime(2026, 11, 2, tzinfo=UTC)


def of(kind: str, find_kinds: list[FactDoubt]) -> dict[tuple[str, str], FactDoubt]:
    return {(f.file, f.key): f for f in find_kinds if f.kind == kind}


def change(file: str, match: dict[str, str], **cells: str) -> Override:
    row = next(r for r in read_raw_rows(FOLDER, file) if match.items() <= r.items())
    return Override(1, file, row | cells, False, WHEN, "ops", "seen on the page")


def test_findings_come_oldest_first_and_no_two_share_a_key() -> None:
    result = audit_facts(reference(), TODAY)
    days = [f.since for f in result]
    assert days == sorted(days)
    assert len({(f.kind, f.file, f.key) for f in result}) == len(result) > 100


def test_limits_are_for_files_there_are() -> None:
    assert set(AGE_LIMITS) <= set(FILES)


@pytest.mark.slow  # loads all facts
def test_a_fact_is_stale_past_the_limit_of_its_file_and_a_look_settles_it() -> None:
    unaudited = {
        "audited_on": "",
        "confidence": "medium",
        "as_of": "2026-08-01",
        "source_url": "https://example.test/r",
    }
    card = change("cards.csv", {"slug": "us-amex-gold"}, **unaudited)
    old = load(overrides=[card]).reference
    result = of("stale", audit_facts(old, TODAY))
    mine = result["cards.csv", "https://example.test/r 2026-08-01"]
    assert (mine.since, mine.text) == (date(2026, 8, 1), "1 row last dated 2026-08-01, first us-amex-gold")
    assert not any("example.test" in key for _, key in of("stale", audit_facts(old, date(2026, 10, 1))))
    audited = change("cards.csv", {"slug": "us-amex-gold"}, audited_on="2026-11-20", source_url=PAGE)
    stale = of("stale", audit_facts(load(overrides=[audited]).reference, TODAY))
    assert not any(PAGE in key for _, key in stale)


def test_what_was_typed_from_memory_is_undated_whatever_the_day() -> None:
    rows = [f for f in audit_facts(reference(), TODAY) if f.kind == "stale" and "general knowledge" in f.key]
    assert rows
    assert {f.since for f in rows} == {UNDATED}


@pytest.mark.slow  # loads all facts
def test_a_row_whose_note_doubts_itself_is_a_finding_until_it_is_audited() -> None:
    unaudited = {"audited_on": "", "confidence": "medium", "note": "two lists conflict", "source_url": PAGE}
    doubt = change("cards.csv", {"slug": "us-amex-gold"}, **unaudited)
    result = of("queue", audit_facts(load(overrides=[doubt]).reference, TODAY))
    assert result["cards.csv", "us-amex-gold note"].text == "its note says 'conflict': two lists conflict"
    audited = change("cards.csv", {"slug": "us-amex-gold"}, note="conflict", source_url=PAGE, audited_on="2026-11-20")
    assert ("cards.csv", "us-amex-gold note") not in of(
        "queue", audit_facts(load(overrides=[audited]).reference, TODAY)
    )


def test_a_source_without_a_date_is_older_than_everything() -> None:
    undated = [f for f in audit_facts(reference(), TODAY) if f.kind == "stale" and f.since == UNDATED]
    assert any(f.file == "cards.csv" for f in undated)
    assert all("undated" in f.text for f in undated)


def test_a_window_is_over_the_day_after_its_last() -> None:
    bonus = next(r for r in reference().rows("transfer_bonuses.csv"))
    key = ("transfer_bonuses.csv", f"{bonus.from_program} {bonus.to_program} {bonus.valid_to}")
    assert key not in of("over", audit_facts(reference(), bonus.valid_to))
    over = of("over", audit_facts(reference(), bonus.valid_to + timedelta(days=1)))[key]
    assert over.since == bonus.valid_to


def chart_points() -> tuple[ObservedPrice, set[int]]:
    """A priced route, whatever programme has one."""
    for program, airline, start, end in (
        ("cathay-asia-miles", "CX", "LHR", "HKG"),
        ("ana-mileage-club", "UA", "SFO", "NRT"),
        ("virgin-atlantic-flying-club", "NH", "LHR", "HND"),
    ):
        price = reference().route_price(program, airline, start, end)
        for cabin, points in (price.cabins if price else {}).items():
            return ObservedPrice(program, airline, start, end, cabin, 1, 1, TODAY), set(points.points.values())
    raise AssertionError("no chart has a price")


@pytest.mark.slow  # loads all facts
@pytest.mark.spec("s1.5.charts_audited_weekly")
def test_a_chart_is_called_into_question_by_enough_fresh_observations() -> None:
    route, price = chart_points()

    def observe(points: int, times: int) -> ObservedPrice:
        named = (route.program, route.airline, route.origin, route.destination, route.cabin)
        return ObservedPrice(*named, points, times, date(2026, 11, 19))

    def find_kinds(*them: ObservedPrice) -> list[FactDoubt]:
        return [f for f in audit_facts(reference(), TODAY, them) if f.kind == "contradicted"]

    wrong, right = max(price) + 7_000, min(price)
    assert find_kinds(observe(wrong, 2)) == []
    assert find_kinds(observe(right, 9)) == []
    assert find_kinds(observe(wrong, 3), observe(right, 4)) == []
    message = find_kinds(observe(wrong, 5), observe(right, 4))
    assert [(f.file, f.key) for f in message] == [
        ("award_charts.csv", f"{route.program} {route.airline} {route.cabin}")
    ]
    assert f"{wrong:,}" in message[0].text
    assert f"{right:,}" in message[0].text


def test_where_no_chart_speaks_nothing_is_contradicted() -> None:
    dynamic = ObservedPrice("delta-skymiles", "DL", "JFK", "LHR", "economy", 1, 9, TODAY)
    nowhere = ObservedPrice("cathay-asia-miles", "CX", "QQQ", "HKG", "economy", 1, 9, TODAY)
    assert [f for f in audit_facts(reference(), TODAY, [dynamic, nowhere]) if f.kind == "contradicted"] == []


def test_a_correction_is_listed_until_it_stands_in_the_files() -> None:
    result = change("cards.csv", {"slug": "us-amex-gold"}, annual_fee="375")
    listed = of("override", audit_facts(reference(), TODAY, (), [result]))["cards.csv", "us-amex-gold"]
    assert (listed.since, listed.text) == (
        WHEN.date(),
        "correction by ops not yet in the file: seen on the page",
    )


@pytest.mark.slow  # loads all facts
def test_a_noted_doubt_lasts_until_its_row_is_audited() -> None:
    item = next(i for i in reference().rows("audit_queue.csv") if i.file == "cards.csv")
    key = ("cards.csv", f"{item.key} {item.field}")
    assert f"priority {item.priority}" in of("queue", audit_facts(reference(), TODAY))[key].text
    seen = {"audited_on": "2026-11-20", "source_url": PAGE}
    looked = load(overrides=[change("cards.csv", {"slug": item.key}, **seen)]).reference
    assert key not in of("queue", audit_facts(looked, TODAY))


def test_a_cell_left_out_of_a_chart_is_a_finding_until_the_chart_is_audited() -> None:
    cell = reference().rows("award_chart_rejected.csv")[0]
    key = ("award_charts.csv", f"{cell.chart_id} {cell.cabin or '-'} {cell.reason.split(':')[0]}")
    assert of("queue", audit_facts(reference(), TODAY))[key].text == f"left out, {cell.reason}"
