"""Clients and their documents by hand: the forms go through the tools, and what was typed stays with its fault."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared.db.base import transaction
from shared.db.clients import BrandedPdf, ClientPortfolio
from shared.domain.short_ids import shorten_uuid
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/clients"
LEE = {
    "client_name": "Zoë Lee",
    "client_email": "zoe@example.test",
    "balances": "United MileagePlus: 62,340\r\nZorblatt Club: 5",
    "preferences": "seat: aisle\r\nnights: [1, 2]",
    "notes": "One\r\nTwo",
}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "pro")


def send(world: World, path: str, **fields: str) -> httpx.Response:
    """The form of a page that is sent to its own address, with what is hidden in it."""
    page, action = world.get(path).text, path.partition("?")[0]
    form = page.split(f'action="{action}"')[1].split("</form>")[0]
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    values = {name: html.unescape(value) for name, value in hidden} | fields
    return world.http.post(world.url + action, data=values)


def list_clients() -> list[tuple[str, dict[str, Any], dict[str, Any], str | None]]:
    with transaction() as session:
        rows = session.scalars(select(ClientPortfolio).order_by(ClientPortfolio.id)).all()
        return [(row.client_name, row.balances, row.preferences, row.notes) for row in rows]


def make_document(world: World, use: Any, ann: Caller, **more: Any) -> dict[str, Any]:
    document: dict[str, Any] = use(ann, "generate_branded_pdf", title="Tokyo", summary="Ten days", **more)["pdf"]
    return document


def test_a_client_is_added_changed_found_and_deleted_by_hand(world: World, ann: Caller) -> None:
    assert "Keep the points and wishes" in world.get(PAGE).text
    added = send(world, f"{PAGE}/new", **LEE)
    assert added.status_code == 303
    one = added.headers["location"].partition("?")[0]
    points = {"united-mileageplus": 62340, "Zorblatt Club": 5}
    assert list_clients() == [("Zoë Lee", points, {"seat": "aisle", "nights": [1, 2]}, "One\nTwo")]
    shown = world.get(f"{one}?done=saved").text
    for words in ("The client is saved.", "United MileagePlus", "62,340", "not known here", "aisle", "zoe%40example"):
        assert words in shown
    assert "points in 2 programmes" in world.get(f"{PAGE}?q=zo%C3%AB").text
    assert "No one fits" in world.get(f"{PAGE}?q=nobody").text
    form = world.get(f"{one}/change").text
    assert "United MileagePlus: 62,340\nZorblatt Club: 5</textarea>" in form
    assert "nights: [1, 2]</textarea>" in form
    assert send(world, f"{one}/change", client_name="Zoe", balances="ANA Mileage Club: 7").status_code == 303
    assert list_clients() == [("Zoe", {"ana-mileage-club": 7}, {}, None)]
    assert "Delete this client?" in world.get(f"{one}/delete").text
    assert send(world, f"{one}/delete").headers["location"] == f"{PAGE}?done=deleted"
    assert list_clients() == []


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("client_name", " "),
        ("client_email", "nobody"),
        ("phone", "call me"),
        ("balances", "United MileagePlus"),
        ("balances", "United MileagePlus: many"),
        ("preferences", "aisle"),
        ("preferences", "seat: " + "[" * 8 + "]" * 8),
    ],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, field: str, typed: str
) -> None:
    refused = send(world, f"{PAGE}/new", **LEE | {field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert "One\nTwo</textarea>" in refused.text
    assert list_clients() == []


def test_a_long_file_fits_the_form(world: World, ann: Caller) -> None:
    points = "\r\n".join(f"Zorblatt Club {'é' * 30} {number}: {number}" for number in range(100))
    assert send(world, f"{PAGE}/new", **LEE | {"balances": points, "notes": "é" * 8000}).status_code == 303
    assert len(list_clients()[0][1]) == 100


def test_the_list_goes_on_upon_another_page(world: World, ann: Caller) -> None:
    with transaction() as session:
        for number in range(45):
            session.add(ClientPortfolio(account_id=ann.account_id, client_name=f"Client {number:02}"))
    page = world.get(f"{PAGE}?q=Client&page=2").text
    assert ("Client 20" in page, "Client 19" in page, "Client 40" in page) == (True, False, False)
    assert f'href="{PAGE}?q=Client&amp;page=1"' in page
    assert f'href="{PAGE}?q=Client&amp;page=3"' in page
    assert len(page) < 30_000


def test_nobody_sees_another_advisors_client(world: World, ann: Caller) -> None:
    one = send(world, f"{PAGE}/new", **LEE).headers["location"].partition("?")[0]
    world.http.cookies.clear()
    sign_up(world, "bob@example.test", "pro")
    for path in (one, f"{one}/change", f"{one}/delete", f"{PAGE}/{'9' * 30}", f"{PAGE}/x"):
        assert world.get(path).status_code == 404
    assert "Zoë" not in world.get(PAGE).text
    assert len(list_clients()) == 1


def test_a_document_is_opened_and_taken_back(world: World, ann: Caller, use: Any) -> None:
    one = send(world, f"{PAGE}/new", **LEE).headers["location"].partition("?")[0]
    made = make_document(world, use, ann, client_portfolio_id=int(one.rpartition("/")[2]))
    for path in (one, f"{PAGE}/documents"):
        page = world.get(path).text
        assert f'<a href="{made["url"]}">Tokyo</a>' in page
        assert "never opened" in page
    assert (f'href="{one}">Zoë Lee' in page, "1 page ·" in page) == (True, True)
    assert "1 document made for them stops" in world.get(f"{one}/delete").text
    asked = f"{PAGE}/documents/revoke?pdf_id={made['pdf_id']}"
    assert "Take this document back?" in world.get(asked).text
    assert send(world, asked).headers["location"] == f"{PAGE}/documents?done=document"
    with transaction() as session:
        row = session.scalars(select(BrandedPdf)).one()
        assert (row.revoked_at is not None, shorten_uuid(row.id)) == (True, made["pdf_id"])
    assert world.get(asked).status_code == 404
    assert "Tokyo" not in world.get(f"{PAGE}/documents").text
    assert "its link has ended" in world.get(one).text


def test_without_an_answer_the_person_is_told_and_keeps_what_was_typed(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.get(PAGE)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    refused = send(world, f"{PAGE}/new", **LEE)
    assert (refused.status_code, "The service did not answer in time" in refused.text) == (422, True)
    assert "seat: aisle\nnights" in refused.text
    for path in (PAGE, f"{PAGE}/1", f"{PAGE}/1/delete", f"{PAGE}/documents"):
        assert world.get(path).status_code == 503
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ClientPortfolio)) == 0
