"""Deadlines of a year by month: each leads to the page that settles it, and is gone once it is settled."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared import clock
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.page_forms import send_form
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/deadlines"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def list_links(world: World) -> dict[str, str]:
    """The words of each link that settles something, with its address."""
    pairs = re.findall(r'<a class="button slim" href="([^"]*)" aria-label="([^"]*)"', world.get(PAGE).text)
    return {html.unescape(words): html.unescape(address) for address, words in pairs}


def fill(ann: Caller, use: Any) -> None:
    day = {days: str(clock.today() + timedelta(days=days)) for days in (20, 40, 80, 200)}
    use(ann, "update_points_balance", program="ana-mileage-club", balance=31800, member="Zoë", expires_on=day[20])
    use(ann, "set_loyalty_status", program="hilton-honors", tier="Gold", valid_until=day[80])
    bonus = {"bonus_status": "pending", "spend_deadline_on": day[40], "opened_on": str(clock.today())}
    use(ann, "add_card", card="Mine", custom=True, annual_fee=95, **bonus)
    rows = use(ann, "search_card_catalog", query="American Express Platinum", country="US", per_page=20)["cards"]
    use(ann, "add_card", card=max(rows, key=lambda row: len(row["credits"]))["slug"])
    kinds = use(ann, "list_voucher_types", booking_type="hotel", per_page=100)["voucher_types"]
    use(ann, "add_voucher", voucher_slug=kinds[0]["voucher_slug"], expires_on=day[200])
    flight = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "economy", "cash_paid": 140}
    use(ann, "add_flight_booking", kind="cash", **flight, departure_date=day[40])
    stay = {"check_in_date": day[40], "check_out_date": day[80], "kind": "cash", "original_pay_rate_usd": 400}
    use(ann, "add_hotel_booking", hotel_id="Alder Lodge", **stay)


def test_the_year_shows_what_is_at_stake_in_one_currency(world: World, ann: Caller, use: Any) -> None:
    assert "twelve months" not in world.get(PAGE).text
    fill(ann, use)
    page = world.get(PAGE).text
    (sentence,) = re.findall(r'role="img" aria-label="(Ends within twelve months: [^"]*)"', page)
    assert 0 < sentence.count("$") <= 5
    assert page.count("<circle") >= sentence.count("$")


def test_each_deadline_stands_in_its_month_and_leads_to_a_page_that_is_there(
    world: World, ann: Caller, use: Any
) -> None:
    fill(ann, use)
    text = world.get(PAGE).text
    months = [f"{clock.today() + timedelta(days=days):%B %Y}" for days in (20, 200)]
    assert text.index(f">{months[0]}</h2>") < text.index(f">{months[1]}</h2>")
    links = list_links(world)
    steps = {words.partition(":")[0] for words in links}
    wanted = {
        "Change the day",
        "Use the voucher",
        "Change the status",
        "Mark the bonus",
        "Mark as used",
        "See the booking",
    }
    assert wanted <= steps
    assert {world.get(address).status_code for address in links.values()} == {200}
    assert "31,800" in next(words for words in links if words.startswith("Change the day"))


def test_what_is_settled_on_its_page_is_gone_from_the_list(world: World, ann: Caller, use: Any) -> None:
    fill(ann, use)

    def find(step: str) -> str | None:
        return next((page for words, page in list_links(world).items() if words.startswith(step)), None)

    page = find("Change the day")
    later = str(clock.today() + timedelta(days=700))
    assert page
    assert send_form(world, page, "/dashboard/balances/edit", expires_on=later).status_code == 303
    assert find("Change the day") is None
    page = find("Mark the bonus")
    assert page
    assert send_form(world, page, "/dashboard/cards/edit", bonus_status="earned").status_code == 303
    assert find("Mark the bonus") is None
    credits = {words for words in list_links(world) if words.startswith("Mark as used")}
    page = find("Mark as used")
    assert page
    for _ in credits:
        form = re.search(
            r'name="credit" value="([^"]*)"(?:(?!</li>).)*days left|days left(?:(?!</li>).)*?name="credit"'
            r' value="([^"]*)"',
            world.get(page).text,
            re.S,
        )
        assert form
        which = ("credit", form[1] or form[2])
        assert send_form(world, page, "/dashboard/cards/credits", which).status_code == 303
    assert find("Mark as used") is None


def test_a_long_list_is_paged_and_light(world: World, ann: Caller, use: Any) -> None:
    kinds = use(ann, "list_voucher_types", booking_type="hotel", per_page=100)["voucher_types"]
    for number in range(42):
        day = str(clock.today() + timedelta(days=10 + number))
        use(ann, "add_voucher", voucher_slug=kinds[0]["voucher_slug"], expires_on=day)
    first = world.get(PAGE)
    second = world.get(f"{PAGE}?page=2").text
    assert (first.text.count(">Use the voucher</a>"), second.count(">Use the voucher</a>")) == (40, 2)
    assert len(first.content) < 30_000, len(first.content)
    assert "Page 1, 42 in all" in first.text


def test_nothing_that_ends_is_said_and_no_answer_too(
    world: World, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Nothing ends within a year" in world.get(PAGE).text

    async def answer(*_: Any) -> Answer:
        return Answer()

    monkeypatch.setattr(ToolServer, "_send", answer)
    assert world.get(PAGE).status_code == 503
