"""Words of pages: what a person reads holds no name of a tool or a column, no slug, and money written one way."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from auth_server.app import DASHBOARD
from shared import clock
from shared.reference.load import reference
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

# Pages for programs, whose words are names of columns and tools.
FOR_PROGRAMS = ("/dashboard/keys", "/dashboard/api-apps", "/dashboard/security", "/dashboard/export")
_MONEY = re.compile(r"US\$|\d USD\b|\$\d{1,3}(?:,\d{3})+\.\d\d")


def read_words(text: str) -> str:
    main = text.partition("<main")[2].partition("</main>")[0]
    main = re.sub(r"<(input|textarea|option|select|svg|code)\b.*?(</\1>|>)", " ", main, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", main))


@pytest.mark.slow  # forty pages
def test_no_page_of_a_member_speaks_like_a_machine(world: World, use: Any) -> None:
    ann = sign_up(world, "ann@example.test", "pro")
    day = {n: str(clock.today() + timedelta(days=n)) for n in (-300, 3, 4, 9, 24)}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("update_points_balance", {"program": "chase-ultimate-rewards", "balance": 184500}),
        ("update_points_balance", {"program": "air-canada-aeroplan", "balance": 41200, "expires_on": day[24]}),
        ("add_card", {"card": "chase-sapphire-reserve", "opened_on": day[-300], "bonus_amount": 60000}),
        ("add_card", {"card": "American Express Gold Card", "opened_on": day[-300]}),
        ("create_trip", {"name": "Spring", "destination": "Tokyo", "start_date": day[3], "end_date": day[9]}),
        ("create_client_portfolio", {"client_name": "Zoë", "balances": {"united-mileageplus": 62340}}),
        ("set_loyalty_status", {"program": "world-of-hyatt", "tier": "Explorist", "valid_until": day[24]}),
        ("add_voucher", {"voucher_slug": "aer-lingus-companion-ticket-us", "expires_on": day[24]}),
    ]
    flight = {"airline": "UA", "origin": "SFO", "destination": "NRT", "cabin_class": "premium_economy"}
    award = {"kind": "award", "points_spent": 88000, "program": "air-canada-aeroplan", "taxes_paid": 113}
    calls.append(("add_flight_booking", flight | award | {"departure_date": day[3], "workspace_trip_id": 1}))
    stay = {"check_in_date": day[4], "check_out_date": day[9], "trip_id": 1}
    calls.append(("add_hotel_booking", {"hotel_id": "Alder Lodge", **stay}))
    watch = {"cabin": "premium_economy", "earliest_date": day[9], "latest_date": day[24], "passengers": 2}
    calls.append(("create_route_monitor", {"origin": "LAX", "destination": "NRT", **watch}))
    for tool, arguments in calls:
        answer = use(ann, tool, **arguments)
        assert answer["status"] in ("ok", "partial"), (tool, answer)
    lists = {route.path for route in DASHBOARD if "GET" in (route.methods or ()) and "{" not in route.path}
    rows = ("trips/1", "bookings/flights/1", "bookings/stays/1", "watches/route/1", "clients/1")
    slugs = "|".join(re.escape(slug) for slug in reference().programs if slug.count("-") > 1)
    machine = re.compile(rf"\b[a-z]+(?:_[a-z]+)+\b|\b(?:{slugs})\b")
    faults = []
    for path in sorted(lists | {f"/dashboard/{row}" for row in rows}):
        answer = world.get(path)
        if path.startswith(FOR_PROGRAMS) or "text/html" not in answer.headers.get("content-type", ""):
            continue
        words = read_words(answer.text)
        faults += [f"{path}: {found}" for found in {*machine.findall(words), *_MONEY.findall(words)}]
    assert faults == []
