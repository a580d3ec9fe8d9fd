"""Award results in real Chromium: order, filters, party totals, coverage, and the watch of what was asked."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.browser.screens.samples import EVERY, SEARCH, open_seats, search_first
from tests.browser.screens.stage import Stage
from tests.browser.screens.stored_rows import days_ahead

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

TOOL = "search_all_airlines"
DAY = days_ahead(60)
# Airline, programme, cabin, points, taxes, minutes under way, stops, days after DAY. None: its source does not say.
OFFERS = (
    ("BA", "iberia-club", "economy", 20_000, 90, 500, 0, 2),
    ("VS", "flying-blue", "economy", 30_000, 40, 470, 1, 0),
    ("AF", "flying-blue", "business", 50_000, 60, 610, None, 1),
    ("LH", "tap-miles-and-go", "business", 80_000, None, None, 2, 3),
)
NAMES = {"BA": "British Airways", "flying-blue": "Flying Blue", "AC": "Air Canada"}


def build_row(offer: tuple[Any, ...]) -> dict[str, Any]:
    airline, program, cabin, points, taxes, minutes, stops, later = offer
    day = (DAY + timedelta(days=later)).isoformat()
    return {
        "trip_id": f"t{points}", "airline": airline, "program": program, "cabin": cabin, "points": points,
        "origin": "LHR", "destination": "JFK", "date": day, "departs_at": f"{day}T10:00", "arrives_at": f"{day}T13:20",
        "taxes": taxes, "taxes_currency": None if taxes is None else "GBP", "duration_minutes": minutes, "stops": stops,
        "party_points": points * 2, "party_taxes": None if taxes is None else taxes * 2, "per": "person", "seats": 2,
        "flight_numbers": [f"{airline}1"],
    }  # fmt: skip


def put_offers(result: dict[str, Any]) -> None:
    data = result["structuredContent"]
    if "options" in data:
        data["options"] = [build_row(offer) for offer in OFFERS]
        data["total"] = len(OFFERS)


def open_offers(
    stage: Stage, change: Callable[[dict[str, Any]], None] = lambda _data: None, **options: Any
) -> dict[str, Any]:
    """Opens the four offers; what the screen has as its data then."""

    def put(result: dict[str, Any]) -> None:
        put_offers(result)
        if "options" in result["structuredContent"]:
            change(result["structuredContent"])

    stage.change = put
    stage.open(TOOL, EVERY, **options)
    data: dict[str, Any] = stage.look_inside("screen.data")
    return data


def wait_points(stage: Stage, *expected: int, people: int = 2) -> None:
    """Until the rows cost these points per person, from above: a key is pressed before what it does is done."""
    written = ",".join(f"{number * 2:,} for two" if people == 2 else f"{number:,}" for number in expected)
    stage.wait_for(f"[...document.querySelectorAll('tbody .number')].map((e) => e.textContent).join() === '{written}'")


def choose(stage: Stage, name: str, value: str | bool) -> None:
    """Chooses in a field of the filters as a person does, with the keyboard on it."""
    stage.focus(f"[name={name}]")
    if isinstance(value, bool):
        stage.tab.press_keys(" ")
        return
    stage.look_inside(
        f"(() => {{const f = document.querySelector('[name={name}]'); f.value = '{value}';"
        "f.dispatchEvent(new Event('change'))})()"
    )


def sorted_heads(stage: Stage) -> dict[str, str]:
    script = (
        "Object.fromEntries([...document.querySelectorAll('th[aria-sort]')].map((h) => [h.dataset.name, h.ariaSort]))"
    )
    heads: dict[str, str] = stage.look_inside(script)
    return heads


ORDERS = [
    ("points", [20_000, 30_000, 50_000, 80_000], [80_000, 50_000, 30_000, 20_000]),
    ("taxes", [30_000, 50_000, 20_000, 80_000], [20_000, 50_000, 30_000, 80_000]),
    ("took", [30_000, 20_000, 50_000, 80_000], [50_000, 20_000, 30_000, 80_000]),
    ("stops", [20_000, 30_000, 80_000, 50_000], [80_000, 30_000, 20_000, 50_000]),
    ("when", [30_000, 50_000, 20_000, 80_000], [80_000, 20_000, 50_000, 30_000]),
]


@pytest.mark.parametrize(("name", "up", "down"), ORDERS, ids=[order[0] for order in ORDERS])
def test_a_heading_sorts_either_way_by_key_and_what_is_not_known_stays_last(
    stage: Stage, name: str, up: list[int], down: list[int]
) -> None:
    open_offers(stage)
    choose(stage, "sort", "taxes" if name == "points" else "points")
    stage.focus(f"th.{name} button")
    stage.tab.press_keys("Enter")
    wait_points(stage, *up)
    assert sorted_heads(stage) == {name: "ascending"}
    stage.tab.press_keys(" ")
    wait_points(stage, *down)
    assert sorted_heads(stage) == {name: "descending"}
    assert stage.look_inside("document.activeElement.parentElement.dataset.name") == name
    assert stage.look_inside("document.querySelector('[name=sort]').value") == name
    assert "highest first" in stage.look_inside("document.querySelector('#aloud').textContent")


def test_the_list_of_orders_serves_where_there_are_no_headings(stage: Stage) -> None:
    open_offers(stage, width=320)
    assert not stage.look_inside("document.querySelector('thead').checkVisibility()")
    for name, up, _ in ORDERS:
        choose(stage, "sort", name)
        wait_points(stage, *up)
        assert sorted_heads(stage) == {name: "ascending"}
        assert stage.look_inside("document.activeElement.name") == "sort"


def test_what_no_row_tells_is_neither_column_nor_order(stage: Stage) -> None:
    def forget(data: dict[str, Any]) -> None:
        for row in data["options"]:
            row.update(stops=None, duration_minutes=None)

    open_offers(stage, forget)
    assert stage.look_inside("document.querySelectorAll('th.took, th.stops, [name=nonstop]').length") == 0
    orders = stage.look_inside("[...document.querySelector('[name=sort]').options].map((o) => o.value)")
    assert orders == ["points", "taxes", "when"]


FILTERS = [
    ("cabin", "business", [50_000, 80_000]),
    ("program", "flying-blue", [30_000, 50_000]),
    ("most", "30000", [20_000, 30_000]),
    ("nonstop", True, [20_000]),
]


@pytest.mark.parametrize(("name", "value", "left"), FILTERS, ids=[row[0] for row in FILTERS])
def test_each_filter_leaves_what_passes_it_and_keeps_the_keyboard(
    stage: Stage, name: str, value: str | bool, left: list[int]
) -> None:
    open_offers(stage)
    choose(stage, name, value)
    wait_points(stage, *left)
    assert stage.look_inside("document.activeElement.name") == name
    count = f"{len(left)} of 4 offers"
    assert count in stage.text("#lead")
    assert count in stage.look_inside("document.querySelector('#aloud').textContent")


def test_filters_work_together_and_one_button_clears_them_when_nothing_is_left(stage: Stage) -> None:
    open_offers(stage)
    choose(stage, "cabin", "economy")
    choose(stage, "program", "flying-blue")
    wait_points(stage, 30_000)
    choose(stage, "nonstop", True)
    wait_points(stage)
    assert "No offer passes these filters." in stage.text("#offers")
    assert not stage.look_inside("document.querySelector('table').checkVisibility()")
    stage.picture("award-results-none-left")
    stage.focus(".none button")
    stage.tab.press_keys("Enter")
    wait_points(stage, 20_000, 30_000, 50_000, 80_000)
    assert stage.look_inside("[...document.querySelectorAll('#filters select')].map((s) => s.value)") == [
        "points",
        "",
        "",
        "",
    ]
    assert stage.look_inside("document.querySelector('[name=nonstop]').checked") is False
    assert stage.look_inside("document.querySelector('#filters').contains(document.activeElement)")


def test_an_old_result_that_is_looked_at_again_keeps_what_was_chosen(stage: Stage) -> None:
    def age(data: dict[str, Any]) -> None:
        data["freshness"]["provider_checked_at"] = days_ahead(-3).isoformat() + "T00:00:00Z"

    open_offers(stage, age)
    assert "These seats may be gone." in stage.text("#note")
    choose(stage, "cabin", "business")
    choose(stage, "sort", "when")
    stage.change = put_offers
    stage.click("#note button")
    stage.wait_for("document.querySelector('#note').hidden")
    wait_points(stage, 50_000, 80_000)
    assert stage.look_inside("[...document.querySelectorAll('select')].slice(0, 2).map((s) => s.value)") == [
        "when",
        "business",
    ]


def test_prices_are_per_person_and_for_the_party(stage: Stage) -> None:
    open_offers(stage)
    lead = stage.text("#lead")
    assert "40,000\npoints for two with" in lead
    assert "20,000 each · + 180 GBP" in lead
    first = stage.text("tbody tr")
    for part in ("40,000 for two", "20,000 each", "+ 180 GBP", "8 h 20 min", "nonstop"):
        assert part in first
    assert "taxes not known" in stage.text("tbody tr:last-child")


def test_of_one_traveller_no_party_is_said(stage: Stage) -> None:
    stage.open(TOOL, {**EVERY, "passengers": 1})
    assert "for 1" not in stage.text("main")
    assert "traveller" not in stage.text("#about")


def test_the_watch_is_of_what_was_asked_and_of_what_the_filters_leave(stage: Stage) -> None:
    open_offers(stage)
    choose(stage, "cabin", "business")
    choose(stage, "most", "50000")
    choose(stage, "program", "flying-blue")
    assert "business, 2 travellers, up to 50,000 points per person, in any programme" in stage.text(".terms")
    stage.focus("#acts .primary")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('#acts .primary').innerText === 'Watched'")
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": EVERY["date"], "latest_date": EVERY["date"]}
    terms |= {"passengers": 2, "cabin": "business", "max_points": 50_000}
    assert stage.calls[1:] == [("create_route_monitor", terms)]
    assert stage.text(".outcome").startswith(
        "Monitor 1 watches LHR to JFK for two travellers, at most 50,000 points per person."
    )
    assert stage.tab.evaluate("host.informed[0]").startswith("From the results: Monitor 1 watches")
    assert stage.focused() == "Watched"
    stage.picture("award-results-watched")
    choose(stage, "sort", "taxes")  # another order is the same watch, and one is enough
    stage.focus("#acts .primary")
    stage.tab.press_keys("Enter")
    assert len(stage.calls) == 2
    choose(stage, "program", "")
    choose(stage, "nonstop", True)
    assert stage.text("#acts .primary") == "Watch this"


def test_days_around_airlines_and_a_limit_that_were_asked_for_are_watched(stage: Stage) -> None:
    asked = {**EVERY, "flex_days": 2, "airlines": ["BA", "VS"], "max_points": 45_000, "cabin": "business"}
    open_seats(stage, "business")
    stage.open(TOOL, asked, phase="")
    stage.click("#acts .primary")
    stage.wait_for("document.querySelector('.outcome')")
    first, last = ((DAY + timedelta(days=shift)).isoformat() for shift in (-2, 2))
    assert stage.calls[-1] == (
        "create_route_monitor",
        {"origin": "LHR", "destination": "JFK", "earliest_date": first, "latest_date": last, "cabin": "business",
         "airlines": ["BA", "VS"], "passengers": 2, "max_points": 45_000},
    )  # fmt: skip


def test_a_search_that_found_nothing_can_be_watched(stage: Stage) -> None:
    def clear(result: dict[str, Any]) -> None:
        if "options" in result["structuredContent"]:
            result["structuredContent"]["options"] = []

    stage.change = clear
    stage.open("search_availability", SEARCH, phase="empty")
    stage.picture("award-results-empty")
    stage.click("#acts .primary")
    stage.wait_for("document.querySelector('.outcome')")
    name, terms = stage.calls[-1]
    assert (name, terms["airlines"], terms["earliest_date"]) == ("create_route_monitor", ["BA"], SEARCH["date"])
    assert "cabin" not in terms
    assert stage.text("#acts .primary") == "Watched"


@pytest.mark.parametrize("status", ["confirmation_required", "invalid"])
def test_a_watch_that_was_not_made_says_why_and_may_be_asked_for_again(stage: Stage, status: str) -> None:
    open_offers(stage)

    def refuse(result: dict[str, Any]) -> None:
        result["structuredContent"].update(status=status, message="Watching this needs your word first.")
        result["isError"] = status == "invalid"

    stage.change = refuse
    stage.focus("#acts .primary")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('.outcome')")
    assert stage.text(".outcome") == "Watching this needs your word first."
    assert stage.focused() == "Watch this"
    stage.change = put_offers
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('#acts .primary').innerText === 'Watched'")
    assert stage.look_inside("document.querySelectorAll('.outcome').length") == 1


def test_a_user_who_declines_the_watch_is_told_so(stage: Stage) -> None:
    open_offers(stage)
    stage.tab.evaluate("host.declines = true")
    stage.click("#acts .primary")
    stage.wait_for("document.querySelector('.outcome')")
    assert stage.text(".outcome") == "The user declined."


def test_a_host_without_tools_and_messages_offers_no_watch(stage: Stage) -> None:
    open_offers(stage, bare=True)
    assert stage.look_inside("document.querySelector('#acts').hidden")
    choose(stage, "cabin", "business")
    wait_points(stage, 50_000, 80_000)


def test_coverage_counts_who_answered_and_names_who_has_nothing(stage: Stage) -> None:
    def tell(data: dict[str, Any]) -> None:
        data["coverage"] = {
            "asked": ["one", "two", "BA", "VS"],
            "answered": ["one", "BA", "VS"],
            "failed": [{"name": "two", "reason": "down"}],
            "skipped": [{"name": "QF", "reason": "not_on_sale"}, {"name": "three", "reason": "not_configured"}],
        }
        data["by_airline"] = [
            {"airline": "VS", "outcome": "none", "cheapest": None},
            {"airline": "BA", "outcome": "over_max_points", "cheapest": 90_000},
        ]
        data["names"] = NAMES

    open_offers(stage, tell)
    assert stage.text("#coverage") == (
        "3 of 4 airlines and sources answered. Above your limit: British Airways (from 90,000). No seats with: VS."
        " Not on sale yet: QF. Not asked: three (not configured)."
    )
    assert "No answer from two" in stage.text("#note")


def test_names_stand_for_codes_where_the_result_has_them(stage: Stage) -> None:
    open_offers(stage, lambda data: data.update(names=NAMES))
    drawn = stage.look_inside("[...document.querySelectorAll('td.airline')].map((e) => e.innerText)")
    assert drawn[0].startswith("British Airways")
    assert drawn[1].startswith("VS\nFlying Blue")


@pytest.mark.parametrize(
    ("tool", "asked"),
    [(TOOL, EVERY), ("search_availability", SEARCH), ("list_flights", {"origin": "LHR"})],
    ids=["all-airlines", "one-airline", "seen"],
)
def test_a_compact_answer_draws_the_same_table_as_a_full_one(stage: Stage, tool: str, asked: dict[str, Any]) -> None:
    search_first(stage)
    drawn = {}
    for detail in ("full", "compact"):
        stage.open(tool, {**asked, "detail": detail})
        drawn[detail] = [stage.text(part) for part in ("#lead", "table", "#coverage", "#foot")]
        assert stage.look_inside("Boolean(screen.data.provenance)") is (detail == "compact")
    assert drawn["compact"] == drawn["full"]


def test_offers_seen_earlier_keep_the_servers_order_and_say_when_they_were_seen(stage: Stage) -> None:
    search_first(stage)
    stage.open("list_flights", {"origin": "LHR", "destination": "JFK", "sort": "newest"})
    listed = [row["points"] for row in stage.look_inside("screen.data.flights")]
    wait_points(stage, *listed, people=1)
    assert sorted_heads(stage) == {}
    assert "seen less than an hour ago" in stage.text("tbody tr")
    choose(stage, "sort", "points")
    wait_points(stage, *sorted(listed), people=1)
    choose(stage, "sort", "")
    wait_points(stage, *listed, people=1)


def test_a_list_of_several_routes_is_watched_when_one_is_left(stage: Stage) -> None:
    def spread(result: dict[str, Any]) -> None:
        for row in result["structuredContent"].get("flights", [])[1:]:
            row["destination"] = "BOS"

    search_first(stage)
    stage.change = spread
    stage.open("list_flights", {"origin": "LHR"})
    assert stage.text("h1") == "Award seats from LHR"
    assert stage.look_inside("document.querySelector('#acts .primary')") is None
    assert "LHR–BOS" in stage.text("table")
    choose(stage, "program", stage.look_inside("screen.data.flights[0].program"))
    assert "LHR to JFK" in stage.text(".terms")


def test_more_offers_than_the_answer_holds_are_fetched_once_with_what_was_asked(stage: Stage) -> None:
    def cut(result: dict[str, Any]) -> None:
        put_offers(result)
        if len(stage.calls) == 1:
            del result["structuredContent"]["options"][2:]

    stage.change = cut
    stage.open(TOOL, {**EVERY, "flex_days": 1, "limit": 2})
    assert "2 offers, 4 found in all" in stage.text("#lead")
    choose(stage, "sort", "taxes")
    stage.focus("#acts .plain")
    assert stage.focused() == "Show all 4"
    stage.tab.press_keys("Enter")
    wait_points(stage, 30_000, 50_000, 20_000, 80_000)
    assert stage.calls[1:] == [(TOOL, {**EVERY, "flex_days": 1, "cabin": "economy", "limit": 100})]
    assert stage.look_inside("document.querySelector('#acts .plain')") is None
    assert stage.focused() == "LHR to JFK"
    assert stage.tab.evaluate("host.informed[0]").startswith("In the results the user looked at 4 offers.")


def test_a_long_list_goes_on_with_its_own_filters(stage: Stage) -> None:
    search_first(stage, days=5)
    asked = {"origin": "LHR", "cabin": "economy", "sort": "points", "per_page": 2}
    stage.open("list_flights", asked)
    total = stage.look_inside("screen.data.paging.total")
    stage.click("#acts .plain")
    stage.wait_for(f"document.querySelectorAll('tbody tr').length === {total}")
    assert stage.calls[1:] == [("list_flights", {**asked, "page": 1, "per_page": 100})]
