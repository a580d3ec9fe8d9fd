"""Elite statuses through the gate: recorded, kept, listed, removed, and matched to offers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcp_server.toolkit.context import CallBase
from shared import clock
from shared.reference import statuses
from shared.reference.load import FOLDER, load, reference
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

BA, FB, AA = "british-airways-club", "flying-blue", "american-airlines-aadvantage"
SET = "set_loyalty_status"


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


@pytest.mark.spec("s2.9.status_keyed_by_program")
def test_set_loyalty_status_records_then_replaces_one_row(people: People, use: Use) -> None:
    first = use(people.bob, SET, program="BA", tier="silver", valid_until=day(100), progress=4200)
    record = first["loyalty_status"]
    assert (first["status"], first["created"]) == ("ok", True)
    assert (record["program"], record["tier"], record["kind"]) == (BA, "Silver", "airline")
    assert (record["days_left"], record["lifetime"], record["source"]) == (100, False, "manual")
    assert (record["progress"], record["progress_metric"], record["progress_as_of"]) == (4200, "tier_points", day(0))
    assert first["known_tiers"] == ["Blue", "Bronze", "Silver", "Gold", "Gold Guest List"]
    second = use(people.bob, SET, program=BA, tier="Gold")
    assert (second["created"], second["loyalty_status"]["tier"]) == (False, "Gold")
    assert len(use(people.bob, "list_loyalty_statuses")["statuses"]) == 1


def test_set_loyalty_status_keeps_what_is_not_sent_and_clears_what_is_named(people: People, use: Use) -> None:
    given = {"valid_until": day(50), "target_tier": "Gold", "progress": 10, "notes": "via match", "lifetime": True}
    use(people.bob, SET, program=FB, tier="Silver", **given)
    kept = use(people.bob, SET, program=FB, tier="Silver")["loyalty_status"]
    assert {name: kept[name] for name in given} == given
    assert use(people.bob, SET, program=FB, tier="Silver", lifetime=False)["loyalty_status"]["lifetime"] is False
    names = ["valid_until", "target_tier", "progress", "notes"]
    cleared = use(people.bob, SET, program=FB, tier="Silver", clear=names)["loyalty_status"]
    assert [cleared[n] for n in (*names, "progress_as_of", "progress_metric")] == [None] * 6


def test_set_loyalty_status_takes_zero_as_progress(people: People, use: Use) -> None:
    made = use(people.bob, SET, program=FB, tier="Silver", progress=0, progress_as_of=day(-3))["loyalty_status"]
    assert (made["progress"], made["progress_as_of"]) == (0, day(-3))


def test_set_loyalty_status_answers_an_unknown_tier_with_those_there_are(people: People, use: Use) -> None:
    answer = use(people.bob, SET, program=AA, tier="Sapphire")
    assert (answer["status"], answer["saved"]) == ("candidates", False)
    assert [c["tier"] for c in answer["candidates"]] == [
        "Member",
        "Gold",
        "Platinum",
        "Platinum Pro",
        "Executive Platinum",
    ]
    assert use(people.bob, SET, program=AA, tier="Gold", target_tier="Ruby")["status"] == "candidates"
    assert use(people.bob, "list_loyalty_statuses")["statuses"] == []


def test_set_loyalty_status_of_a_programme_without_known_tiers_keeps_the_name(people: People, use: Use) -> None:
    answer = use(people.bob, SET, program="aegean-miles-and-bonus", tier="Gold", progress=5)
    assert (answer["known_tiers"], answer["loyalty_status"]["tier"]) == ([], "Gold")
    assert answer["loyalty_status"]["progress_metric"] is None
    assert "not known" in answer["message"]


def test_progress_is_of_today_at_the_latest(people: People, use: Use) -> None:
    given = {"program": BA, "tier": "Silver", "progress": 5}
    no = use(people.bob, SET, **given, progress_as_of=day(1))
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "progress_as_of")
    assert use(people.bob, "list_loyalty_statuses")["statuses"] == []
    assert use(people.bob, SET, **given, progress_as_of=day(0))["status"] == "ok"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"valid_until": lambda: day(-1)}, "valid_until"),
        ({"progress_as_of": lambda: day(-1)}, "progress_as_of"),
        ({"notes": "x", "clear": ["notes"]}, "clear"),
        ({"target_tier": "Bronze"}, "target_tier"),
        ({"program": "chase-ultimate-rewards"}, "program"),
        ({"progress": -1}, "progress"),
        ({"program": "aegean-miles-and-bonus", "tier": "  "}, "tier"),
        ({"valid_until": "2027-02-30"}, "valid_until"),
    ],
)
def test_set_loyalty_status_refuses_what_cannot_be(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    answer = use(people.bob, SET, **({"program": BA, "tier": "Silver"} | evaluate(given)))
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"] == field
    assert use(people.bob, "list_loyalty_statuses")["statuses"] == []


def test_list_loyalty_statuses_by_kind_and_programme(people: People, use: Use) -> None:
    use(people.bob, SET, program=BA, tier="Gold")
    use(people.bob, SET, program="world-of-hyatt", tier="Globalist", lifetime=True)

    def listed(**given: Any) -> list[str]:
        return [s["program"] for s in use(people.bob, "list_loyalty_statuses", **given)["statuses"]]

    assert listed() == [BA, "world-of-hyatt"]
    assert listed(kind="hotel") == ["world-of-hyatt"]
    assert listed(program="Hyatt") == ["world-of-hyatt"]
    assert listed(program="Hilton") == []
    assert use(people.charlie, "list_loyalty_statuses")["statuses"] == []


def test_list_loyalty_statuses_without_the_one_asked_for_does_not_say_that_none_is_recorded(
    people: People, use: Use
) -> None:
    use(people.bob, "set_loyalty_status", program="flying-blue", tier="Silver")
    none = use(people.bob, "list_loyalty_statuses", program="delta")
    assert (none["statuses"], none["message"]) == ([], "No elite status of this programme or kind is recorded here.")
    assert use(people.charlie, "list_loyalty_statuses")["message"] == "No elite status is recorded here."


def test_delete_loyalty_status_stops_tracking_once(people: People, use: Use) -> None:
    use(people.bob, SET, program=BA, tier="Gold")
    gone = use(people.bob, "delete_loyalty_status", program="British Airways")
    assert (gone["status"], gone["removed"]) == ("ok", {"program": BA, "tier": "Gold"})
    assert gone["message"] == "Gold in The British Airways Club is no longer tracked."
    assert use(people.bob, "delete_loyalty_status", program=BA)["status"] == "not_found"


def test_delete_loyalty_status_cannot_remove_another_accounts(people: People, use: Use) -> None:
    use(people.alice, SET, program=BA, tier="Gold")
    assert use(people.charlie, "delete_loyalty_status", program=BA)["status"] == "not_found"
    assert len(use(people.alice, "list_loyalty_statuses")["statuses"]) == 1


def test_get_status_matches_gives_the_challenges_of_united_with_their_terms(people: People, use: Use) -> None:
    answer = use(people.bob, "get_status_matches", target_program="united")
    terms = {o["to_tier"]: (o["kind"], o["requirement"], o["once_per"]) for o in answer["offers"]}
    assert terms["Premier Gold"] == ("challenge", "10 PQF and 3,400 PQP within 120 days", "3 years")
    assert set(terms) == {"Premier Silver", "Premier Gold", "Premier Platinum", "Premier 1K"}
    assert answer["audited_on"] is None


def test_get_status_matches_of_a_programme_without_offers_is_empty(people: People, use: Use) -> None:
    answer = use(people.bob, "get_status_matches", target_program="wyndham")
    assert (answer["status"], answer["offers"], answer["paging"]["total"]) == ("ok", [], 0)


def test_get_status_matches_gives_no_offer_nobody_confirmed_for_a_year(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2027, 6, 1, tzinfo=UTC))
    assert use(people.bob, "get_status_matches")["offers"] == []


@pytest.fixture
def offers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two invented offers next to the reviewed facts, one of them over."""
    for file in FOLDER.iterdir():
        (tmp_path / file.name).symlink_to(file)
    table = tmp_path / "status_matches.csv"
    header = table.read_text(encoding="utf-8").splitlines()[0]
    table.unlink()
    page, second = "https://carrier.example/match", "https://guide.example/match"
    rows = [
        f"a,{FB},{BA}|{AA},,Gold|Platinum,Gold,challenge,99,EUR,Fly 4 segments,90,12,lifetime,{page},,,2027-01-31,"
        f"{page},{second},2026-10-01,2026-11-01,medium,",
        f"b,{FB},{BA},,Silver,Silver,match,,EUR,,,12,lifetime,{page},,,2026-01-31,{page},,2025-12,,low,",
        f"c,world-of-hyatt,{AA},,Gold,Explorist,match,,USD,,90,,lifetime,{page},,,2027-01-31,"
        f"{page},{second},2026-10,2026-10-01,medium,",
    ]
    table.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    facts = load(tmp_path).reference
    monkeypatch.setattr(CallBase, "reference", property(lambda _self: facts))


@pytest.mark.usefixtures("offers")
def test_get_status_matches_marks_who_can_use_them(people: People, use: Use) -> None:
    def told(**given: Any) -> dict[str, str]:
        answer = use(people.bob, "get_status_matches", **given)
        return {o["offer_id"]: o["eligible"] for o in answer["offers"]}

    assert told() == {"a": "unknown", "c": "unknown"}
    assert told(eligible_only=True) == {}
    use(people.bob, SET, program=BA, tier="Gold")
    assert told() == {"a": "yes", "c": "no"}
    assert told(eligible_only=True) == {"a": "yes"}
    assert told(kind="hotel") == {"c": "no"}
    assert told(target_program=FB, source_program=AA, source_tier="Platinum") == {"a": "yes"}
    assert told(source_program=AA, source_tier="Gold") == {"a": "yes", "c": "yes"}


@pytest.mark.usefixtures("offers")
def test_get_status_matches_gives_the_terms_and_the_day_of_the_audit(people: People, use: Use) -> None:
    answer = use(people.bob, "get_status_matches", target_program=FB)
    assert answer["audited_on"] == "2026-10-01"  # the day of its page
    (offer,) = answer["offers"]
    assert (offer["fee"], offer["currency"], offer["days_allowed"]) == (99, "EUR", 90)
    assert (offer["kind"], offer["to_tier"], offer["verified_on"]) == ("challenge", "Gold", "2026-10-01")


@pytest.mark.usefixtures("offers")
def test_recommend_status_path_ranks_a_challenge_with_a_price_before_a_run_without(people: People, use: Use) -> None:
    use(people.alice, SET, program=BA, tier="Gold")
    asked = {"target_program": FB, "target_tier": "Silver", "home_airport": "CPH", "currency": "EUR"}
    kinds = [p["kind"] for p in use(people.alice, "recommend_status_path", **asked)["paths"]]
    assert kinds[0] == "challenge"
    assert set(kinds[1:]) == {"status_run"}
    cheap = use(people.alice, "recommend_status_path", max_cash=50, **asked)
    assert "challenge" not in {p["kind"] for p in cheap["paths"]}


def test_get_status_matches_with_a_tier_of_no_programme_is_invalid(people: People, use: Use) -> None:
    assert use(people.bob, "get_status_matches", source_tier="Gold")["status"] == "invalid"


def test_set_loyalty_status_knows_a_tier_from_the_day_it_exists(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    assert use(people.bob, "set_loyalty_status", program="cathay", tier="Diamond Exec")["status"] == "candidates"
    standing_clock.set(datetime(2027, 1, 2, tzinfo=UTC))
    assert "Diamond Exec" in use(people.bob, "set_loyalty_status", program="cathay", tier="Diamond Exec")["known_tiers"]


def test_tiers_of_etihad_and_finnair_are_those_of_today() -> None:
    etihad, finnair = (statuses.build_ladder(reference(), p) for p in ("etihad-guest", "finnair-plus"))
    assert etihad.names == ["Bronze", "Silver", "Gold", "Platinum", "Diamond"]
    assert "at least 40,000 from flying" in (etihad.tiers[3].alternative or "")
    assert (etihad.tiers[4].metric, etihad.tiers[4].threshold) == ("usd_spend", 150_000)
    assert finnair.tiers[-1].threshold == 300_000


def test_set_loyalty_status_takes_only_counters_of_the_programme(people: People, use: Use) -> None:
    united = {"program": "united-mileageplus", "tier": "Premier Silver"}
    answer = use(people.bob, "set_loyalty_status", **united, other_progress={"xp": 3})
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "other_progress")
    assert "pqp, pqf" in answer["errors"][0]["expected"]
    stored = use(people.bob, "set_loyalty_status", **united, other_progress={"pqf": 7})["loyalty_status"]
    assert (stored["other_progress"], stored["progress_as_of"]) == ({"pqf": 7}, clock.today().isoformat())
    cleared = use(people.bob, "set_loyalty_status", **united, clear=["other_progress"])["loyalty_status"]
    assert (cleared["other_progress"], cleared["progress_as_of"]) == ({}, None)


def test_set_loyalty_status_takes_no_boolean_for_a_counter_and_no_counters_for_none(people: People, use: Use) -> None:
    united = {"program": "united-mileageplus", "tier": "Premier Silver"}
    answer = use(people.bob, "set_loyalty_status", **united, other_progress={"pqf": True})
    fault = answer["errors"][0]
    assert (answer["status"], fault["field"], fault["problem"]) == ("invalid", "other_progress.pqf", "is not a number")
    assert use(people.bob, "set_loyalty_status", **united, other_progress={})["loyalty_status"]["other_progress"] == {}
    listed = [{"name": "pqf", "amount": 7}]
    stored = use(people.bob, "set_loyalty_status", **united, other_progress=listed)["loyalty_status"]
    assert stored["other_progress"] == {"pqf": 7}
    assert use(people.bob, "set_loyalty_status", **united, other_progress={})["loyalty_status"]["other_progress"] == {}


def test_offers_left_out_because_they_do_not_say_whom_they_take_are_counted(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="Delta SkyMiles", tier="Platinum Medallion")
    every = use(people.alice, "get_status_matches")
    answer = use(people.alice, "get_status_matches", eligible_only=True)
    if not answer["offers"]:
        assert f"not said by those known here, {every['paging']['total']} in all: ask there." in answer["message"]
