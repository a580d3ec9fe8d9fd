"""Vouchers kept by hand: added, changed, used for a booking, taken off it and deleted, by the same tools."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.vouchers import Voucher
from shared.domain.dates import format_iso_weekday
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import read_form, send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/vouchers"
EDIT, APPLY, DELETE = f"{PAGE}/edit", f"{PAGE}/apply", f"{PAGE}/delete"
KIND = "marriott-free-night-award"
FLIGHT = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "economy", "cash_paid": 140}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def list_vouchers() -> list[Voucher]:
    with transaction() as session:
        return list(session.scalars(select(Voucher).order_by(Voucher.id)))


def list_kinds(use: Any, ann: Caller, booking_type: str) -> list[str]:
    rows = use(ann, "list_voucher_types", booking_type=booking_type, per_page=100)["voucher_types"]
    return [
        row["voucher_slug"]
        for row in rows
        if row["applies_to"] == [booking_type] and not (row["booking_kind"] or row["airlines"])
    ]


def test_a_voucher_is_added_changed_and_deleted_by_hand(world: World, ann: Caller, use: Any) -> None:
    kind = list_kinds(use, ann, "hotel")[0]
    day = str(clock.today() + timedelta(days=20))
    notes = "Käthe's\r\nsecond one"
    added = send_form(world, EDIT, EDIT, voucher_slug=kind, expires_on=day, notes=notes)
    assert (added.status_code, added.headers.get("location")) == (303, f"{PAGE}?done=saved"), added.text
    (row,) = list_vouchers()
    assert (row.voucher_slug, str(row.expires_on), row.notes) == (kind, day, "Käthe's\nsecond one")
    assert "20 days left" in world.get(PAGE).text
    one = f"?voucher={row.id}"
    form = read_form(world.get(EDIT + one).text, EDIT)
    assert (form["expires_on"], form["notes"]) == (day, notes)
    assert send_form(world, EDIT + one, EDIT, expires_on="", reference="A1").status_code == 303
    (row,) = list_vouchers()
    assert (row.expires_on, row.reference, row.notes) == (None, "A1", "Käthe's\nsecond one")
    assert "Delete this voucher?" in world.get(DELETE + one).text
    assert len(list_vouchers()) == 1
    assert send_form(world, DELETE + one, DELETE).headers["location"] == f"{PAGE}?done=deleted"
    assert list_vouchers() == []


def test_what_was_not_changed_is_not_sent(world: World, ann: Caller, use: Any) -> None:
    """So that a form which was open for long takes nothing back that an assistant stored in the meantime."""
    kind = list_kinds(use, ann, "hotel")[0]
    number = use(ann, "add_voucher", voucher_slug=kind, notes="First")["voucher"]["voucher_id"]
    form = read_form(world.get(f"{EDIT}?voucher={number}").text, EDIT)
    use(ann, "update_voucher", voucher_id=number, notes="Second")
    assert world.http.post(world.url + EDIT, data=form | {"reference": "B2"}).status_code == 303
    assert [(row.notes, row.reference) for row in list_vouchers()] == [("Second", "B2")]


def test_a_voucher_is_used_for_a_booking_and_taken_off(world: World, ann: Caller, use: Any) -> None:
    kind = list_kinds(use, ann, "flight")[0]
    number = use(ann, "add_voucher", voucher_slug=kind)["voucher"]["voucher_id"]
    page = f"{APPLY}?voucher={number}"
    assert "No flight and no stay to come" in world.get(page).text
    day = str(clock.today() + timedelta(days=9))
    booking = use(ann, "add_flight_booking", kind="cash", **FLIGHT, departure_date=day)["booking"]["booking_id"]
    done = send_form(world, page, APPLY, booking=f"flight:{booking}")
    assert done.headers.get("location") == f"{PAGE}?done=applied", done.text
    assert [row.flight_booking_id for row in list_vouchers()] == [booking]
    assert "on a booking" in world.get(PAGE).text
    again = world.get(page).text
    assert f"It is on {format_iso_weekday(day)}: LAX to DEN" in again
    off = world.http.post(world.url + APPLY, data=read_form(again, APPLY))
    assert off.headers["location"] == f"{PAGE}?done=detached"
    assert [row.flight_booking_id for row in list_vouchers()] == [None]


def test_a_booking_it_is_not_for_is_refused_with_the_reason(world: World, ann: Caller, use: Any) -> None:
    kind = list_kinds(use, ann, "hotel")[0]
    number = use(ann, "add_voucher", voucher_slug=kind)["voucher"]["voucher_id"]
    day = str(clock.today() + timedelta(days=9))
    booking = use(ann, "add_flight_booking", kind="cash", **FLIGHT, departure_date=day)["booking"]["booking_id"]
    refused = send_form(world, f"{APPLY}?voucher={number}", APPLY, booking=f"flight:{booking}")
    assert (refused.status_code, "this voucher is for: hotel" in refused.text) == (422, True)
    assert [row.flight_booking_id for row in list_vouchers()] == [None]


@pytest.mark.parametrize(
    ("field", "typed"), [("voucher_slug", ""), ("expires_on", "2026-13-45"), ("reference", "x" * 200)]
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, use: Any, field: str, typed: str
) -> None:
    kind = list_kinds(use, ann, "hotel")[0]
    refused = send_form(world, EDIT, EDIT, **{"voucher_slug": kind, "notes": "Kept <b>", field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert "Kept &lt;b&gt;" in refused.text
    assert list_vouchers() == []


def test_on_the_free_plan_the_form_says_so_and_where_plans_are(world: World, use: Any) -> None:
    ann = sign_up(world, "free@example.test")
    refused = send_form(world, EDIT, EDIT, voucher_slug=list_kinds(use, ann, "hotel")[0])
    assert refused.status_code == 422
    assert "this account is on Free" in refused.text
    assert '<a href="/plans">See the plans</a></p>' in refused.text


def test_nobody_reaches_anothers_voucher(world: World, ann: Caller, use: Any) -> None:
    kind = list_kinds(use, ann, "hotel")[0]
    number = use(ann, "add_voucher", voucher_slug=kind)["voucher"]["voucher_id"]
    forms = {EDIT: "reference", APPLY: "booking", DELETE: ""}
    own = {path: read_form(world.get(f"{path}?voucher={number}").text, path) for path in (EDIT, DELETE)}
    world.http.cookies.clear()
    bob = sign_up(world, "bob@example.test", "premium")
    assert "No voucher is kept here yet" in world.get(PAGE).text
    for path in forms:
        for which in (number, "x", 9**18):
            page = world.get(f"{path}?voucher={which}")
            assert page.status_code == (200 if (path, which) == (EDIT, "x") else 404)
    mine = use(bob, "add_voucher", voucher_slug=kind)["voucher"]["voucher_id"]
    for path, form in own.items():
        csrf = read_form(world.get(f"{path}?voucher={mine}").text, path)["csrf"]
        sent = world.http.post(world.url + path, data=form | {"csrf": csrf, "reference": "stolen"})
        assert sent.status_code == 404
    assert [row.reference for row in list_vouchers()] == [None, None]


def test_without_an_answer_the_person_keeps_what_was_typed(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = read_form(world.get(EDIT).text, EDIT)

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    refused = world.http.post(world.url + EDIT, data=form | {"voucher_slug": "x-y", "reference": "R7"})
    assert (refused.status_code, "did not answer in time" in refused.text) == (422, True)
    assert 'value="R7"' in refused.text
    assert '<option value="x-y" selected>' in refused.text
    assert {world.get(path).status_code for path in (PAGE, f"{EDIT}?voucher=1", f"{APPLY}?voucher=1")} == {503}
