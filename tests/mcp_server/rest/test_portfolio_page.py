"""The portfolio page through both hosts: what it shows of what a person keeps, and what it is without answers."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.db.oauth import Client, Family
from shared.db.worth_days import WorthDay
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def read_page(world: World) -> str:
    """The words of the page, in one line."""
    answer = world.get("/dashboard")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def add(caller: Caller, *rows: Any) -> None:
    with transaction() as session:
        for row in rows:
            row.account_id = caller.account_id
            session.add(row)


def test_an_empty_account_is_shown_three_steps_that_tick_themselves(world: World, ann: Caller, use: Any) -> None:
    page = read_page(world)
    assert "0 of 3 done" in page
    assert "How to connect one" in page
    use(ann, "update_points_balance", program="united-mileageplus", balance=62340)
    assert "1 of 3 done" in read_page(world)
    with transaction() as session:
        session.add(Client(client_id="c", kind="dcr", name="Claude", auth_method="none", redirect_uris=[]))
        session.flush()
        session.add(Family(id="f", account_id=ann.account_id, client_id="c", created_at=clock.now()))
    assert "2 of 3 done" in read_page(world)
    day = clock.today() + timedelta(days=60)
    terms = {"earliest_date": str(day), "latest_date": str(day), "cabin": "business", "passengers": 2}
    use(ann, "create_route_monitor", origin="LAX", destination="NRT", **terms)
    page = read_page(world)
    assert "First steps" not in page
    assert "LAX to NRT, business Nothing found yet" in page


def test_balances_say_worth_days_left_and_whose_they_are(world: World, ann: Caller, use: Any) -> None:
    ends = clock.today() + timedelta(days=25)
    use(ann, "update_points_balance", program="ana-mileage-club", balance=31800, expires_on=str(ends), member="Ben")
    use(ann, "update_points_balance", program="united-mileageplus", balance=62340)
    page = read_page(world)
    assert re.search(r"Worth of your points \$[\d,]+ .*Estimated, in 2 programmes, with those of Ben", page)
    assert re.search(r"Ben · 25 days left 31,800 \$\d+ .*62,340", page)
    assert re.search(r"Do next .*31,800 ANA miles .* \$\d+, 25 days left", page)


def test_the_worth_is_a_line_as_far_as_it_reaches(world: World, ann: Caller, use: Any) -> None:
    use(ann, "update_points_balance", program="united-mileageplus", balance=62340)
    today = clock.today()
    add(ann, WorthDay(day=today - timedelta(days=1), usd=800))
    assert "Worth in US dollars" not in read_page(world)
    add(ann, WorthDay(day=today, usd=900))
    assert "Worth in US dollars" in read_page(world)


def test_what_is_booked_next_comes_in_the_order_of_its_days(world: World, ann: Caller, use: Any) -> None:
    day = clock.today()
    flight = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "economy", "cash_paid": 140}
    use(
        ann,
        "add_flight_booking",
        kind="cash",
        **flight,
        flight_number="UA1142",
        departure_date=str(day + timedelta(days=9)),
    )
    stay = {"check_in_date": str(day + timedelta(days=5)), "check_out_date": str(day + timedelta(days=8))}
    added = use(ann, "add_hotel_booking", hotel_id="Alder Lodge", kind="cash", original_pay_rate_usd=400, **stay)
    assert added["status"] == "ok", added
    page = read_page(world)
    assert page.index("Alder Lodge") < page.index("LAX to DEN")
    assert "3 nights" in page
    assert "UA1142, economy" in page


def test_the_inbox_says_in_the_rail_how_much_of_it_is_unread(world: World, ann: Caller) -> None:
    assert "Inbox Connect" in read_page(world)
    add(ann, Notification(kind="inbox", title="A booking waits", body="x", dedupe_key="x", created_at=clock.now()))
    assert "Inbox 1 new Connect" in read_page(world)


def test_the_page_opens_with_the_next_flight_and_its_map(world: World, ann: Caller, use: Any) -> None:
    day = clock.today()
    days = {n: str(day + timedelta(days=n)) for n in (3, 4, 9)}
    fare = {"cabin_class": "business", "cash_paid": 900, "kind": "cash"}
    times = {"departure_time": "11:15", "arrival_date": days[4], "arrival_time": "15:10"}
    use(ann, "add_flight_booking", airline="UA", origin="NRT", destination="SFO", departure_date=days[9], **fare)
    added = use(
        ann,
        "add_flight_booking",
        airline="UA",
        origin="SFO",
        destination="NRT",
        departure_date=days[3],
        **fare,
        **times,
    )
    assert added["status"] == "ok", added
    page = read_page(world)
    assert "Tokyo is 3 days away" in page
    assert "SFO 11:15 10 h 55 min NRT 15:10 +1" in page
    assert "Map of the way from San Francisco to Tokyo" in world.get("/dashboard").text


def test_credits_of_one_day_are_one_row(world: World, ann: Caller, use: Any) -> None:
    added = use(ann, "add_card", card="chase-sapphire-reserve", opened_on=str(clock.today() - timedelta(days=300)))
    assert added["status"] == "ok", added
    page = read_page(world)
    assert re.search(r"\$\d+ of card credits end .* and \d+ more", page)
    assert page.count("Tick off") <= 4


def test_nobody_sees_what_another_person_keeps(world: World, ann: Caller, use: Any) -> None:
    use(ann, "update_points_balance", program="united-mileageplus", balance=62340)
    assert "62,340" in read_page(world)
    world.http.cookies.clear()
    sign_up(world, "bob@example.test")
    assert "62,340" not in read_page(world)


@pytest.mark.parametrize("silent", ["list_points_balances", "list_upcoming_deadlines", "list_hotel_bookings"])
def test_a_tool_that_does_not_answer_leaves_its_card_and_the_page(
    world: World, ann: Caller, use: Any, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    use(ann, "update_points_balance", program="united-mileageplus", balance=62340)
    send = ToolServer._send

    async def answer(server: ToolServer, call: ToolCall) -> Answer:
        return Answer() if call.tool == silent else await send(server, call)

    monkeypatch.setattr(ToolServer, "_send", answer)
    page = read_page(world)
    assert page.count("did not answer right now") == (0 if silent == "list_hotel_bookings" else 1)
    assert ("62,340" in page) == (silent != "list_points_balances")


def test_without_the_tool_server_the_page_stands(world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    page = read_page(world)
    assert page.count("did not answer right now") == 4
    assert "First steps" not in page  # no one is told to start again because a server is down


def test_use_applications_and_claim_stand_on_the_account_page(world: World, ann: Caller) -> None:
    page = world.get("/dashboard/account").text
    for words in ("Searches today", "Connected applications", "Claim an agent", "Download a copy"):
        assert words in page
        assert words not in world.get("/dashboard").text
