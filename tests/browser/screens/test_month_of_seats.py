"""The month of seats in a real browser: what is drawn, what a click asks, and what keys alone can do."""

from typing import Any

import pytest

from tests.browser.screens.samples import MONTH, ROUTE
from tests.browser.screens.stage import Stage

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

TOOL = "search_monthly_availability"
FOCUSED = "document.activeElement.dataset.date"


def result_of(stage: Stage) -> dict[str, Any]:
    data: dict[str, Any] = stage.look_inside("screen.data")
    return data


def cells(stage: Stage) -> dict[str, str]:
    drawn: dict[str, str] = stage.look_inside(
        "Object.fromEntries([...document.querySelectorAll('.day')]"
        ".map((d) => [d.dataset.date, d.querySelector('b').innerText]))"
    )
    return drawn


def close(day: dict[str, Any], note: str | None = None) -> None:
    day.update(state="unknown", cabins={}, note=note)


def close_first(result: dict[str, Any], note: str | None = None) -> None:
    for day in result["structuredContent"].get("days", [])[:1]:
        close(day, note)


def test_each_day_shows_its_price_or_why_it_has_none(stage: Stage) -> None:
    def change(result: dict[str, Any]) -> None:
        days = result["structuredContent"]["days"]
        close(days[0])
        close(days[-1], "not on sale yet")

    stage.change = change
    stage.open(TOOL, MONTH)
    days = result_of(stage)["days"]
    drawn = cells(stage)
    assert list(drawn) == [day["date"] for day in days]
    signs = {"unknown": "?", "none": "–"}
    for day in days[:-1]:
        price = day["cabins"].get("economy")
        assert drawn[day["date"]] == (f"{price['points'] * 2:,}" if price else signs.get(day["state"], "–"))
    assert drawn[days[-1]["date"]] == "·"
    looks = {
        state: stage.look_inside(
            f"(() => {{const s = getComputedStyle(document.querySelector('.day[data-state={state}]'));"
            "return [s.borderStyle, s.backgroundImage].join()})()"
        )
        for state in ("available", "unknown", "closed")
    }
    assert len(set(looks.values())) == 3
    first = stage.look_inside("document.querySelector('.day .unseen').textContent")
    assert first.endswith(": not looked at")


def test_the_head_says_the_lowest_price_per_person_and_for_the_party(stage: Stage) -> None:
    stage.open(TOOL, MONTH)
    data = result_of(stage)
    lowest = min(day["cabins"]["economy"]["points"] for day in data["days"] if "economy" in day["cabins"])
    lead = stage.text("#lead")
    assert f"{lowest * 2:,}\npoints for two on" in lead
    assert f"{lowest:,} each" in lead
    assert stage.look_inside("document.querySelector('h1').textContent") == "LHR →  to JFK"


def test_a_click_asks_for_that_day_once_and_tells_the_model(stage: Stage) -> None:
    stage.open(TOOL, MONTH)
    date = stage.look_inside("document.querySelector('.day[data-state=available]').dataset.date")
    for _ in range(2):
        stage.click(".day[data-state=available]")
        stage.wait_for("document.querySelector('.offers li')")
        stage.click(".close")
    asked = {**ROUTE, "date": date, "passengers": 2}
    assert stage.calls == [(TOOL, MONTH), ("search_availability", asked)]
    assert "In the calendar the user opened" in stage.tab.evaluate("host.informed[0]")


def test_what_is_left_of_a_days_searches_is_shown(stage: Stage) -> None:
    def change(result: dict[str, Any]) -> None:
        if "options" in result["structuredContent"]:
            result["structuredContent"]["searches_left_today"] = 1

    stage.change = change
    stage.open(TOOL, MONTH)
    stage.click(".day[data-state=available]")
    stage.wait_for("document.querySelector('.offers li')")
    assert "1 search left today" in stage.text(".acts")


def test_a_day_without_seats_is_asked_for_on_demand_only(stage: Stage) -> None:
    stage.change = lambda result: close_first(result)
    stage.open(TOOL, MONTH)
    stage.click(".day[data-state=unknown]")
    stage.wait_for("!document.querySelector('#panel').hidden")
    assert "This day was not looked at. There may be seats." in stage.text("#panel")
    assert stage.calls == [(TOOL, MONTH)]
    stage.click(".acts .plain")
    stage.wait_for("!document.querySelector('#panel').innerText.includes('Looking')")
    assert [name for name, _ in stage.calls] == [TOOL, "search_availability"]


def test_a_day_not_on_sale_cannot_be_asked_for(stage: Stage) -> None:
    stage.change = lambda result: (
        [close(day, "not on sale yet") for day in result["structuredContent"].get("days", [])[:1]] and None
    )
    stage.open(TOOL, MONTH)
    stage.click(".day[data-state=closed]")
    stage.wait_for("document.querySelector('#panel').innerText.includes('This day is not on sale yet.')")
    assert stage.look_inside("document.querySelectorAll('.acts .plain').length") == 0


def test_watching_a_day_makes_a_monitor(stage: Stage) -> None:
    stage.open(TOOL, MONTH)
    stage.click(".day[data-state=available]")
    stage.wait_for("document.querySelector('.offers li')")
    stage.click(".acts .primary")
    stage.wait_for("document.querySelector('.acts .primary').innerText === 'Watched'")
    name, terms = stage.calls[-1]
    assert name == "create_route_monitor"
    assert (terms["origin"], terms["airlines"], terms["passengers"]) == ("LHR", ["BA"], 2)
    assert terms["earliest_date"] == terms["latest_date"]
    assert stage.look_inside("document.querySelector('.outcome').innerText")


def test_a_host_that_declines_is_survived(stage: Stage) -> None:
    stage.open(TOOL, MONTH)
    stage.tab.evaluate("host.declines = true")
    stage.click(".day[data-state=available]")
    stage.wait_for("document.querySelector('#panel').innerText.includes('The user declined.')")
    stage.click(".acts .primary")
    stage.wait_for("document.querySelector('.outcome')")
    assert stage.text(".outcome") == "The user declined."


def test_a_host_without_tools_shows_what_the_month_knows(stage: Stage) -> None:
    stage.open(TOOL, MONTH, bare=True)
    stage.click(".day[data-state=available]")
    stage.wait_for("document.querySelector('#panel').innerText.includes(' each')")
    assert stage.calls == [(TOOL, MONTH)]
    assert stage.look_inside("document.querySelectorAll('.acts button').length") == 0


def test_keys_alone_are_enough(stage: Stage) -> None:
    stage.open(TOOL, MONTH, bare=True)
    dates = list(cells(stage))
    stage.tab.evaluate("document.querySelector('iframe').focus()")
    stage.look_inside("document.querySelector('.day[tabindex=\"0\"]').focus()")
    stage.tab.press_keys("Home")
    assert stage.look_inside(FOCUSED) == dates[0]
    stage.tab.press_keys("ArrowRight", "ArrowDown")
    assert stage.look_inside(FOCUSED) == dates[8]
    stage.tab.press_keys("ArrowLeft", "ArrowUp")
    assert stage.look_inside(FOCUSED) == dates[0]
    assert stage.look_inside("document.querySelectorAll('.day[tabindex=\"0\"]').length") == 1
    stage.tab.press_keys("End", "Enter")
    stage.wait_for("!document.querySelector('#panel').hidden")
    stage.tab.press_keys("Escape")
    stage.wait_for("document.querySelector('#panel').hidden")
    assert stage.look_inside(FOCUSED) == dates[-1]
    stage.look_inside("document.querySelector('#cabins input:checked').focus()")
    stage.tab.press_keys("ArrowRight", "ArrowRight")
    assert stage.look_inside("document.querySelector('#cabins input:checked').value") == "business"


def test_cabins_that_were_not_asked_for_are_no_choice(stage: Stage) -> None:
    stage.open(TOOL, {**MONTH, "cabin": "business"})
    shut = stage.look_inside("[...document.querySelectorAll('#cabins input')].filter((i) => i.disabled).length")
    assert shut == 3
    assert stage.look_inside("document.querySelector('#cabins input:checked').value") == "business"


def test_an_empty_month_says_what_was_not_looked_at(stage: Stage) -> None:
    def change(result: dict[str, Any]) -> None:
        for day in result["structuredContent"]["days"]:
            day.update(state="none", cabins={})
        close(result["structuredContent"]["days"][3])

    stage.change = change
    stage.open(TOOL, MONTH, phase="empty")
    assert "1 day was not looked at" in stage.text("#note")
    stage.picture("month-of-seats-empty")
