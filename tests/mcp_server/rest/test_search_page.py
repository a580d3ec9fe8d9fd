"""Search on the web: a month as a heat-map, a day's offers, and a watch of either, by the tools and their limits."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import calendar
import html
import re
import threading
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

import anyio.to_thread
import httpx
import pytest

from auth_server.pages import search_day
from auth_server.pages import tool_calls as page_calls
from auth_server.pages.search_day import describe_payment
from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.domain.dates import format_weekday
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.sandbox_seats import set_seat

PAGE = "/dashboard/search"
ROUTE = "origin=LHR&destination=JFK"
MONTH = f"{PAGE}?{ROUTE}&airline=BA&month=2027-01&passengers=2"
DAY = f"{PAGE}/day?{ROUTE}&airline=BA&day=2027-01-13&passengers=2"
SEARCHES = ("search_monthly_availability", "search_availability", "search_all_airlines")


@pytest.fixture(autouse=True)
def _seats(world: World) -> None:
    """The seats of the days that these tests look at."""
    set_seat("open:2", "LHR", "JFK", date(2027, 1, 13), "business", "BA", "american-airlines-aadvantage")
    set_seat("open:7", "LHR", "JFK", date(2027, 1, 13), "economy")
    set_seat("open", "LHR", "JFK", date(2027, 1, 2), "economy")


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


@pytest.fixture
def bob(world: World) -> Caller:
    return sign_up(world, "bob@example.test")


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The searches that pages sent to the tool server, in order."""
    names, send = list[str](), ToolServer._send

    async def note(server: ToolServer, call: ToolCall) -> Answer:
        names.extend([call.tool] if call.tool in SEARCHES else [])
        return await send(server, call)

    monkeypatch.setattr(ToolServer, "_send", note)
    return names


def read_words(answer: httpx.Response) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def count_cells(answer: httpx.Response, kind: str) -> int:
    return len(re.findall(rf'<td role="cell" class="{kind}">', answer.text))


def test_a_month_is_a_calendar_whose_prices_lead_to_the_day(world: World, ann: Caller) -> None:
    page = world.get(MONTH)
    assert page.status_code == 200
    assert sum(count_cells(page, kind) for kind in ("c1", "c2", "c3", "c4", "c0", "cu")) == 31
    assert count_cells(page, "c1") > 0
    words = read_words(page)
    assert "LHR to JFK, January 2027" in words
    assert "Best in business 100,000 points for 2 people, 50,000 each, on Fri 15 Jan 2027 See its flights" in words
    assert f"From invented data, asked {format_weekday(clock.today())}, 12:00 UTC." in words
    link = html.unescape(re.findall(r'<a href="(search/day[^"]*)"', page.text)[0])
    assert link == f"search/day?{ROUTE}&airline=BA&passengers=2&day=2027-01-13&cabin=business"
    assert "LHR to JFK, Wed 13 Jan 2027" in read_words(world.get(f"/dashboard/{link}"))


def test_a_search_runs_once_however_often_its_page_is_loaded(world: World, ann: Caller, searches: list[str]) -> None:
    assert world.get(MONTH).text.count("<td") == world.get(MONTH).text.count("<td") == 5 * 7
    assert searches == ["search_monthly_availability"]
    world.get(MONTH.replace("passengers=2", "passengers=1"))
    assert len(searches) == 2


def test_a_page_that_waits_looks_again_and_shows_the_answer_when_it_is_there(
    world: World, ann: Caller, searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, send = threading.Event(), ToolServer._send

    async def hold(server: ToolServer, call: ToolCall) -> Answer:
        if call.tool in SEARCHES:
            await anyio.to_thread.run_sync(gate.wait)
        return await send(server, call)

    monkeypatch.setattr(ToolServer, "_send", hold)
    monkeypatch.setattr(page_calls, "SEARCH_SECONDS", 0.05)
    waiting = world.get(MONTH)
    assert (waiting.status_code, "Looking at each day of Jan 2027 for BA" in waiting.text) == (200, True)
    assert waiting.headers["refresh"] == f"2; url={MONTH}&look=2"
    again = world.get(waiting.headers["refresh"].split("url=")[1])
    assert again.headers["refresh"].endswith("&look=3")
    for look in ("0", "45", "x"):
        assert "refresh" not in world.get(f"{MONTH}&look={look}").headers
    assert searches == []
    gate.set()
    monkeypatch.setattr(page_calls, "SEARCH_SECONDS", 8)
    assert count_cells(world.get(MONTH), "c1") > 0
    assert searches == ["search_monthly_availability"]


def test_another_account_gets_its_own_answer(world: World, ann: Caller, searches: list[str]) -> None:
    world.get(MONTH)
    world.http.cookies.clear()
    sign_up(world, "cleo@example.test", "premium")
    world.get(MONTH)
    assert len(searches) == 2


def test_without_the_plan_the_page_says_so_and_shows_what_was_seen(world: World, bob: Caller, use: Any) -> None:
    use(bob, "search_availability", airline="BA", origin="LHR", destination="JFK", date="2027-01-13")
    page = world.get(MONTH)
    words = read_words(page)
    assert page.status_code == 200
    assert "The calendar of a whole month is part of the Premium plan. See the plans" in words
    assert '<a href="/plans">' in page.text
    assert (count_cells(page, "c1"), count_cells(page, "cu"), count_cells(page, "c0")) == (1, 30, 0)
    assert "Found in the last 14 days" in words
    other = world.get(f"{MONTH}&cabin=economy").text
    assert [text.count("cabin=economy") > text.count("cabin=business") for text in (page.text, other)] == [False, True]


def test_a_day_in_economy_is_free_and_counts_once(world: World, bob: Caller) -> None:
    for _ in range(3):
        words = read_words(world.get(DAY))
        assert "4 searches left today" in words
    assert "Economy" in words
    assert "Premium economy" not in words
    assert "Free looks at economy" in words


def test_another_cabin_of_every_airline_needs_the_plan(world: World, bob: Caller) -> None:
    page = world.get(f"{PAGE}/day?{ROUTE}&day=2027-01-13&cabin=business")
    assert page.status_code == 402
    assert 'href="/plans"' in page.text
    assert f"{ROUTE.replace('&', '&amp;')}&amp;airline=&amp;day=2027-01-13&amp;cabin=economy" in page.text


def test_after_the_last_search_of_the_day_the_page_says_so(world: World, bob: Caller) -> None:
    for number in range(10, 15):
        assert world.get(DAY.replace("01-13", f"01-{number}")).status_code == 200
    refused = world.get(DAY.replace("01-13", "01-20"))
    assert (refused.status_code, "No search left for now" in refused.text) == (429, True)


def test_without_an_airline_what_was_seen_before_is_shown(world: World, ann: Caller, use: Any) -> None:
    empty = world.get(f"{PAGE}?{ROUTE}&month=2027-01")
    assert "Nothing was seen on this route and month" in read_words(empty)
    use(ann, "search_availability", airline="BA", origin="LHR", destination="JFK", date="2027-01-13")
    page = world.get(f"{PAGE}?origin=London&destination=New+York&month=2027-01")
    assert page.status_code == 200
    assert count_cells(page, "c1") == 1
    assert "not looked at" in page.text


def test_a_fault_stands_at_its_field_and_what_was_typed_stays(world: World, ann: Caller) -> None:
    for query, field in (
        ("origin=Zzzyx&destination=JFK", "origin"),
        ("origin=LHR&destination=", "destination"),
        (f"{ROUTE}&month=2019-01", "month"),
        (f"{ROUTE}&month=2027-01&passengers=many", "passengers"),
        (f"{ROUTE}&airline=BA&month=2027-01&passengers=40", "passengers"),
    ):
        refused = world.get(f"{PAGE}?{query}")
        assert (refused.status_code, f'id="{field}-fault" role="alert"' in refused.text) == (422, True), query
    assert 'value="BA"' in refused.text
    unknown = world.get(f"{PAGE}?{ROUTE}&airline=%C3%96rl+%3Cb%3E&month=2027-01")
    assert (unknown.status_code, "Örl &lt;b&gt;" in unknown.text) == (422, True)


def test_a_refused_search_is_not_kept(world: World, ann: Caller, searches: list[str]) -> None:
    for _ in range(2):
        assert world.get(f"{PAGE}?origin=LHR&destination=LHR&airline=BA&month=2027-01").status_code == 422
    assert len(searches) == 2


def test_a_day_shows_the_party_price_how_it_is_paid_and_where(world: World, ann: Caller, use: Any) -> None:
    use(ann, "update_points_balance", program="chase-ultimate-rewards", balance=500_000)
    page = world.get(f"{DAY}&cabin=business")
    words = read_words(page)
    assert "LHR to JFK, Wed 13 Jan 2027" in words
    assert words.index("Business 2 seats") < words.index("Economy 7 seats"), "the cabin that was pressed comes first"
    assert "57,500 + $1,072 115,000 + $2,143" in words
    assert "Best you can pay in business 115,000 points + $2,143 for 2 people, 57,500 each" in words
    assert "Transfer 132,000 from Chase Ultimate Rewards by way of Marriott Bonvoy, days." in words
    assert "right now, invented data" in words
    assert re.search(
        r'href="https://www\.aa\.com/booking/search\?[^"]*from=LHR&amp;to=JFK&amp;pax=2[^"]*" rel="noreferrer"',
        page.text,
    )
    assert len(page.content) < 30_000


def test_a_day_without_the_cabin_that_was_asked_for_says_so(world: World, ann: Caller) -> None:
    assert "seats that day" not in read_words(world.get(f"{DAY}&cabin=business"))
    set_seat("shut", "LHR", "JFK", date(2027, 1, 14), "business")
    words = read_words(world.get(f"{DAY.replace('01-13', '01-14')}&cabin=business"))
    assert "No business seats that day." in words
    assert "Economy" in words


def test_every_airline_of_a_day_stays_within_the_weight_of_a_page(world: World, ann: Caller) -> None:
    page = world.get(f"{PAGE}/day?{ROUTE}&day=2027-01-02&cabin=economy")
    assert len(re.findall("Watch this", page.text)) == search_day.MAX_OFFERS
    assert "dearer offers are left out" in page.text
    assert len(page.content) < 30_000


def test_a_day_that_is_past_or_none_is_a_sentence(world: World, ann: Caller) -> None:
    for day in ("2020-01-01", "soon", ""):
        refused = world.get(DAY.replace("2027-01-13", day))
        assert (refused.status_code, "This day could not be looked at" in refused.text) == (422, True)
        assert "Day: " in read_words(refused)


def test_without_an_answer_the_person_is_told(world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    for path in (MONTH, f"{PAGE}?{ROUTE}", DAY):
        assert "did not answer in time" in world.get(path).text


def test_a_source_that_needs_an_account_leads_to_the_integrations(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(*_: Any) -> Answer:
        return Answer(status="connection_required", message="This needs your own account.")

    monkeypatch.setattr(ToolServer, "_send", answer)
    for path in (MONTH, DAY):
        page = world.get(path).text
        assert "This needs your own account." in page
        assert 'href="/dashboard/integrations"' in page


def test_the_age_of_an_offer_goes_on_while_its_answer_is_kept(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "right now, invented data" in world.get(DAY).text
    later = clock.now() + timedelta(minutes=7)
    monkeypatch.setattr(search_day.clock, "now", lambda: later)
    assert "7 min ago, invented data" in world.get(DAY).text


def read_watch(page: str) -> dict[str, str]:
    """What the form for a watch is filled with, behind the first link to it."""
    query = html.unescape(re.findall(r'href="[./]*watches/route/new\?([^"]*)"', page)[0])
    return dict(parse_qsl(query))


def test_an_offer_and_a_month_lead_to_a_watch_with_their_values(world: World, ann: Caller) -> None:
    terms = read_watch(world.get(f"{DAY}&cabin=business").text)
    day = {"earliest_date": "2027-01-13", "latest_date": "2027-01-13", "cabin": "business", "max_points": "57500"}
    route = {"origin": "LHR", "destination": "JFK", "airlines": "BA", "passengers": "2"}
    assert terms == route | day
    form = world.get(f"/dashboard/watches/route/new?{urlencode(terms)}").text
    for name in ("origin", "destination", "earliest_date", "airlines", "passengers", "max_points"):
        assert re.search(rf'id="{name}"[^>]* value="{terms[name]}"', form), name
    month = {"earliest_date": "2027-01-01", "latest_date": "2027-01-31"}
    assert read_watch(world.get(MONTH).text) == route | month
    today = clock.today()
    last = today.replace(day=calendar.monthrange(today.year, today.month)[1])
    named = read_watch(world.get(f"{PAGE}?origin=London&destination=JFK&month={today:%Y-%m}").text)
    assert named == {"destination": "JFK", "earliest_date": f"{today}", "latest_date": f"{last}"}


def part(points: int, program: str = "chase", between: str = "") -> dict[str, Any]:
    route = {"steps": [{"to_program": between}, {"to_program": "ba"}] if between else [{"to_program": "ba"}]}
    return {"source_points": points, "from_program": program, "route": route}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"options": [{"covers_target": True, "route": None}]}, "Covered: You hold enough."),
        (
            {"options": [part(60_000) | {"covers_target": True, "posting_time": "instant"}]},
            "Covered: Transfer 60,000 from Chase, instant.",
        ),
        (
            {"options": [part(60_000, between="aer") | {"covers_target": True, "posting_time": "no_data"}]},
            "Covered: Transfer 60,000 from Chase by way of AerClub.",
        ),
        (
            {"combinations": [{"covers_target": True, "parts": [part(1_000), part(2_000, "citi")]}]},
            "Covered: Put together 1,000 from Chase and 2,000 from citi.",
        ),
        ({}, "58,800 short: with all your balances together."),
        ({"status": "no_data"}, "No way: None of your balances becomes points of this programme."),
    ],
)
def test_payments_are_told_in_words(answer: dict[str, Any], words: str) -> None:
    whole = {"status": "ok", "names": {"chase": "Chase", "aer": "AerClub"}, "options": [], "combinations": []}
    payment = describe_payment(whole | {"shortfall": 58_800} | answer)
    assert payment is not None
    assert f"{payment.word}: {payment.text}" == words


def test_a_balance_tool_without_an_answer_leaves_the_cell_open() -> None:
    assert describe_payment({}) is None


def test_times_over_midnight_say_the_day() -> None:
    row = {"origin": "LHR", "destination": "HND", "departs_at": "2027-01-13T20:55", "arrives_at": "2027-01-15T01:15"}
    assert search_day._describe_times(row) == "LHR 20:55 to HND 01:15 +2"
    assert search_day._describe_times(row | {"arrives_at": None}) == "LHR to HND, times not known"


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "right now"), (2400, "40 min ago"), (7300, "2 h ago"), (259_200, "3 days ago")]
)
def test_ages_are_short(seconds: int, words: str) -> None:
    assert search_day._describe_age(seconds) == words


def test_searches_and_watches_begin_with_what_the_profile_says(world: World, ann: Caller, use: Any) -> None:
    settings = {"home_airport": "MUC", "default_cabin": "first", "default_passengers": 3, "currency": "EUR"}
    use(ann, "update_profile", **settings)
    form = world.get(PAGE).text
    assert 'value="MUC"' in form
    assert '<option value="3" selected' in form
    assert '<input type="hidden" name="cabin" value="first">' in form
    watch = world.get("/dashboard/watches/route/new").text
    assert 'value="MUC"' in watch
    assert '<option value="first" selected' in watch
    linked = world.get("/dashboard/watches/route/new?origin=LHR&destination=JFK").text
    assert 'value="MUC"' not in linked
