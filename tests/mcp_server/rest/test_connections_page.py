"""Integrations by hand: connected over both hosts, faults at the field of the page, listed, synchronised and ended."""

import html
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.connections import Connection
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up

PAGE = "/dashboard/integrations"


def write_calendar() -> str:
    first, last = (f"{clock.today() + timedelta(days=days):%Y%m%d}" for days in (60, 63))
    return "\n".join(
        [
            *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:lodging-1@tripit.com"),
            *(f"DTSTART;VALUE=DATE:{first}", f"DTEND;VALUE=DATE:{last}", "SUMMARY:Trip", "END:VEVENT"),
            "END:VCALENDAR",
        ]
    )


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def send(world: World, action: str, **fields: str) -> httpx.Response:
    """The button of an integration, with the token that stands in its form."""
    page = world.get(f"{PAGE}/end?provider=tripit" if action == "end" else PAGE).text
    token = re.search(rf'action="{PAGE}/{action}">.*?name="csrf" value="([^"]*)"', page, re.S)
    assert token is not None, f"no button for {action}"
    return world.http.post(f"{world.url}{PAGE}/{action}", data={"csrf": token[1], "provider": "tripit"} | fields)


def begin(world: World) -> str:
    """The address of the page that says what is shared."""
    answer = send(world, "connect")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/integrations/tripit/connect?link=awt_il_")
    return world.url + answer.headers["location"]


def paste(world: World, address: str, text: str) -> httpx.Response:
    page = world.http.get(address).text
    action = html.unescape(page.split('name="pasted"')[0].rpartition('action="')[2].partition('"')[0])
    link = html.unescape(re.findall(r'name="link" value="([^"]*)"', page)[-1])
    return world.http.post(world.url + action, data={"link": link, "way": "paste", "pasted": text})


def test_a_calendar_is_connected_listed_and_ended_by_hand(world: World, ann: Caller) -> None:
    assert "Not connected" in world.get(PAGE).text
    address = begin(world)
    assert "Begun, not finished" in world.get(PAGE).text
    connected = paste(world, address, write_calendar())
    assert (connected.status_code, f'href="{PAGE}"' in connected.text) == (200, True)
    page = world.get(PAGE).text
    assert ">Connected<" in page
    assert "End TripIt…" in page
    asked = world.get(f"{PAGE}/end?provider=tripit").text
    assert "End this connection?" in asked
    with transaction() as session:
        assert session.scalars(select(Connection.state)).one() == "connected"
    assert send(world, "end").headers["location"] == f"{PAGE}?done=ended"
    assert "The connection is ended" in world.get(f"{PAGE}?done=ended").text
    with transaction() as session:
        assert session.scalars(select(Connection.state)).one() == "disconnected"
    assert world.get(f"{PAGE}/end?provider=tripit").status_code == 404


def test_the_page_of_a_connection_keeps_what_was_pasted_and_names_no_tool(world: World, ann: Caller) -> None:
    address = begin(world)
    page = world.http.get(address).text
    assert not re.search(r"\b[a-z]+_integration", page)
    assert f'<a href="{PAGE}">Integrations</a>' in page
    refused = paste(world, address, "tripit dot com")
    assert refused.status_code == 422
    assert 'aria-describedby="pasted-help pasted-fault" aria-invalid="true"' in refused.text
    assert "\ntripit dot com</textarea>" in refused.text
    too_long = paste(world, address, "x" * 3_500_000)
    assert (too_long.status_code, 'id="pasted-fault" role="alert">This is too long' in too_long.text) == (413, True)
    assert paste(world, address, write_calendar()).status_code == 200


def test_a_dead_link_leads_back_to_the_list(world: World, ann: Caller) -> None:
    page = world.get("/integrations/tripit/connect?link=awt_il_dead")
    assert (page.status_code, f'class="button" href="{PAGE}"' in page.text) == (410, True)


def test_what_a_plan_does_not_include_is_said_with_a_link(world: World) -> None:
    sign_up(world, "free@example.test")
    page = world.get(PAGE).text
    assert re.search(r'href="/plans">Part of Premium<span class="vh">: TripIt<', page)
    assert f'action="{PAGE}/connect"' not in page
    assert "Not set up by the operator of this service: seats.aero" in page


def test_an_account_is_brought_in_step_and_the_page_says_what_came(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste(world, begin(world), write_calendar())
    report = {
        "status": "ok",
        "message": "TripIt: 1 row changed.",
        "changes": [{"kind": "hotel_booking", "id": "17", "before": None, "after": {}}],
        "conflicts": [{"kind": "balance", "id": "united-mileageplus", "reason": "newer_here"}],
    }
    look = ToolServer._send

    async def answer(server: ToolServer, call: Any) -> Answer:
        return Answer(report) if call.tool == "sync_integration" else await look(server, call)

    monkeypatch.setattr(ToolServer, "_send", answer)
    page = send(world, "sync").text
    for words in ("TripIt: 1 row changed.", "hotel booking 17", "balance united mileageplus", "what stands here is"):
        assert words in page


def test_a_service_that_refuses_is_said_above_the_list(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste(world, begin(world), write_calendar())
    look = ToolServer._send
    refusals = [
        Answer(status="backend_unavailable", message="x", backends=[{"name": "tripit", "reason": "broken"}]),
        Answer(status="limit_reached", message="It was synchronised 12 times this hour."),
        Answer(),
    ]
    told = ["no longer accepts the connection", "It was synchronised 12 times", "did not answer in time"]

    async def answer(server: ToolServer, call: Any) -> Answer:
        return refusals[0] if call.tool == "sync_integration" else await look(server, call)

    monkeypatch.setattr(ToolServer, "_send", answer)
    for words in told:
        page = send(world, "sync")
        assert (page.status_code, words in page.text, "TripIt" in page.text) == (422, True, True)
        refusals.pop(0)


def test_a_plan_that_ended_meanwhile_is_said(world: World, ann: Caller) -> None:
    page = world.get(PAGE).text
    token = re.search(rf'action="{PAGE}/connect">.*?name="csrf" value="([^"]*)"', page, re.S)
    assert token is not None
    with transaction() as session:
        session.execute(update(Account).values(plan="free"))
    refused = world.http.post(f"{world.url}{PAGE}/connect", data={"csrf": token[1], "provider": "tripit"})
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, True)


def test_without_an_answer_the_person_is_told(world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    assert world.get(PAGE).status_code == world.get(f"{PAGE}/end?provider=tripit").status_code == 503
