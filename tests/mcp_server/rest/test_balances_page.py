"""Balances kept by hand: the forms go through the tools, whose faults stand at the fields with what was typed."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/balances"
UNITED = {"program": "united-mileageplus", "balance": "62,340"}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test")


def send(world: World, action: str, query: str = "", **fields: str) -> httpx.Response:
    """The form of a page, with what is hidden in it and what is typed."""
    page = world.get(f"{PAGE}/{action}{query}").text.split(f'action="{PAGE}/{action}"')[1].split("</form>")[0]
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)
    form = {name: html.unescape(value) for name, value in hidden} | fields
    return world.http.post(f"{world.url}{PAGE}/{action}", data=form)


def list_balances() -> list[tuple[str, str, int, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(PointsBalance).order_by(PointsBalance.id)).all()
        return [(row.program, row.member, row.balance, row.notes) for row in rows]


def test_a_balance_is_added_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    added = send(world, "edit", **UNITED, member="Ben", notes="From the app")
    assert (added.status_code, added.headers["location"]) == (303, f"{PAGE}?done=saved")
    assert list_balances() == [("united-mileageplus", "Ben", 62340, "From the app")]
    assert "United MileagePlus of Ben" in world.get(PAGE).text
    query = "?program=united-mileageplus&member=Ben"
    assert 'value="62340"' in world.get(f"{PAGE}/edit{query}").text
    assert send(world, "edit", query, balance="70000", notes="").status_code == 303
    assert list_balances() == [("united-mileageplus", "Ben", 70000, None)]
    asked = world.get(f"{PAGE}/delete{query}").text
    assert "Delete this balance?" in asked
    assert len(list_balances()) == 1
    assert send(world, "delete", query).headers["location"] == f"{PAGE}?done=deleted"
    assert list_balances() == []


def test_names_of_any_language_and_notes_of_several_lines_are_kept(world: World, ann: Caller) -> None:
    assert send(world, "edit", **UNITED, member="Zoë", notes="One\r\nTwo").status_code == 303
    query = "?program=united-mileageplus&member=Zo%C3%AB"
    page = world.get(f"{PAGE}/edit{query}")
    assert (page.status_code, "of Zoë" in page.text, "One\nTwo" in page.text) == (200, True, True)
    assert send(world, "delete", query).headers["location"] == f"{PAGE}?done=deleted"


@pytest.mark.parametrize(
    ("field", "typed"),
    [("balance", "many"), ("expires_on", "2026-13-45"), ("cents_per_point", "1000"), ("program", "")],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, field: str, typed: str
) -> None:
    refused = send(world, "edit", **UNITED | {"notes": "Kept <b>"} | {field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert "Kept &lt;b&gt;" in refused.text
    assert list_balances() == []


def test_what_is_not_there_can_be_neither_changed_nor_deleted(world: World, ann: Caller, use: Any) -> None:
    for action in ("edit", "delete"):
        assert world.get(f"{PAGE}/{action}?program=united-mileageplus").status_code == 404
    use(ann, "update_points_balance", program="united-mileageplus", balance=1)
    page = world.get(f"{PAGE}/delete?program=united-mileageplus&member=").text
    csrf = re.search(r'delete".*?name="csrf" value="([^"]*)"', page, re.S)
    assert csrf is not None
    form = {"csrf": csrf[1], "program": "ana-mileage-club"}
    assert world.http.post(f"{world.url}{PAGE}/delete", data=form).status_code == 404
    assert len(list_balances()) == 1


def test_a_form_without_its_token_changes_nothing(world: World, ann: Caller) -> None:
    assert world.http.post(f"{world.url}{PAGE}/edit", data=UNITED).status_code == 403
    assert list_balances() == []


def test_without_an_answer_the_person_is_told_and_keeps_what_was_typed(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = world.get(f"{PAGE}/edit").text
    csrf = re.search(r'balances/edit".*?name="csrf" value="([^"]*)"', page, re.S)
    assert csrf is not None

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    refused = world.http.post(f"{world.url}{PAGE}/edit", data={"csrf": csrf[1], **UNITED})
    assert (refused.status_code, "The service did not answer in time" in refused.text) == (422, True)
    assert "62,340" in refused.text
    assert '<option value="united-mileageplus" selected>' in refused.text
    assert world.get(PAGE).status_code == 503


def test_a_programme_of_ones_own_is_added_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    own = {"other_name": "Village Miles", "cents_per_point": "2.5", "value_currency": "BRL"}
    added = send(world, "edit", **own, program="", balance="30.000", transfers="Flying Blue 3:2, Aeroplan 1:1")
    assert (added.status_code, list_balances()) == (303, [("own-village-miles", "", 30_000, None)])
    assert "Village Miles" in world.get(PAGE).text
    query = "?program=own-village-miles&member="
    page = world.get(f"{PAGE}/edit{query}").text
    assert all(f'value="{text}"' in page for text in ("2.50", "BRL", "Flying Blue 3:2, Aeroplan 1:1"))
    terms = {"cents_per_point": "2.5", "value_currency": "BRL"}
    assert send(world, "edit", query, balance="5", transfers="", **terms).status_code == 303
    assert 'value="2.50"' in world.get(f"{PAGE}/edit{query}").text
    assert 'value="Flying Blue' not in world.get(f"{PAGE}/edit{query}").text
    assert send(world, "delete", query).headers["location"] == f"{PAGE}?done=deleted"
    assert list_balances() == []


def test_points_of_each_country_s_membership_rewards_can_be_kept_by_hand(world: World, ann: Caller) -> None:
    page = world.get(f"{PAGE}/edit").text
    for country in ("au", "ca", "de", "uk"):
        assert f'value="amex-membership-rewards-{country}"' in page
    assert send(world, "edit", program="amex-membership-rewards-de", balance="5").status_code == 303
    assert list_balances() == [("amex-membership-rewards-de", "", 5, None)]
