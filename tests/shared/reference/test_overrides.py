"""Facts corrected without a release: checked like the files, laid over them, traced, taken up by running servers."""

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_server.calls import fact_refresh
from shared import clock
from shared.db.base import transaction
from shared.db.overrides import ReferenceChange, newest_changes, overrides
from shared.redis import FACTS, connect
from shared.reference import load
from shared.reference.load import FOLDER, read_tables, reference
from shared.reference.overrides import Override, build_key
from shared.reference.rows import FILES
from shared.reference.tables import read_raw_rows
from shared.services.operations import facts
from shared.services.operations.facts import BadFact, refresh, remove_fact, set_fact, undo_fact

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")

BONUS = {
    "from_program": "amex-membership-rewards",
    "to_program": "flying-blue",
    "bonus_percent": "40",
    "valid_from": "2026-11-20",
    "valid_to": "2026-12-20",
    "targeted": "no",
    "source_url": "https://example.test/bonus",
}
FEE = {"slug": "us-amex-gold", "annual_fee": "375", "source_url": "https://www.americanexpress.com/us/gold"}


@pytest.fixture
def as_before(clean: None) -> Iterator[None]:
    """The facts of this process as the files have them, before and after."""
    files, version = reference(), facts._loaded_version[0]
    facts._loaded_version[0] = 0
    yield
    load.replace(files)
    facts._loaded_version[0] = version


def correct(file: str, cells: dict[str, str]) -> Any:
    with transaction() as session:
        return set_fact(session, file, cells, "ops", "the issuer's page")


def test_the_key_of_each_file_names_one_row() -> None:
    keys = {file: Counter(build_key(file, row) for row in read_raw_rows(FOLDER, file)) for file in FILES}
    assert [f"{file}: {key}" for file, times in keys.items() for key, n in times.items() if n > 1] == []


@pytest.mark.spec("s1.5.charts_kept_by_operator")
def test_a_correction_changes_one_row_and_says_when_it_was_audited(as_before: None) -> None:
    before, after = correct("cards.csv", FEE)
    assert (before["annual_fee"], after["annual_fee"]) == ("325", "375")
    assert (before["note"] != "", after["note"], after["confidence"]) == (True, "", "high")
    assert reference().cards["us-amex-gold"].annual_fee == 325
    assert refresh()
    card = reference().cards["us-amex-gold"]
    assert (card.annual_fee, card.name) == (375, "American Express Gold Card")
    assert (card.audited_on or date.min) >= date(2026, 1, 1)
    assert not refresh()  # nothing new: nothing is read again


def test_a_correction_with_one_source_of_somebody_else_is_no_audit(as_before: None) -> None:
    _, after = correct("cards.csv", FEE | {"source_url": "https://example.test/gold"})
    assert (after["audited_on"], after["confidence"]) == ("", "medium")
    _, after = correct(
        "cards.csv",
        FEE | {"source_url": "https://example.test/gold", "second_source_url": "https://another.example/gold"},
    )
    assert (after["audited_on"] != "", after["confidence"]) == (True, "high")


def test_a_new_fact_stands_where_the_order_wants_it_and_answers(as_before: None) -> None:
    correct("transfer_bonuses.csv", BONUS)
    refresh()
    rows = [r for r in reference().rows("transfer_bonuses.csv") if r.source_url == BONUS["source_url"]]
    assert [r.bonus_percent for r in rows] == [40]
    on = reference().routes(date(2026, 12, 20))["amex-membership-rewards"]
    assert [e.bonus.percent for e in on if e.target == "flying-blue" and e.bonus] == [40]


def test_every_fault_of_a_correction_is_told_and_nothing_is_stored(as_before: None) -> None:
    with pytest.raises(BadFact) as bad:
        correct("transfer_bonuses.csv", BONUS | {"bonus_percent": "900", "to_program": "nowhere"})
    assert "bonus_percent 900 is outside" in str(bad.value)
    assert "'nowhere' is not a programme" in str(bad.value)
    with pytest.raises(BadFact, match="bonus_percent 'lots' is not a whole number"):
        correct("transfer_bonuses.csv", BONUS | {"bonus_percent": "lots"})
    with pytest.raises(BadFact, match="source_url is missing"):
        correct("cards.csv", {"slug": "us-amex-gold", "annual_fee": "1"})
    with pytest.raises(BadFact, match=r"has no column colour; .*slug is missing"):
        correct("cards.csv", {"colour": "gold"})
    with pytest.raises(BadFact, match=r"new and lacks .*name"):
        correct("lounges.csv", {"slug": "new-lounge", "airport": "LHR", "source_url": "https://example.test"})
    with pytest.raises(BadFact, match=r"no file nothing\.csv"):
        correct("nothing.csv", {"a": "b"})
    with transaction() as session:
        assert (list(overrides(session)), list(newest_changes(session, None, 9))) == ([], [])


@pytest.mark.slow  # loads all facts
def test_rows_are_removed_and_corrections_undone(as_before: None) -> None:
    with transaction() as session:
        remove_fact(session, "lounges.csv", {"slug": reference().rows("lounges.csv")[0].slug}, "ops", "closed")
    refresh()
    assert len(reference().rows("lounges.csv")) == 1365
    gone = next(iter(r["slug"] for r in read_raw_rows(FOLDER, "lounges.csv")))
    with transaction() as session:
        undo_fact(session, "lounges.csv", {"slug": gone}, "ops", "it is open")
    refresh()
    assert len(reference().rows("lounges.csv")) == 1366
    with transaction() as session, pytest.raises(BadFact, match="No correction"):
        undo_fact(session, "lounges.csv", {"slug": gone}, "ops", "again")


def test_an_added_row_can_be_removed_and_an_unknown_one_cannot(as_before: None) -> None:
    correct("transfer_bonuses.csv", BONUS)
    with transaction() as session:
        remove_fact(session, "transfer_bonuses.csv", BONUS, "ops", "ended early")
        assert list(overrides(session)) == []
    with transaction() as session, pytest.raises(BadFact, match="has no row"):
        remove_fact(session, "transfer_bonuses.csv", BONUS, "ops", "again")


def test_a_row_others_rest_on_is_not_removed(as_before: None) -> None:
    with transaction() as session, pytest.raises(BadFact, match=r"is not in cards\.csv"):
        remove_fact(session, "cards.csv", {"slug": "us-amex-gold"}, "ops", "gone")


def test_the_trail_keeps_who_when_before_and_after(as_before: None) -> None:
    correct("cards.csv", FEE)
    correct("cards.csv", FEE | {"annual_fee": "395"})
    with transaction() as session:
        newest, oldest = newest_changes(session, "cards.csv", 9)
        assert (newest.before["annual_fee"], newest.after["annual_fee"]) == ("375", "395")
        assert (oldest.before["annual_fee"], oldest.made_by, oldest.reason) == ("325", "ops", "the issuer's page")
        assert newest.made_at >= oldest.made_at
        assert len(overrides(session)) == 1


@pytest.mark.slow  # loads all facts
def test_a_correction_a_newer_release_does_not_fit_is_left_out_alone(
    as_before: None, caplog: pytest.LogCaptureFixture
) -> None:
    when = datetime(2026, 11, 1, tzinfo=UTC)
    gold = next(r for r in read_raw_rows(FOLDER, "cards.csv") if r["slug"] == "us-amex-gold")
    good = Override(1, "cards.csv", gold | {"annual_fee": "375"}, False, when, "ops", "why")
    old = Override(2, "cards.csv", {"slug": "x", "colour": "gold"}, False, when, "ops", "why")
    result = facts._apply_corrections([old, good])
    assert result.cards["us-amex-gold"].annual_fee == 375
    assert "correction 2 is left out" in caplog.text


def test_a_correction_of_a_file_that_a_release_removed_is_a_fault_like_others() -> None:
    strange = Override(7, "gone.csv", {"slug": "x"}, False, clock.now(), "ann", "why")
    with pytest.raises(load.ReferenceError) as error:
        load.read_tables(load.FOLDER, [strange])
    assert error.value.faults == ["gone.csv:override 7: there is no such file"]


def test_laid_over_rows_are_checked_with_all_files() -> None:
    row = dict(read_raw_rows(FOLDER, "airlines.csv")[0])
    wrong = Override(
        1, "airlines.csv", row | {"program": "nowhere"}, False, datetime(2026, 11, 1, tzinfo=UTC), "o", "r"
    )
    with pytest.raises(load.ReferenceError, match=r"airlines\.csv:override of .* 'nowhere' is not a programme"):
        read_tables(FOLDER, [wrong])


def test_a_running_server_takes_a_correction_up_at_a_word(as_before: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_refresh, "POLL_SECONDS", 60.0)  # it would not look again by itself

    async def is_seen() -> bool:
        with anyio.move_on_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fact_refresh.watch_corrections)
                while not connect().pubsub_numsub(FACTS)[0][1]:
                    await anyio.sleep(0.02)
                await anyio.to_thread.run_sync(correct, "cards.csv", FEE)
                await anyio.to_thread.run_sync(facts.announce_change)
                while reference().cards["us-amex-gold"].annual_fee != 375:
                    await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()
        return bool(reference().cards["us-amex-gold"].annual_fee == 375)

    assert anyio.run(is_seen)


@pytest.mark.slow  # loads all facts
def test_files_that_are_wrong_leave_a_running_server_the_facts_it_has(
    as_before: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A deployment under way may replace the files below a running server."""
    before = reference()
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    (folder / "cards.csv").write_text("slug,nam\n", encoding="utf-8")
    monkeypatch.setattr(facts, "FOLDER", folder)
    monkeypatch.setattr(load, "FOLDER", folder)
    monkeypatch.setattr(load.load, "__defaults__", (folder, ()))
    with transaction() as session:
        session.add(ReferenceChange(made_by="ann", file="cards.csv", key="x", action="undone", reason="why"))
    monkeypatch.setattr(fact_refresh, "_listen", _stop)
    with pytest.raises(_Stopped):
        anyio.run(fact_refresh.watch_corrections)
    assert not refresh()
    assert reference() is before
    assert "facts: the ones in use stay, the files have faults: cards.csv:1: the header differs" in caplog.text
    monkeypatch.undo()
    with transaction() as session:
        session.add(ReferenceChange(made_by="ann", file="cards.csv", key="x", action="undone", reason="why"))
    assert refresh()
    assert reference() is not before


class _Stopped(Exception):
    """The watch got as far as to wait for the next message."""


async def _stop() -> None:
    raise _Stopped
