"""An advisor's clients through the gate: recorded, found, changed and removed, and worth what valuations say."""

from decimal import Decimal
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS, Tier
from shared.domain.plans import Plan
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People, account

CREATE, GET, LIST = "create_client_portfolio", "get_client_portfolio", "list_client_portfolios"
UPDATE, DELETE = "update_client_portfolio", "delete_client_portfolio"
WHOLE: dict[str, Any] = {
    "client_name": "Ana Ivanović",
    "client_email": "ana@example.test",
    "phone": "+385 1 234 5678",
    "balances": {"Flying Blue": 40_000, "Chase Ultimate Rewards": "120,000", "Village Miles": 10},
    "preferences": {"cabin": "business", "anchors": ["ZAG", "VIE"]},
    "notes": "Wants an aisle.",
}
KEPT = {"flying-blue": 40_000, "chase-ultimate-rewards": 120_000, "Village Miles": 10}


@pytest.mark.spec(
    "s2.8.client_name_required",
    "s2.8.email_phone_notes",
    "s2.8.balances_map",
    "s2.8.preferences_free_form",
    "s2.8.portfolio_id",
)
def test_create_client_portfolio_keeps_every_field(people: People, use: Use) -> None:
    answer = use(people.paula, CREATE, **WHOLE)
    assert answer["unknown_programs"] == ["Village Miles"]
    assert answer["portfolio"] == answer["portfolio"] | WHOLE | {"balances": KEPT}
    assert isinstance(answer["portfolio"]["portfolio_id"], int)
    bare = use(people.paula, CREATE, client_name="Bare")["portfolio"]
    assert (bare["client_email"], bare["phone"], bare["notes"]) == (None, None, None)
    assert (bare["balances"], bare["preferences"]) == ({}, {})
    assert use(people.paula, CREATE)["errors"][0]["field"] == "client_name"


def test_create_client_portfolio_of_a_name_many_programmes_share_saves_nothing(people: People, use: Use) -> None:
    answer = use(people.paula, CREATE, client_name="Ana", balances={"Avios": 5})
    assert answer["status"] == "candidates"
    assert len(answer["candidates"]) > 1
    assert use(people.paula, LIST)["paging"]["total"] == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("client_email", "nobody"),
        ("phone", "call me"),
        ("client_name", "   "),
        ("balances", {"Flying Blue": -1}),
        ("preferences", {"a": "x" * 17_000}),
    ],
)
def test_create_client_portfolio_refuses_what_cannot_be_right(people: People, use: Use, field: str, value: Any) -> None:
    answer = use(people.paula, CREATE, **{"client_name": "Ana", field: value})
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["field"].startswith(field)


@pytest.mark.spec("s4.4.client_portfolios.pro")
@pytest.mark.parametrize("name", [CREATE, GET, LIST, UPDATE, DELETE])
def test_clients_are_for_advisors(people: People, use: Use, name: str) -> None:
    arguments = {"client_name": "Ana"} if name == CREATE else {} if name == LIST else {"portfolio_id": 1}
    assert TOOLS[name].tier is Tier.PRO
    assert use(people.alice, name, **arguments)["required_tier"] == "pro"


def test_get_client_portfolio_values_what_it_can_and_says_what_it_cannot(people: People, use: Use) -> None:
    portfolio = use(people.paula, CREATE, **WHOLE)["portfolio"]
    answer = use(people.paula, GET, portfolio_id=portfolio["portfolio_id"])
    known = reference().programs
    worth = sum(
        KEPT[s] * (known[s].value_usd_cents or Decimal(0)) / 100 for s in ("flying-blue", "chase-ultimate-rewards")
    )
    assert answer["portfolio"] == portfolio
    assert answer["total_value"]["amount"] == float(worth)
    assert answer["total_value"]["currency"] == "USD"
    assert answer["total_value"]["valuation_as_of"] is not None
    assert "Village Miles" in answer["message"]
    assert answer["pdfs"] == []


def test_list_client_portfolios_finds_by_name_mail_and_number(people: People, use: Use) -> None:
    use(people.paula, CREATE, **WHOLE)
    use(people.paula, CREATE, client_name="bob 100%_", client_email="b@example.test", phone="0171 99")
    use(people.paula, CREATE, client_name="Zoë")
    names = [p["client_name"] for p in use(people.paula, LIST)["portfolios"]]
    assert names == ["Ana Ivanović", "bob 100%_", "Zoë"]
    answer = use(people.paula, LIST)
    first = answer["portfolios"][0]
    assert (first["programs"], first["total_points"]) == (3, 160_010)
    assert "Ana Ivanović, 160,010 points in 3 programmes" in answer["message"]  # of which none is worth the same
    for query, found in (("ivanOVIĆ", 1), ("EXAMPLE", 2), ("0171", 1), ("%_", 1), ("  ", 3), ("nobody", 0)):
        assert use(people.paula, LIST, query=query)["paging"]["total"] == found
    assert [p["client_name"] for p in use(people.paula, LIST, page=2, per_page=2)["portfolios"]] == ["Zoë"]


def test_update_client_portfolio_changes_only_what_is_sent(people: People, use: Use) -> None:
    portfolio = use(people.paula, CREATE, **WHOLE)["portfolio"]
    answer = use(people.paula, UPDATE, portfolio_id=portfolio["portfolio_id"], phone="0171 234")
    assert answer["changed"] == ["phone"]
    assert answer["portfolio"] == portfolio | {"phone": "0171 234", "updated_at": answer["portfolio"]["updated_at"]}
    assert answer["portfolio"]["updated_at"] > portfolio["updated_at"]
    assert use(people.paula, UPDATE, portfolio_id=portfolio["portfolio_id"], phone="0171 234")["changed"] == []


def test_update_client_portfolio_lays_balances_over_those_kept(people: People, use: Use) -> None:
    number = use(people.paula, CREATE, **WHOLE)["portfolio"]["portfolio_id"]
    sent = {"flying blue": 1, "Village Miles": None, "Hamlet Points": 2}
    answer = use(people.paula, UPDATE, portfolio_id=number, balances=sent, preferences={"cabin": None, "pace": "slow"})
    assert answer["portfolio"]["balances"] == {"flying-blue": 1, "chase-ultimate-rewards": 120_000, "Hamlet Points": 2}
    assert answer["portfolio"]["preferences"] == {"anchors": ["ZAG", "VIE"], "pace": "slow"}
    assert set(answer["changed"]) == {"balances", "preferences"}
    assert answer["unknown_programs"] == ["Village Miles", "Hamlet Points"]


def test_update_client_portfolio_with_replace_puts_balances_in_place_of_the_old(people: People, use: Use) -> None:
    number = use(people.paula, CREATE, **WHOLE)["portfolio"]["portfolio_id"]
    answer = use(people.paula, UPDATE, portfolio_id=number, balances={"flying-blue": 1}, replace=True)
    assert answer["portfolio"]["balances"] == {"flying-blue": 1}
    assert answer["portfolio"]["preferences"] == WHOLE["preferences"]


def test_update_client_portfolio_empties_what_clear_names(people: People, use: Use) -> None:
    number = use(people.paula, CREATE, **WHOLE)["portfolio"]["portfolio_id"]
    fields = ["client_email", "phone", "balances", "preferences", "notes"]
    answer = use(people.paula, UPDATE, portfolio_id=number, clear=fields)
    assert set(answer["changed"]) == set(fields)
    assert [answer["portfolio"][f] for f in fields] == [None, None, {}, {}, None]
    both = use(people.paula, UPDATE, portfolio_id=number, clear=["balances"], balances={"flying-blue": 1})
    assert both["errors"][0]["field"] == "clear"


def test_update_client_portfolio_keeps_the_bounds_over_many_changes(people: People, use: Use) -> None:
    number = use(people.paula, CREATE, client_name="Ana")["portfolio"]["portfolio_id"]
    halves = [{f"Club {n}": n for n in range(start, start + 60)} for start in (0, 60)]
    assert use(people.paula, UPDATE, portfolio_id=number, balances=halves[0])["status"] == "ok"
    assert use(people.paula, UPDATE, portfolio_id=number, balances=halves[1])["status"] == "invalid"
    assert use(people.paula, UPDATE, portfolio_id=number, preferences={"a": "x" * 9_000})["status"] == "ok"
    assert use(people.paula, UPDATE, portfolio_id=number, preferences={"b": "x" * 9_000})["status"] == "invalid"


@pytest.mark.spec("s3.client_portfolio.delete_permanent")
def test_delete_client_portfolio_is_final_and_takes_back_its_documents(people: People, use: Use) -> None:
    number = use(people.paula, CREATE, **WHOLE)["portfolio"]["portfolio_id"]
    pdf = use(people.paula, "generate_branded_pdf", summary="x", client_portfolio_id=number)["pdf"]["pdf_id"]
    other = use(people.paula, "generate_branded_pdf", summary="x")["pdf"]["pdf_id"]
    gone = use(people.paula, DELETE, portfolio_id=number)
    assert gone["removed"] == {"portfolio_id": number, "client_name": WHOLE["client_name"]}
    assert gone["pdfs_revoked"] == 1
    for name in (GET, DELETE, UPDATE):
        assert use(people.paula, name, portfolio_id=number)["status"] == "not_found"
    kept = {p["pdf_id"]: p for p in use(people.paula, "list_branded_pdfs", include_revoked=True)["pdfs"]}
    assert kept[pdf]["revoked_at"] is not None
    assert (kept[pdf]["url"], kept[pdf]["client_portfolio_id"]) == (None, None)
    assert kept[other]["revoked_at"] is None


def test_one_advisors_clients_are_nobody_elses(people: People, use: Use) -> None:
    rival = account("rival", Plan.ENTERPRISE)
    number = use(people.paula, CREATE, **WHOLE)["portfolio"]["portfolio_id"]
    for name in (GET, DELETE, UPDATE):
        theirs, nobodys = (use(rival, name, portfolio_id=n) for n in (number, number + 1))
        assert theirs["status"] == nobodys["status"] == "not_found"
        assert theirs["message"].replace(str(number), "N") == nobodys["message"].replace(str(number + 1), "N")
    assert use(rival, LIST)["paging"]["total"] == 0
    assert use(people.paula, GET, portfolio_id=number)["portfolio"]["client_name"] == WHOLE["client_name"]
