"""MCP servers of others, called through the gate."""

import re

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.discover_more_flight_tools.result")
def test_discover_more_flight_tools_covers_seat_maps_delays_and_lounges(people: People, use: Use) -> None:
    answer = use(people.bob, "discover_more_flight_tools")
    assert {"seat maps", "airport delays", "lounges"} <= {c for s in answer["servers"] for c in s["covers"]}
    assert all(s["url"].startswith("https://") and s["source_url"] for s in answer["servers"])
    assert answer["as_of"] == min(s["as_of"] for s in answer["servers"] if s["as_of"])


def test_discover_more_flight_tools_states_facts_and_recommends_nothing(people: People, use: Use) -> None:
    answer = use(people.bob, "discover_more_flight_tools")
    words = " ".join([answer["message"], *(f"{s['name']} {s['auth']} {s['note']}" for s in answer["servers"])])
    assert not re.search(r"\b(you|please|should|call|connect|install|recommend|try)\b", words, re.IGNORECASE)
