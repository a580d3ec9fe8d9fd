"""Sheets on the pages: files of what is kept, and tables whose rows are looked at and then added."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from tests.auth_server.in_process_browser import hidden
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_bookings_page import text_of
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/sheets"
TABLE = "programme;points\nAeroplan;42.318\nNo such one;5\nWorld of Hyatt;30000\n"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test")


def post(world: World, page: str, **fields: str) -> Any:
    form = world.get(PAGE).text.split(f'action="{PAGE}"')[1]
    return world.http.post(world.url + page, data={"csrf": hidden(form, "csrf")} | fields)


def test_a_sheet_is_a_file_with_the_letters_of_all_countries(world: World, ann: Caller, use: Any) -> None:
    use(ann, "update_points_balance", program="air-canada-aeroplan", balance=42_318, notes="=1+2 für Zoë")
    file = world.get(f"{PAGE}/balances.csv")
    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert file.headers["content-disposition"].startswith('attachment; filename="award-travel-balances-')
    assert file.content.startswith(b"\xef\xbb\xbfprogram,")
    assert "'=1+2 für Zoë" in file.content.decode()
    assert world.get(f"{PAGE}/secrets.csv").status_code == 404
    assert f"{PAGE}?kind=balances" in world.get("/dashboard/balances").text


def test_a_table_is_looked_at_first_and_then_added(world: World, ann: Caller, use: Any) -> None:
    seen = post(world, PAGE, kind="balances", sheet=TABLE)
    assert "2 to add, 0 already saved, 1 refused. Nothing is saved yet." in text_of(seen.text)
    assert "Line 3 refused program" in text_of(seen.text)
    assert use(ann, "list_points_balances")["balances"] == []
    form = seen.text.split(f'action="{PAGE}/save"')[1]
    fields = {"csrf": hidden(form, "csrf"), "kind": "balances", "sheet": TABLE}
    done = world.http.post(f"{world.url}{PAGE}/save", data=fields)
    assert "2 rows saved" in text_of(done.text)
    assert {b["balance"] for b in use(ann, "list_points_balances")["balances"]} == {42_318, 30_000}
    again = post(world, PAGE, kind="balances", sheet=TABLE)
    assert "0 to add, 2 already saved, 1 refused." in text_of(again.text)


def test_a_file_and_a_statement_are_read_too(world: World, ann: Caller, use: Any) -> None:
    form = world.get(PAGE).text.split(f'action="{PAGE}/upload"')[1]
    fields = {"csrf": hidden(form, "csrf"), "kind": "cards"}
    upload = {"file": ("cards.csv", b"name,opened\nus-amex-gold,2026-01-05\n", "text/csv")}
    seen = world.http.post(f"{world.url}{PAGE}/upload", data=fields, files=upload)
    assert "1 to add" in text_of(seen.text)
    stated = post(world, PAGE, kind="balances", sheet="Iberia Club\nSaldo: 42.000 Avios")
    assert "42,000" in text_of(stated.text)
    assert post(world, PAGE, kind="balances", sheet="nothing").status_code == 422


def test_a_row_that_its_tool_refuses_leaves_the_others_saved(world: World, ann: Caller, use: Any) -> None:
    table = "card,opened_on,closed_on\nus-amex-gold,2026-01-05,\nus-amex-platinum,2026-01-05,2025-01-01\n"
    seen = post(world, PAGE, kind="cards", sheet=table)
    form = seen.text.split(f'action="{PAGE}/save"')[1]
    fields = {"csrf": hidden(form, "csrf"), "kind": "cards", "sheet": table}
    done = world.http.post(f"{world.url}{PAGE}/save", data=fields)
    assert "1 row saved Not saved: Line 3 closed_on: This is before opened_on." in text_of(done.text)
    assert [card["slug"] for card in use(ann, "list_my_cards")["cards"]] == ["us-amex-gold"]
