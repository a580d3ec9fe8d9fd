"""Where the keyboard is after each action: on what was pressed, on what it showed, or on the heading; never nowhere."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from shared import clock
from tests.browser.screens.samples import SAMPLES, Sample
from tests.browser.screens.stage import Stage

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

SAMPLE = {sample.name: sample for sample in SAMPLES}
Change = Callable[[dict[str, Any]], None]


def repeat(field: str, count: int) -> Change:
    def change(result: dict[str, Any]) -> None:
        if rows := result["structuredContent"].get(field):
            result["structuredContent"][field] = (rows * count)[:count]

    return change


def open_sample(stage: Stage, name: str, change: Change = lambda _result: None) -> Sample:
    sample = SAMPLE[name]
    sample.prepare(stage)
    stage.change = change
    stage.open(sample.tool, sample.arguments)
    return sample


@pytest.mark.parametrize(
    ("name", "field", "count", "short"),
    [
        ("transfer-paths", "paths", 11, 6),
        ("transfer-options", "options", 11, 6),
        ("deadlines", "deadlines", 13, 8),
        ("hotel-prices", "snapshots", 12, 8),
        ("watch", "matches", 12, 8),
    ],
)
def test_what_is_shown_in_full_goes_on_at_its_first_new_row(
    stage: Stage, name: str, field: str, count: int, short: int
) -> None:
    open_sample(stage, name, repeat(field, count))
    stage.focus(".more")
    assert str(count) in stage.text(".more")
    rows = "[...document.querySelectorAll('.grows > li')]"
    assert stage.look_inside(f"{rows}.length") == short
    stage.tab.press_keys("Enter")
    stage.wait_for(f"{rows}.length === {count}")
    assert stage.look_inside(f"{rows}.indexOf(document.activeElement)") == short
    assert stage.look_inside("document.querySelector('.more')") is None


def age_stock(result: dict[str, Any]) -> None:
    fresh = result["structuredContent"].get("freshness")
    if fresh:
        fresh["provider_checked_at"] = (clock.now() - timedelta(days=3)).isoformat()


def test_looking_again_keeps_the_place_while_it_lasts_and_ends_at_the_heading(stage: Stage) -> None:
    sample = open_sample(stage, "trip-plan", age_stock)
    stage.focus("#note button")
    stage.tab.evaluate("host.slow = true")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('#note button').innerText === 'Looking …'")
    assert stage.focused() == "Looking …"
    stage.tab.press_keys("Enter")  # once is enough
    stage.change = lambda _result: None
    stage.tab.evaluate("host.release()")
    stage.wait_for("document.querySelector('#note').hidden")
    assert stage.look_inside("document.activeElement.id") == "title"
    assert stage.calls == [(sample.tool, sample.arguments)] * 2


@pytest.mark.parametrize(
    ("name", "selector", "label"),
    [
        ("trip-plan", "#acts button", "Asked in the chat"),
        ("transfer-paths", "#acts button", "Asked in the chat"),
        ("portfolio", "#acts button", "Asked in the chat"),
        ("watch", "#acts button", "Asked in the chat"),
        ("hotel-prices", "#acts button", "Checked"),
    ],
)
def test_a_button_that_acts_keeps_the_keyboard_and_acts_once(
    stage: Stage, name: str, selector: str, label: str
) -> None:
    open_sample(stage, name)
    stage.focus(selector)
    stage.tab.press_keys(" ")
    stage.wait_for(f"document.querySelector('{selector}').innerText === '{label}'")
    assert stage.focused() == label
    posts, calls = len(stage.tab.evaluate("host.posted")), len(stage.calls)
    stage.tab.press_keys("Enter", " ")
    assert stage.focused() == label
    assert (len(stage.tab.evaluate("host.posted")), len(stage.calls)) == (posts, calls)


def test_a_button_that_was_refused_may_be_pressed_again(stage: Stage) -> None:
    open_sample(stage, "trip-plan")
    stage.tab.evaluate("host.declines = true")
    stage.focus("#acts button")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('.outcome')")
    assert stage.text(".outcome") == "The message was not sent."
    assert stage.focused() == "Confirm the seats"
    stage.tab.evaluate("host.declines = false")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('#acts button').innerText === 'Asked in the chat'")
    assert stage.look_inside("document.querySelector('.outcome')") is None


@pytest.mark.parametrize(("name", "group"), [("trip-plan", "choice"), ("hotel-prices", "units")])
def test_a_switch_keeps_the_keyboard(stage: Stage, name: str, group: str) -> None:
    open_sample(stage, name)
    checked = f"document.querySelector('#{group} input:checked').value"
    before = stage.look_inside(checked)
    stage.focus(f"#{group} input:checked")
    stage.tab.press_keys("ArrowRight")
    stage.wait_for(f"{checked} !== '{before}'")
    assert stage.look_inside("document.activeElement.value") == stage.look_inside(checked)


def test_a_day_that_is_looked_at_keeps_the_keyboard_in_its_panel(stage: Stage) -> None:
    def change(result: dict[str, Any]) -> None:
        for day in result["structuredContent"].get("days", [])[:1]:
            day.update(state="unknown", cabins={}, note=None)

    open_sample(stage, "month-of-seats", change)
    stage.focus(".day[data-state=unknown]")
    stage.tab.press_keys("Enter")
    stage.focus(".acts .plain")
    stage.tab.press_keys("Enter")
    stage.wait_for("document.querySelector('.offers, #panel > p') && !document.querySelector('#panel[aria-busy=true]')")
    assert stage.look_inside("document.querySelector('#panel').contains(document.activeElement)")


@pytest.mark.parametrize("name", ["transfer-paths", "hotel-prices"])
def test_a_window_that_changes_its_width_leaves_the_keyboard_where_it_is(stage: Stage, name: str) -> None:
    open_sample(stage, name, repeat("paths", 11))
    stage.focus(".more")
    before = stage.focused()
    drawn = "document.querySelector('figure > svg').viewBox.baseVal.width"
    width = stage.look_inside(drawn)
    stage.tab.look(500, 900)
    stage.wait_for(f"{drawn} < {width}")
    assert stage.focused() == before
