"""Cards kept by hand: found in the catalogue or named, changed, their credits marked as used, and removed."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.card_credits import CardCreditUse
from shared.db.cards import Card
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import read_form, send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/cards"
ADD, EDIT, CREDITS, DELETE = f"{PAGE}/add", f"{PAGE}/edit", f"{PAGE}/credits", f"{PAGE}/delete"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test")


def list_cards() -> list[Card]:
    with transaction() as session:
        return list(session.scalars(select(Card).order_by(Card.id)))


def find_card_with_credits(use: Any, ann: Caller) -> dict[str, Any]:
    rows = use(ann, "search_card_catalog", query="American Express Platinum", country="US", per_page=20)["cards"]
    return max(rows, key=lambda row: len(row["credits"]))


def test_a_card_is_found_in_the_catalogue_and_added(world: World, ann: Caller, use: Any) -> None:
    card = find_card_with_credits(use, ann)
    results = world.get(f"{ADD}?query=platinum&country=US").text
    assert f"{EDIT}?slug={card['slug']}" in results
    done = send_form(world, f"{EDIT}?slug={card['slug']}", EDIT, member="Zoë", spend_requirement="4 000", currency="")
    assert done.headers.get("location") == f"{PAGE}?done=saved", done.text
    (row,) = list_cards()
    assert (row.slug, row.member, row.spend_requirement, row.custom) == (card["slug"], "Zoë", 4000, False)
    assert f"{row.name} of Zoë" in world.get(PAGE).text


def test_results_are_paged_and_nothing_fitting_is_said(world: World, ann: Caller) -> None:
    first = world.get(f"{ADD}?country=US").text
    assert "/dashboard/cards/add?query=&amp;country=US&amp;page=2" in first
    second = world.get(f"{ADD}?query=&country=US&page=2").text
    assert "Page 2" in second
    assert len(first) < 30_000
    none = world.get(f"{ADD}?query=Zzzqqqxxx")
    assert (none.status_code, "No card" in none.text) == (200, True)


def test_a_card_of_ones_own_is_added_changed_and_removed(world: World, ann: Caller) -> None:
    day = str(clock.today() - timedelta(days=40))
    typed = {"bonus_status": "pending", "bonus_amount": "60,000", "spend_requirement": "4000.50"}
    done = send_form(world, EDIT, EDIT, card="Zorblatt Gold", opened_on=day, notes="One\r\nTwo", **typed)
    assert done.status_code == 303, done.text
    (row,) = list_cards()
    assert (row.name, row.custom, row.bonus_amount, str(row.spend_requirement)) == (
        "Zorblatt Gold",
        True,
        60000,
        "4000.50",
    )
    assert "Welcome bonus of 60,000 points is open" in world.get(PAGE).text
    one = f"?card={row.id}"
    form = read_form(world.get(EDIT + one).text, EDIT)
    assert [form[name] for name in ("opened_on", "spend_requirement", "notes")] == [day, "4000.50", "One\r\nTwo"]
    assert send_form(world, EDIT + one, EDIT, opened_on="", bonus_status="earned", nickname="Ours").status_code == 303
    (row,) = list_cards()
    assert (row.opened_on, row.bonus_status, row.nickname, row.notes) == (None, "earned", "Ours", "One\nTwo")
    asked = world.get(DELETE + one).text
    assert "Remove this card?" in asked
    assert len(list_cards()) == 1
    assert send_form(world, DELETE + one, DELETE).headers["location"] == f"{PAGE}?done=deleted"
    assert list_cards() == []


def test_a_counted_last_day_stays_counted_when_something_else_is_changed(world: World, ann: Caller, use: Any) -> None:
    """A last day that is sent ends the counting from the opening, so what did not change is not sent."""
    day = clock.today() - timedelta(days=10)
    added = use(ann, "add_card", card="Mine", custom=True, opened_on=str(day), spend_window_months=3)
    number = added["card"]["card_id"]
    assert send_form(world, f"{EDIT}?card={number}", EDIT, nickname="Blue").status_code == 303
    assert [(row.spend_window_months, row.nickname) for row in list_cards()] == [(3, "Blue")]


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("card", ""),
        ("opened_on", "2026-13-45"),
        ("annual_fee", "much"),
        ("currency", "dollars"),
        ("nickname", "x" * 90),
    ],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, field: str, typed: str
) -> None:
    refused = send_form(world, EDIT, EDIT, **{"card": "Mine", "notes": "Kept <b>", field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert "Kept &lt;b&gt;" in refused.text
    assert list_cards() == []


def test_faults_name_other_fields_as_the_form_does(world: World, ann: Caller, use: Any) -> None:
    number = use(ann, "add_card", card="Mine", custom=True, opened_on="2026-05-05")["card"]["card_id"]
    refused = send_form(world, f"{EDIT}?card={number}", EDIT, closed_on="2026-05-01")
    assert "This is before “Opened on”." in refused.text


def test_a_credit_is_marked_as_used_and_opened_again(world: World, ann: Caller, use: Any) -> None:
    card = find_card_with_credits(use, ann)
    number = use(ann, "add_card", card=card["slug"], opened_on="2026-02-02")["card"]["card_id"]
    page = f"{CREDITS}?card={number}"
    text = world.get(page).text
    assert all(credit["name"].replace("'", "&#39;") in text.replace("&amp;", "&") for credit in card["credits"])
    which = ("credit", card["credits"][0]["credit"])
    done = send_form(world, page, CREDITS, which)
    assert done.headers.get("location") == f"{CREDITS}?done=used&card={number}", done.text
    with transaction() as session:
        (marked,) = session.scalars(select(CardCreditUse)).all()
    assert (marked.credit, float(marked.amount)) == (which[1], card["credits"][0]["amount"])
    again = world.get(done.headers["location"]).text
    assert "The credit is marked as used." in again
    undo = next(part for part in again.split("<form")[1:] if 'value="0"' in part)
    form = read_form(f"<form{undo}</form>", CREDITS)
    undone = world.http.post(world.url + CREDITS, data=form)
    assert undone.headers["location"] == f"{CREDITS}?done=unused&card={number}"
    refused = send_form(world, page, CREDITS, which, credit_used="lots")
    assert (refused.status_code, 'value="lots"' in refused.text) == (422, True)
    assert 'role="alert"' in refused.text


def test_what_is_used_is_shown_of_every_card_however_many_there_are(world: World, ann: Caller, use: Any) -> None:
    card = find_card_with_credits(use, ann)
    count = len(card["credits"])
    numbers = [
        use(ann, "add_card", card=card["slug"], nickname=f"Card {n}", opened_on="2026-02-02")["card"]["card_id"]
        for n in range(40 // count + 2)
    ]
    for number in numbers:
        assert world.get(f"{CREDITS}?card={number}").text.count(" used, ") == count
    assert use(ann, "list_my_cards")["credits"] == []


def test_what_is_due_stands_at_its_card(world: World, ann: Caller, use: Any) -> None:
    card = find_card_with_credits(use, ann)
    use(ann, "add_card", card=card["slug"], opened_on="2025-12-05", annual_fee=695)
    page = world.get(PAGE).text
    assert "$695 a year, next on 5 Dec 2026" in page
    assert "days left" in page


def test_nobody_reaches_anothers_card(world: World, ann: Caller, use: Any) -> None:
    number = use(ann, "add_card", card="Mine", custom=True)["card"]["card_id"]
    own = {path: read_form(world.get(f"{path}?card={number}").text, path) for path in (EDIT, DELETE)}
    world.http.cookies.clear()
    bob = sign_up(world, "bob@example.test")
    theirs = use(bob, "add_card", card="Theirs", custom=True)["card"]["card_id"]
    assert "Mine" not in world.get(PAGE).text
    for path in (EDIT, CREDITS, DELETE):
        assert world.get(f"{path}?card={number}").status_code == 404
    for path, form in own.items():
        csrf = read_form(world.get(f"{path}?card={theirs}").text, path)["csrf"]
        sent = world.http.post(world.url + path, data=form | {"csrf": csrf, "nickname": "stolen"})
        assert sent.status_code == 404
    assert [row.nickname for row in list_cards()] == [None, None]


def test_a_page_of_cards_weighs_less_than_thirty_kilobytes(world: World, ann: Caller, use: Any) -> None:
    card = find_card_with_credits(use, ann)
    for number in range(16):
        bonus = {"bonus_status": "pending", "bonus_amount": 60000, "spend_requirement": 4000}
        use(
            ann,
            "add_card",
            card=card["slug"],
            nickname=f"Card {number} of a long name",
            opened_on="2025-12-05",
            **bonus,
        )
    page = world.get(PAGE)
    assert (len(page.content) < 30_000, "Next page" in page.text) == (True, True), len(page.content)


def test_without_an_answer_the_person_keeps_what_was_typed(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = read_form(world.get(EDIT).text, EDIT)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    refused = world.http.post(world.url + EDIT, data=form | {"card": "Mine", "nickname": "R7"})
    assert (refused.status_code, "did not answer in time" in refused.text) == (422, True)
    assert 'value="R7"' in refused.text
    pages = (PAGE, f"{ADD}?query=x", f"{EDIT}?card=1", f"{EDIT}?slug=x", f"{CREDITS}?card=1", f"{DELETE}?card=1")
    assert {world.get(path).status_code for path in pages} == {503}
