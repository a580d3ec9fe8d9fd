"""Links next to the text of a result: after it, only where there is something to open, and as the result says."""

from typing import Any

import pytest

from mcp_server.tools.award_chart_faq import ChartFaq
from mcp_server.tools.branded_pdfs import GeneratedPdf
from mcp_server.tools.calendar_feed import CalendarFeed, NewCalendarFeed
from mcp_server.tools.programs import Pricing, ProgramRates
from mcp_server.transport.sdk_server import _TARGETS, list_links
from shared.settings import settings
from tests.mcp_server.conftest import World
from tests.support.people import People

RESULTS: dict[str, Any] = {
    "get_calendar_feed": CalendarFeed,
    "reset_calendar_feed": NewCalendarFeed,
    "generate_branded_pdf": GeneratedPdf,
    "get_award_chart_faq": ChartFaq,
    "get_pricing": Pricing,
    "get_program_rates": ProgramRates,
}


@pytest.mark.parametrize("name", sorted(_TARGETS))
def test_the_field_is_one_of_the_result(name: str) -> None:
    assert _TARGETS[name].field in RESULTS[name].model_fields


def test_a_calendar_is_a_calendar_and_a_proposal_a_pdf() -> None:
    [link] = list_links("get_calendar_feed", "ok", {"url": "https://travel.example.com/feeds/x.ics"})
    assert (str(link.uri), link.mime_type) == ("https://travel.example.com/feeds/x.ics", "text/calendar")
    [link] = list_links("generate_branded_pdf", "ok", {"url": "https://travel.example.com/shared/x"})
    assert link.mime_type == "application/pdf"


def test_the_export_is_where_people_sign_in() -> None:
    [link] = list_links("get_profile", "ok", {})
    assert str(link.uri) == f"{settings().web_url}/dashboard/account"


@pytest.mark.parametrize(
    ("name", "status", "data"),
    [
        ("get_calendar_feed", "confirmation_required", {"url": "https://travel.example.com/feeds/x.ics"}),
        ("get_pricing", "ok", {"source_url": None}),
        ("get_pricing", "ok", {"source_url": "javascript:alert(1)"}),
        ("list_my_cards", "ok", {"url": "https://travel.example.com/"}),
    ],
)
def test_what_is_no_file_has_no_link(name: str, status: str, data: dict[str, Any]) -> None:
    assert list_links(name, status, data) == []


def test_links_stand_after_the_text(world: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = world.call(people.alice, "say_words", text="a")["content"]
    assert [block["type"] for block in plain] == ["text"]
    monkeypatch.setitem(_TARGETS, "say_words", _TARGETS["get_calendar_feed"])
    monkeypatch.setattr("mcp_server.transport.sdk_server._find_uri", lambda *_: "https://travel.example.com/x.ics")
    linked = world.call(people.alice, "say_words", text="a")["content"]
    assert [block["type"] for block in linked] == ["text", "resource_link"]
    assert linked[1]["uri"] == "https://travel.example.com/x.ics"
