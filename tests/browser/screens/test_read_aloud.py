"""Every screen by keyboard and by ear: the order of its controls, their names, and what is read on a change."""

import re
from datetime import timedelta
from typing import Any

import pytest

from shared import clock
from tests.browser.screens.samples import SAMPLES, Sample
from tests.browser.screens.stage import Stage

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

SAMPLE = {sample.name: sample for sample in SAMPLES}
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
# Of a group of radios the chosen one is a stop; of a grid the day whose tabindex is 0. Sorted as they are read.
STOPS = """(() => {
  window.stops = [...document.querySelectorAll("main :is(a, button, input, select)")].filter((e) =>
    e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && (e.type !== "radio" || e.checked));
  const box = (e) => (e.closest(".switch") ?? e).getBoundingClientRect();
  const isBelow = (p, q) => q.bottom > p.bottom || Math.abs(q.bottom - p.bottom) < 24 && q.left > p.left;
  const isBefore = (a, b) => isBelow(box(a), box(b));
  return { count: stops.length, isInOrder: stops.every((e, n) => n === 0 || isBefore(stops[n - 1], e)) };
})()"""
AT = "window.stops.indexOf(document.activeElement)"
RING = """(() => {
  const e = document.activeElement, drawn = e.type === "radio" ? e.nextElementSibling : e;
  const style = getComputedStyle(drawn);
  return [style.outlineStyle, parseFloat(style.outlineWidth)];
})()"""
NAMED = {"button", "radio", "checkbox", "combobox", "grid", "image", "img", "group", "radiogroup", "region", "heading"}


def open_sample(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments)
    stage.fit()


@each_sample
@pytest.mark.parametrize("width", [320, 1280])
def test_tab_reaches_each_control_once_in_reading_order(stage: Stage, sample: Sample, width: int) -> None:
    open_sample(stage, sample)
    stage.tab.look(width, 900)
    stage.fit()
    stops = stage.look_inside(STOPS)
    assert stops["count"] > 0
    assert stops["isInOrder"]
    for place in range(stops["count"]):
        stage.tab.press_keys("Tab")
        assert stage.look_inside(AT) == place
        style, outline = stage.look_inside(RING)
        assert style == "solid"
        assert outline >= 2
    for place in reversed(range(stops["count"] - 1)):
        stage.tab.press_keys("Tab", shift=True)
        assert stage.look_inside(AT) == place


@each_sample
def test_what_a_screen_reader_meets_has_a_role_and_a_name(stage: Stage, sample: Sample) -> None:
    open_sample(stage, sample)
    if sample.opens:
        stage.click(sample.opens)
        stage.wait_for(sample.opened)
    nodes = stage.tab.list_spoken()
    assert [role for role, name in nodes if role in NAMED and not name.strip()] == []
    roles = {role for role, _ in nodes}
    assert {"main", "heading", "button"} <= roles
    visible = "[...document.querySelectorAll('button, input:is([type=radio], [type=checkbox])')]"
    controls = stage.look_inside(f"{visible}.filter((e) => e.checkVisibility()).length")
    assert sum(role in ("button", "radio", "checkbox") for role, _ in nodes) == controls
    assert not any("undefined" in name or "null" in name or "NaN" in name for _, name in nodes)


def test_a_day_is_named_by_its_date_price_and_seats(stage: Stage) -> None:
    open_sample(stage, SAMPLE["month-of-seats"])
    names = [name for role, name in stage.tab.list_spoken() if role == "button"]
    day = stage.look_inside("screen.data.days.find((day) => day.cabins.economy)")
    price = day["cabins"]["economy"]
    spoken = [
        name
        for name in names
        if f"{price['points'] * 2:,} points for two, {price['points']:,} each, {price['seats']} seat" in name
    ]
    assert spoken
    number, year = int(day["date"][8:]), day["date"][:4]
    assert re.match(rf"\w+day {number} \w+ {year}: ", spoken[0])
    radios = [name for role, name in stage.tab.list_spoken() if role == "radio"]
    assert radios == ["Economy", "Premium economy", "Business", "First"]


LISTEN = """(() => {
  window.spoken = [];
  for (const id of ["aloud", "note"]) new MutationObserver((changes) => {
    if (changes.some((change) => change.addedNodes.length)) spoken.push(id);
  }).observe(document.getElementById(id), { childList: true, subtree: true });
})()"""


@pytest.mark.parametrize(("name", "group"), [("trip-plan", "choice"), ("month-of-seats", "cabins")])
def test_a_changed_headline_is_read_once(stage: Stage, name: str, group: str) -> None:
    def make_old(result: dict[str, Any]) -> None:
        result["structuredContent"]["freshness"]["provider_checked_at"] = (clock.now() - timedelta(days=3)).isoformat()

    stage.change = make_old
    open_sample(stage, SAMPLE[name])
    stage.look_inside(LISTEN)
    stage.focus(f"#{group} input:checked")
    stage.tab.press_keys("ArrowRight")
    stage.wait_for("spoken.length")
    assert stage.look_inside("spoken") == ["aloud"]  # and the note that this is old is not read again
    lead = " ".join(stage.text("#lead").split())
    assert stage.look_inside("document.querySelector('#aloud').textContent") == lead


def test_the_same_answer_twice_is_read_twice(stage: Stage) -> None:
    open_sample(stage, SAMPLE["trip-plan"])
    stage.tab.evaluate("host.declines = true")
    stage.look_inside(LISTEN)
    stage.focus("#acts button")
    for count in (1, 2):
        stage.tab.press_keys("Enter")
        stage.wait_for(f"spoken.length === {count}")
        assert stage.look_inside("document.querySelector('#aloud').textContent.trim()") == "The message was not sent."
