"""Points balances through the gate: set, valued, listed with what ends soon, and removed."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.parameters import ProgramSlug
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

SLUGS: tuple[str, ...] = ProgramSlug.__args__  # type: ignore[attr-defined]
UNVALUED = "icelandair-saga-club"


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def read_balances(use: Use, who: Any, **filters: Any) -> dict[str, int]:
    return {b["program"]: b["balance"] for b in use(who, "list_points_balances", **filters)["balances"]}


@pytest.mark.spec("s4.4.delete_points_balance.slug_enum")
def test_update_points_balance_takes_the_programmes_of_the_reference() -> None:
    assert len(SLUGS) == 57
    assert list(SLUGS) == sorted(SLUGS)
    assert set(SLUGS) < set(reference().programs)


def test_update_points_balance_takes_each_programme_that_is_known_here(people: People, use: Use) -> None:
    others = sorted(set(reference().programs) - set(SLUGS))
    kept = [use(people.bob, "update_points_balance", program=slug, balance=1)["balance"]["program"] for slug in others]
    assert kept == others


@pytest.mark.spec("s2.9.balance_keyed_by_slug")
def test_update_points_balance_creates_then_changes_one_row(people: People, use: Use) -> None:
    first = use(people.bob, "update_points_balance", program="flying-blue", balance=1000, as_of="2026-01-05")
    assert (first["status"], first["created"], first["previous"]) == ("ok", True, None)
    second = use(people.bob, "update_points_balance", program="flying-blue", balance=2500)
    assert (second["created"], second["previous"]) == (False, {"balance": 1000, "as_of": "2026-01-05"})
    assert read_balances(use, people.bob) == {"flying-blue": 2500}


def test_update_points_balance_gives_the_whole_record(people: People, use: Use) -> None:
    answer = use(people.bob, "update_points_balance", program="flying-blue", balance=100_000, expires_on=day(30))
    record, program = answer["balance"], reference().programs["flying-blue"]
    assert (record["name"], record["kind"], record["currency_name"]) == (program.name, "airline", program.currency)
    assert (record["expires_on"], record["days_left"], record["as_of"]) == (day(30), 30, day(0))
    assert record["value"] == {
        "amount": float(1000 * Decimal(str(program.value_usd_cents))),
        "currency": "USD",
        "cents_per_point": float(program.value_usd_cents),
        "basis": "published",
    }
    assert (record["notes"], record["source"]) == (None, "manual")


def test_update_points_balance_keeps_what_is_not_sent_and_clears_what_is_named(people: People, use: Use) -> None:
    def update(**given: Any) -> tuple[Any, Any]:
        balance = use(people.bob, "update_points_balance", program="flying-blue", balance=1, **given)["balance"]
        return balance["expires_on"], balance["notes"]

    assert update(expires_on="2030-01-01", notes="Household") == ("2030-01-01", "Household")
    assert update() == ("2030-01-01", "Household")
    assert update(clear=["notes"]) == ("2030-01-01", None)
    assert update(clear='["expires_on"]', notes="Mine") == (None, "Mine")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"program": "flyin blau"}, "program"),
        ({"balance": -1}, "balance"),
        ({"balance": 1_000_000_001}, "balance"),
        ({"balance": True}, "balance"),
        ({"balance": 1.5}, "balance"),
        ({"balance": None}, "balance"),
        ({"expires_on": "2026-2-1"}, "expires_on"),
        ({"as_of": "2026-02-30"}, "as_of"),
        ({"as_of": "2200-01-01"}, "as_of"),
        ({"notes": "x" * 1001}, "notes"),
        ({"clear": ["balance"]}, "clear[0]"),
        ({"clear": ["notes"], "notes": "x"}, "clear"),
    ],
)
def test_update_points_balance_refuses_bad_input(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    no = use(people.bob, "update_points_balance", **{"program": "flying-blue", "balance": 1, **given})
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert read_balances(use, people.bob) == {}


def test_update_points_balance_refusing_a_slug_names_the_nearest(people: People, use: Use) -> None:
    no = use(people.bob, "update_points_balance", program="flying-blu", balance=1)
    assert "flying-blue" in no["errors"][0]["expected"]


@pytest.mark.parametrize("names", [(None, None), ("Anna", "anna")], ids=["the holder", "a member"])
def test_update_points_balance_at_once_leaves_one_row(people: People, names: tuple[str | None, str | None]) -> None:
    made: list[str] = []

    async def one(number: int) -> None:
        given = {"program": "bilt-rewards", "balance": number, "member": names[number % 2]}
        made.append((await dispatch("update_points_balance", given, people.bob, "mcp")).status)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)

    limiter.cache_clear()
    anyio.run(many)
    assert made == ["ok"] * 8
    with transaction(people.bob.account_id) as session:
        assert len(session.scalars(select(PointsBalance)).all()) == 1


def test_list_points_balances_adds_up_dated_valuations(people: People, use: Use) -> None:
    for program in ("flying-blue", "world-of-hyatt", UNVALUED):
        use(people.bob, "update_points_balance", program=program, balance=10_000)
    answer = use(people.bob, "list_points_balances")
    known = [reference().programs[p] for p in ("flying-blue", "world-of-hyatt")]
    assert answer["total_value"]["amount"] == pytest.approx(sum(float(p.value_usd_cents) * 100 for p in known))
    assert answer["total_value"]["currency"] == "USD"
    assert answer["total_value"]["valuation_as_of"] == min(str(p.as_of) for p in known)
    without = next(b for b in answer["balances"] if b["program"] == UNVALUED)
    assert without["value"] is None
    assert without["name"] in answer["message"]


def test_list_points_balances_quotes_the_rule_and_computes_no_date(people: People, use: Use) -> None:
    use(people.bob, "update_points_balance", program="british-airways-club", balance=1)
    (record,) = use(people.bob, "list_points_balances")["balances"]
    assert record["expiry_rule"] == "activity, 36 months"
    assert (record["expires_on"], record["days_left"]) == (None, None)


def test_list_points_balances_names_what_ends_within_ninety_days(people: People, use: Use) -> None:
    for program, end in (("flying-blue", 90), ("world-of-hyatt", 91), ("bilt-rewards", -1), ("atmos-rewards", 0)):
        use(people.bob, "update_points_balance", program=program, balance=5, expires_on=day(end))
    assert use(people.bob, "list_points_balances")["expiring_soon"] == ["atmos-rewards", "flying-blue"]


def test_list_points_balances_filters_by_kind_and_loose_name(people: People, use: Use) -> None:
    for program in ("flying-blue", "world-of-hyatt", "bilt-rewards"):
        use(people.bob, "update_points_balance", program=program, balance=5)
    assert list(read_balances(use, people.bob)) == ["bilt-rewards", "flying-blue", "world-of-hyatt"]
    assert list(read_balances(use, people.bob, kind="hotel")) == ["world-of-hyatt"]
    assert list(read_balances(use, people.bob, program="Flying Blue")) == ["flying-blue"]
    assert read_balances(use, people.bob, program="delta-skymiles") == {}
    assert use(people.bob, "list_points_balances", program="no such thing at all")["status"] == "not_found"
    assert use(people.bob, "list_points_balances", program="x" * 300)["status"] == "invalid"


@pytest.mark.spec("s4.4.delete_points_balance.slug_enum")
def test_list_points_balances_without_the_one_asked_for_does_not_say_that_none_is_kept(
    people: People, use: Use
) -> None:
    use(people.bob, "update_points_balance", program="flying-blue", balance=5)
    none = use(people.bob, "list_points_balances", program="delta")
    assert (none["status"], none["balances"]) == ("ok", [])
    assert none["message"].startswith("No saved balance is of this programme or kind.")
    assert (
        "No points balances are saved yet." in use(people.charlie, "list_points_balances", program="delta")["message"]
    )


def test_update_points_balance_whose_last_day_is_past_says_so(people: People, use: Use) -> None:
    given = {"program": "flying-blue", "balance": 5}
    past = use(people.bob, "update_points_balance", **given, expires_on="2020-12-20")
    assert "Their last day, 20 Dec 2020, is past" in past["message"]
    assert "is past" not in use(people.bob, "update_points_balance", **given, clear=["expires_on"])["message"]


def test_list_points_balances_adds_every_slug_on_request(people: People, use: Use) -> None:
    answer = use(people.bob, "list_points_balances", include_supported=True)
    listed = [p["program"] for p in answer["supported_programs"]]
    assert listed == sorted(reference().programs)
    assert set(SLUGS) < set(listed)
    assert {p["kind"] for p in answer["supported_programs"]} == {"airline", "hotel", "bank"}
    assert use(people.bob, "list_points_balances")["supported_programs"] is None


def test_list_points_balances_of_nobody_is_an_empty_sum(people: People, use: Use) -> None:
    answer = use(people.bob, "list_points_balances")
    assert (answer["status"], answer["balances"]) == ("ok", [])
    assert answer["total_value"] == {"amount": 0.0, "currency": "USD", "valuation_as_of": None}


def test_list_points_balances_sends_one_statement_for_any_number(people: People, use: Use, queries: list[str]) -> None:
    for program in SLUGS[:20]:
        use(people.bob, "update_points_balance", program=program, balance=5)
    queries.clear()
    use(people.bob, "list_points_balances")
    assert len(queries) == 1


@pytest.mark.spec("s4.4.delete_points_balance.free")
@pytest.mark.parametrize("who", ["bob", "alice", "paula"])
def test_delete_points_balance_works_on_every_plan(people: People, use: Use, who: str) -> None:
    caller = getattr(people, who)
    use(caller, "update_points_balance", program="flying-blue", balance=7)
    gone = use(caller, "delete_points_balance", program="flying-blue")
    assert gone["removed"] == {"program": "flying-blue", "balance": 7}
    no = use(caller, "delete_points_balance", program="flying-blue")
    assert (no["status"], no["id"]) == ("not_found", "flying-blue")


@pytest.mark.spec("s4.4.delete_points_balance.slug_enum")
def test_delete_points_balance_takes_only_canonical_slugs(people: People, use: Use) -> None:
    assert use(people.bob, "delete_points_balance", program="Flying Blue")["status"] == "invalid"
    assert TOOLS["delete_points_balance"].arguments.schema["properties"]["program"]["enum"] == list(SLUGS)


def test_delete_points_balance_says_what_is_gone_and_whose_it_was(people: People, use: Use) -> None:
    for member, balance in (("Anna", 12_500), (None, 30_000)):
        use(people.alice, "update_points_balance", program="air-canada-aeroplan", balance=balance, member=member)
    gone = use(people.alice, "delete_points_balance", program="air-canada-aeroplan", member="anna")
    assert gone["message"] == "The balance of Aeroplan of Anna, 12,500, is removed."
    gone = use(people.alice, "delete_points_balance", program="air-canada-aeroplan")
    assert gone["message"] == "The balance of Aeroplan, 30,000, is removed."


def test_delete_points_balance_leaves_another_accounts_alone(people: People, use: Use) -> None:
    use(people.alice, "update_points_balance", program="flying-blue", balance=7)
    assert use(people.charlie, "delete_points_balance", program="flying-blue")["status"] == "not_found"
    assert read_balances(use, people.alice) == {"flying-blue": 7}


def test_update_points_balance_takes_the_own_value_of_a_point(people: People, use: Use) -> None:
    sent = {"program": "world-of-hyatt", "balance": 10_000}
    published = use(people.bob, "update_points_balance", **sent)["balance"]["value"]
    own = use(people.bob, "update_points_balance", **sent, cents_per_point=2.25)["balance"]["value"]
    assert (published["basis"], own["basis"], own["amount"], own["cents_per_point"]) == ("published", "own", 225, 2.25)
    assert use(people.bob, "get_portfolio")["balances"]["value"] == 225
    again = use(people.bob, "update_points_balance", **sent, clear=["cents_per_point"])["balance"]["value"]
    assert again == published
    for cents in (0, 100.5, 1e308, 10**30):
        assert use(people.bob, "update_points_balance", **sent, cents_per_point=cents)["status"] == "invalid"


def test_update_points_balance_keeps_one_balance_for_each_member_of_the_household(people: People, use: Use) -> None:
    aeroplan = {"program": "air-canada-aeroplan"}
    use(people.bob, "update_points_balance", **aeroplan, balance=40_000)
    use(people.bob, "update_points_balance", **aeroplan, balance=25_000, member="Anna")
    second = use(people.bob, "update_points_balance", **aeroplan, balance=30_000, member=" anna ")
    assert (second["created"], second["previous"]["balance"], second["balance"]["member"]) == (False, 25_000, "Anna")
    answer = use(people.bob, "list_points_balances")
    assert [(b["member"], b["balance"]) for b in answer["balances"]] == [(None, 40_000), ("Anna", 30_000)]
    assert [(m["member"], m["programs"]) for m in answer["by_member"]] == [(None, 1), ("Anna", 1)]
    (together,) = answer["household"]
    assert (together["points"], together["pooling"]) == (70_000, "yes")
    assert "70,000 points of Aeroplan in the household, which lets members put them together" in (answer["message"])
    assert use(people.bob, "get_portfolio")["balances"]["points"] == 70_000
    gone = use(people.bob, "delete_points_balance", **aeroplan, member="ANNA")
    assert gone["removed"]["balance"] == 30_000
    assert use(people.bob, "update_points_balance", **aeroplan, balance=1, member=" ")["status"] == "invalid"


def test_list_points_balances_says_where_a_household_cannot_pool(people: People, use: Use) -> None:
    for member in ({}, {"member": "Anna"}):
        use(people.bob, "update_points_balance", program="american-airlines-aadvantage", balance=10_000, **member)
    assert "does not let members put them together" in use(people.bob, "list_points_balances")["message"]


def test_compare_transfer_options_spends_the_own_balances_before_those_that_can_be_pooled(
    people: People, use: Use
) -> None:
    chase = {"program": "chase-ultimate-rewards", "balance": 90_000}
    use(people.alice, "update_points_balance", **chase, member="Anna")
    asked = {"target_program": "Hyatt", "points_needed": 30_000}
    pooled = use(people.alice, "compare_transfer_options", **asked)
    assert [(lent["member"], lent["points"]) for lent in pooled["pooled_with"]] == [("Anna", 40_000)]
    use(people.alice, "update_points_balance", **chase)
    assert use(people.alice, "compare_transfer_options", **asked)["pooled_with"] == []


def test_a_members_name_is_spelt_as_in_the_own_household_alone(people: People, use: Use) -> None:
    sent = {"program": "world-of-hyatt", "balance": 5}
    use(people.alice, "update_points_balance", **sent, member="aNNa")
    assert use(people.bob, "update_points_balance", **sent, member="anna")["balance"]["member"] == "anna"
