"""Elite statuses kept by hand: set with the tiers of the programme, shown with the way to the next one, deleted."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.statuses import LoyaltyStatus
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import read_form, send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/statuses"
EDIT, DELETE = f"{PAGE}/edit", f"{PAGE}/delete"
HILTON = {"program": "hilton-honors", "tier": "Gold"}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test")


def list_statuses() -> list[LoyaltyStatus]:
    with transaction() as session:
        return list(session.scalars(select(LoyaltyStatus).order_by(LoyaltyStatus.id)))


def read_words(world: World) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", world.get(PAGE).text))


def test_a_status_is_set_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    day = str(clock.today() + timedelta(days=25))
    done = send_form(world, EDIT, EDIT, **HILTON, member="Zoë", valid_until=day, progress="12", notes="By card")
    assert done.headers.get("location") == f"{PAGE}?done=saved", done.text
    (row,) = list_statuses()
    assert (row.tier, row.member, str(row.valid_until), row.progress) == ("Gold", "Zoë", day, 12)
    words = read_words(world)
    assert "Gold, Hilton Honors of Zoë 25 days left" in words
    assert re.search(r"To Diamond .*12 of \d+ nights, \d+ to go", words)
    one = "?program=hilton-honors&member=Zo%C3%AB"
    form = read_form(world.get(EDIT + one).text, EDIT)
    assert [form[name] for name in ("tier", "valid_until", "progress", "notes")] == ["Gold", day, "12", "By card"]
    changed = send_form(world, EDIT + one, EDIT, tier="Diamond", valid_until="", lifetime="yes", notes="")
    assert changed.status_code == 303, changed.text
    (row,) = list_statuses()
    assert (row.tier, row.valid_until, row.lifetime, row.notes, row.progress) == ("Diamond", None, True, None, 12)
    assert "Delete this status?" in world.get(DELETE + one).text
    assert len(list_statuses()) == 1
    assert send_form(world, DELETE + one, DELETE).headers["location"] == f"{PAGE}?done=deleted"
    assert list_statuses() == []


def test_a_ring_closes_with_the_nearest_way_and_is_open_where_nothing_is_counted(
    world: World, ann: Caller, use: Any
) -> None:
    use(ann, "set_loyalty_status", program="world-of-hyatt", tier="Explorist", progress=41)
    use(ann, "set_loyalty_status", program="flying-blue", tier="Gold")
    use(ann, "set_loyalty_status", program="united-mileageplus", tier="Premier Silver", progress=3100)
    page = world.get(PAGE).text
    (most,) = re.findall(r"41 of (\d+) nights, \d+ to go", page)
    assert f'aria-label="To Globalist: {100 * 41 / int(most):.0f} percent of the way"' in page
    assert 'aria-label="To Platinum: not counted yet"' in page
    assert page.count('class="open"') == 1
    assert 'aria-label="To Premier Gold: 26 percent of the way"' in page  # of the way that asks for one counter alone


def test_progress_that_was_not_changed_keeps_the_day_it_was_counted_on(world: World, ann: Caller, use: Any) -> None:
    counted = str(clock.today() - timedelta(days=20))
    use(ann, "set_loyalty_status", **HILTON, progress=12, progress_as_of=counted)
    assert send_form(world, f"{EDIT}?program=hilton-honors", EDIT, notes="New").status_code == 303
    assert [(str(row.progress_as_of), row.notes) for row in list_statuses()] == [(counted, "New")]


def test_a_tier_that_is_none_is_chosen_from_those_of_the_programme(world: World, ann: Caller) -> None:
    refused = send_form(world, EDIT, EDIT, program="hilton-honors", tier="Ruby", notes="Kept <b>")
    assert refused.status_code == 422
    assert 'id="tier-fault" role="alert"' in refused.text
    assert '<option value="Diamond">Diamond</option>' in refused.text
    assert "Kept &lt;b&gt;" in refused.text
    form = read_form(refused.text, EDIT)
    aim = world.http.post(world.url + EDIT, data=form | {"tier": "Silver", "target_tier": "Ruby"})
    assert 'id="target_tier-fault" role="alert"' in aim.text
    form = read_form(aim.text, EDIT)
    assert world.http.post(world.url + EDIT, data=form | {"target_tier": "Diamond"}).status_code == 303
    assert [(row.tier, row.target_tier) for row in list_statuses()] == [("Silver", "Diamond")]


def test_other_counters_are_kept_by_their_names(world: World, ann: Caller) -> None:
    united = {"program": "united-mileageplus", "tier": "Premier Silver"}
    done = send_form(world, EDIT, EDIT, **united, progress="3,100.0", other_progress="pqf: 1,200.0")
    assert done.status_code == 303, done.text
    assert [(row.progress, row.other_progress) for row in list_statuses()] == [(3100, {"pqf": 1200.0})]
    page = f"{EDIT}?program=united-mileageplus"
    assert read_form(world.get(page).text, EDIT)["other_progress"] == "pqf: 1200"
    for wrong in ("hats: 3", "pqf", "pqf: many"):
        refused = send_form(world, page, EDIT, other_progress=wrong)
        assert (refused.status_code, wrong in refused.text) == (422, True)
        assert 'role="alert"' in refused.text
    assert send_form(world, page, EDIT, other_progress="").status_code == 303
    assert [row.other_progress for row in list_statuses()] == [{}]


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("program", ""),
        ("tier", ""),
        ("valid_until", "2020-01-01"),
        ("progress", "much"),
        ("progress_as_of", "2040-01-01"),
    ],
)
def test_a_fault_stands_at_its_field(world: World, ann: Caller, field: str, typed: str) -> None:
    refused = send_form(world, EDIT, EDIT, **HILTON | {"notes": "Kept <b>", field: typed})
    assert (refused.status_code, "Kept &lt;b&gt;" in refused.text) == (422, True)
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert list_statuses() == []


def test_nobody_reaches_anothers_status(world: World, ann: Caller, use: Any) -> None:
    use(ann, "set_loyalty_status", **HILTON)
    form = read_form(world.get(f"{DELETE}?program=hilton-honors").text, DELETE)
    world.http.cookies.clear()
    bob = sign_up(world, "bob@example.test")
    assert "No elite status is kept" in world.get(PAGE).text
    for path in (EDIT, DELETE):
        assert world.get(f"{path}?program=hilton-honors").status_code == 404
    use(bob, "set_loyalty_status", program="ihg-one-rewards", tier="Silver")
    csrf = read_form(world.get(f"{DELETE}?program=ihg-one-rewards").text, DELETE)["csrf"]
    assert world.http.post(world.url + DELETE, data=form | {"csrf": csrf}).status_code == 404
    assert len(list_statuses()) == 2


def test_without_an_answer_the_person_keeps_what_was_typed(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = read_form(world.get(EDIT).text, EDIT)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    refused = world.http.post(world.url + EDIT, data=form | HILTON | {"notes": "R7"})
    assert (refused.status_code, "did not answer in time" in refused.text) == (422, True)
    assert "R7" in refused.text
    assert '<option value="hilton-honors" selected>' in refused.text
    assert {world.get(path).status_code for path in (PAGE, f"{EDIT}?program=x", f"{DELETE}?program=x")} == {503}
