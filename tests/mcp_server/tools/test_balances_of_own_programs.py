"""Programmes of a person's own through the gate: kept by name, counted everywhere, seen by no one else, removed."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from shared import clock
from shared.db.base import transaction
from shared.db.own_programs import MOST_PROGRAMS, OwnProgram
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

NAME, SLUG = "Village Miles", "own-village-miles"


def keep(use: Use, who: Any, **given: Any) -> dict[str, Any]:
    given = {"balance": 30_000, "other_name": NAME, "transfers": ["Flying Blue 3:2"]} | given
    return dict(use(who, "update_points_balance", **given))


def count_rows() -> int:
    with transaction() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(OwnProgram)) or 0


def test_update_points_balance_keeps_a_programme_that_is_not_known(people: People, use: Use) -> None:
    answer = keep(use, people.bob, cents_per_point=2.5, value_currency="BRL")
    assert (
        "no data here, so it counts as a programme of the user's own. Its points go to Flying Blue."
        in answer["message"]
    )
    kept = answer["balance"]
    assert (kept["program"], kept["name"], kept["kind"], kept["value"]["basis"]) == (SLUG, NAME, "own", "own")
    assert kept["own"] == {"cents_per_point": 2.5, "currency": "BRL", "transfers": ["Flying Blue 3:2"]}
    changed = use(people.bob, "update_points_balance", program=SLUG, balance=9, clear=["cents_per_point"])
    assert (changed["created"], changed["balance"]["value"]) == (False, None)
    assert changed["balance"]["own"]["transfers"] == ["Flying Blue 3:2"]
    said = ["Flying Blue 3.5:1", "Aeroplan 1:1,25", "Finnair Plus 1.000:500"]
    kept = keep(use, people.bob, transfers=said)["balance"]["own"]["transfers"]
    assert kept == ["Flying Blue 7:2", "Aeroplan 4:5", "Finnair Plus 1000:500"]
    assert keep(use, people.bob, other_name="village  MILES", member="Ann")["balance"]["program"] == SLUG
    assert count_rows() == 1


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"other_name": ""}, "invalid", "program"),
        ({"other_name": "Aeroplam"}, "invalid", "other_name"),
        ({"other_name": "Avios"}, "candidates", None),
        ({"transfers": ["Flying Blue"]}, "invalid", "transfers[0]"),
        ({"transfers": ["Flying Blue 0:1"]}, "invalid", "transfers[0]"),
        ({"transfers": ["Flying Blue 1:1", "flying-blue 2:1"]}, "invalid", "transfers[1]"),
        ({"transfers": ["Nowhere Club 1:1"]}, "not_found", None),
        ({"cents_per_point": 5, "value_currency": "XXX"}, "invalid", "value_currency"),
        ({"cents_per_point": 101}, "invalid", "cents_per_point"),
        ({"program": "flying-blue", "other_name": None}, "invalid", "transfers"),
        ({"program": "own-of-no-one", "other_name": None}, "not_found", None),
    ],
)
def test_update_points_balance_stores_no_programme_on_a_guess(
    people: People, use: Use, given: dict[str, Any], status: str, field: str | None
) -> None:
    answer = keep(use, people.bob, **given)
    assert (answer["status"], (answer.get("errors") or [{"field": None}])[0]["field"]) == (status, field)
    assert count_rows() == 0


def test_update_points_balance_takes_a_known_programme_by_any_name(people: People, use: Use) -> None:
    answer = keep(use, people.bob, other_name="RBC Avion", transfers=None, cents_per_point=2, value_currency="CAD")
    assert (answer["balance"]["program"], answer["balance"]["own"]) == ("rbc-avion", None)
    assert 1 < answer["balance"]["value"]["cents_per_point"] < 2
    assert count_rows() == 0
    use(people.charlie, "update_points_balance", program="", other_name="Livelo", balance=5)
    told = use(people.charlie, "get_portfolio")["message"]
    assert told.startswith("Points in 1 programme, whose worth is not known: Livelo.")


def test_each_tool_that_counts_balances_takes_a_programme_of_ones_own_along(people: People, use: Use) -> None:
    soon = (clock.today() + timedelta(days=20)).isoformat()
    routes = ["Flying Blue 3:2", "Virgin Atlantic Flying Club 1:1"]
    keep(use, people.paula, cents_per_point=1, expires_on=soon, transfers=routes)

    def ask(tool: str, **given: Any) -> dict[str, Any]:
        return dict(use(people.paula, tool, **given))

    listed = ask("list_points_balances", program=NAME)
    assert (listed["total_value"]["amount"], listed["expiring_soon"]) == (300, [SLUG])
    assert ask("get_portfolio")["balances"]["value"] == 300
    assert ask("get_points_valuation", program=NAME, points=1_000)["value_of_points"]["usual"] == 10
    assert NAME in str(ask("list_upcoming_deadlines")["deadlines"])
    path = ask("find_transfer_paths", from_program=NAME, target_program="flying-blue", points_needed=10_000)
    assert path["paths"][0]["source_points"] == 15_000
    assert len(ask("list_transfer_partners", program=NAME)["partners"]) == 2
    options = ask("compare_transfer_options", target_program="flying-blue", points_needed=20_000)
    assert (options["shortfall"], {o["from_program"] for o in options["options"]}) == (0, {SLUG})
    short = ask("compare_transfer_options", target_program="flying-blue", points_needed=20_001)
    assert short["shortfall"] == 1
    awards = ask("get_partner_award_options", origin="JFK", destination="CDG", cabin="economy")["options"]
    assert any(SLUG in str(option["via"]) for option in awards if option["reachable"] == "transfer")


def test_no_other_account_sees_a_programme_of_ones_own(people: People, use: Use) -> None:
    keep(use, people.alice)
    assert use(people.bob, "list_points_balances")["balances"] == []
    for tool, given in {
        "list_points_balances": {"program": NAME},
        "get_points_valuation": {"program": NAME},
        "list_transfer_partners": {"program": SLUG},
        "find_transfer_paths": {"from_program": NAME, "target_program": "flying-blue"},
        "update_points_balance": {"program": SLUG, "balance": 1},
        "delete_points_balance": {"program": SLUG},
    }.items():
        assert use(people.bob, tool, **given)["status"] == "not_found", tool
    assert keep(use, people.bob, transfers=["Aeroplan 1:1"])["balance"]["own"]["transfers"] == ["Aeroplan 1:1"]
    (hers,) = use(people.alice, "list_points_balances")["balances"]
    assert hers["own"]["transfers"] == ["Flying Blue 3:2"]


def test_delete_points_balance_forgets_a_programme_of_ones_own_with_its_last_balance(people: People, use: Use) -> None:
    keep(use, people.alice)
    keep(use, people.alice, member="Sam")
    assert use(people.alice, "delete_points_balance", program=SLUG)["message"].startswith(
        "The balance of Village Miles"
    )
    assert count_rows() == 1
    assert use(people.alice, "delete_points_balance", program=SLUG, member="Sam")["status"] == "ok"
    assert count_rows() == 0
    assert use(people.alice, "delete_points_balance", program=SLUG)["status"] == "not_found"


def test_update_points_balance_keeps_a_bounded_number_of_own_programmes(people: People, use: Use) -> None:
    with transaction(people.alice.account_id) as session:
        session.add_all(OwnProgram(slug=f"own-{n}", name=str(n), transfers=[]) for n in range(MOST_PROGRAMS))
    assert keep(use, people.alice)["errors"][0]["field"] == "other_name"


def test_a_programme_outside_the_list_is_kept_by_its_name_and_said_to_be_the_persons_own(
    people: People, use: Use
) -> None:
    answer = use(people.bob, "update_points_balance", program="Airpoints", balance=150_000)
    assert (answer["balance"]["name"], answer["balance"]["balance"]) == ("Airpoints", 150_000)
    assert "It has no data here, so it counts as a programme of the user's own." in answer["message"]
    again = use(people.bob, "update_points_balance", other_name="Airpoints", balance=160_000)
    assert (again["created"], again["previous"]["balance"]) == (False, 150_000)
    assert keep(use, people.bob, other_name="Livelo", transfers=None)["balance"]["balance"] == 150_000 - 120_000
