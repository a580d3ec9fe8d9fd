"""Every screen in every state: four widths, light and dark, the host's text as it is and twice as large."""

import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared import clock
from tests.browser.axe import read_axe, write_question
from tests.browser.screens.conftest import call_tool
from tests.browser.screens.samples import MONTH, SAMPLES, Sample
from tests.browser.screens.stage import Stage
from tests.support.people import People

pytestmark = [pytest.mark.screens, pytest.mark.axe, pytest.mark.slow]  # starts a browser

AUDIT = (Path(__file__).parents[1] / "audit.js").read_text(encoding="utf-8")
# Width, shade, and how large the host's text is. States that show one sentence are looked at in the corners.
EVERYWHERE = tuple((w, shade, size) for size in (1, 2) for w in (320, 390, 720, 1280) for shade in ("light", "dark"))
CORNERS = ((320, "light", 1), (320, "dark", 2), (720, "dark", 1), (1280, "light", 2))
# axe judges the narrowest window, in both shades and at the larger text; its other rules hardly depend on the width.
AXE = ((320, 1), (320, 2))
TURNED, MARKUP = "\u202eseol eht nrut", "<script>document.title='run'</script><b onclick=alert(1)>"
LONG = "Grandhotel Donaudampfschifffahrtsgesellschaftskapitänspatent " + "x" * 5_000
Change = Callable[[dict[str, Any]], None]
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


def dress(stage: Stage, *, width: int, shade: str, size: int) -> None:
    """The open screen at this width, in this shade, with the host's text so many times as large."""
    stage.tab.look(width, 900)
    stage.tab.evaluate(f"host.theme('{shade}'); host.fonts({size})")
    stage.wait_for(f"document.documentElement.dataset.theme === '{shade}' && zoom() === {size}")
    stage.fit()


def list_violations(stage: Stage, *, colour_alone: bool) -> list[str]:
    if not stage.look_inside("'axe' in window"):
        stage.look_inside(read_axe() + "; 1")
    violations: list[str] = json.loads(stage.look_inside(write_question(colour_alone=colour_alone)))
    return violations


def look_around(stage: Stage, name: str, places: Iterable[tuple[int, str, int]] = CORNERS) -> list[str]:
    """What is wrong anywhere. A screen has scripts, and a switch of radios draws no edge, unlike a page."""
    faults = []
    for width, shade, size in places:
        dress(stage, width=width, shade=shade, size=size)
        found = json.loads(stage.look_inside(AUDIT))
        found = [fault for fault in found if not fault.startswith(("edge contrast", "a script"))]
        if (width, size) in AXE:
            found += list_violations(stage, colour_alone=shade == "dark")
        faults += [f"{name} at {width} px, {shade}, text x{size}: {fault}" for fault in found]
        stage.picture(f"{name}-{width}-{shade}-{size}")
    return faults


@each_sample
def test_a_result(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments)
    assert "Sandbox: invented data" in stage.text("#foot")
    assert look_around(stage, sample.name, EVERYWHERE) == []
    if sample.opens:
        dress(stage, width=720, shade="light", size=1)
        stage.click(sample.opens)
        stage.wait_for(sample.opened)
        assert look_around(stage, f"{sample.name}-open", EVERYWHERE) == []


@each_sample
def test_waiting_and_cancelled(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments, hold="result")
    assert look_around(stage, f"{sample.name}-waiting") == []
    stage.tab.evaluate("host.cancel('stopped by hand')")
    stage.wait_phase("cancelled")
    assert stage.text("#note p") == "Stopped before there was an answer. (stopped by hand)"
    assert look_around(stage, f"{sample.name}-cancelled") == []


@each_sample
def test_an_error(stage: Stage, sample: Sample) -> None:
    stage.open(sample.tool, {**sample.arguments, "no_such_argument": 1}, phase="error")
    assert "no_such_argument" in stage.text("#note")
    assert look_around(stage, f"{sample.name}-error") == []


@each_sample
def test_a_refusal_for_the_plan(stage: Stage, sample: Sample, people: People) -> None:
    refusal = call_tool(people.bob, "search_monthly_availability", MONTH)
    assert refusal["structuredContent"]["status"] == "paywall"
    stage.change = lambda result: result.update(refusal)
    stage.open(sample.tool, sample.arguments, phase="empty")
    assert "needs the Premium plan" in stage.text("#note")
    assert look_around(stage, f"{sample.name}-refused") == []
    dress(stage, width=390, shade="light", size=1)
    stage.click("#note button")
    stage.tab.wait_for("host.links.length")
    assert stage.tab.evaluate("host.links") == [refusal["structuredContent"]["upgrade_url"]]


@each_sample
def test_an_old_result_with_a_source_that_failed(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.change = lambda result: make_old(result["structuredContent"])
    stage.open(sample.tool, sample.arguments)
    assert stage.text("#note").startswith("Last seen 3 days ago.") or not sample.ages
    assert look_around(stage, f"{sample.name}-old") == []


def make_old(data: dict[str, Any]) -> None:
    then = (clock.now() - timedelta(days=3)).isoformat()
    if fresh := data.get("freshness"):
        fresh["provider_checked_at"] = then
    if "as_of" in data:
        data["as_of"] = then
    if "monitor" in data:
        data["monitor"]["last_checked_at"] = then
    for snapshot in data.get("snapshots", ()):
        snapshot["captured_at"] = then


# What each screen has nothing to draw from; a watch always has something to say.
EMPTY: dict[str, Change] = {
    "search_monthly_availability": lambda data: [day.update(state="none", cabins={}) for day in data["days"]] and None,
    "plan_trip": lambda data: data.update(
        best=None, fallback=None, nearby=None, nearest=None, no_plan_reasons=["No seats were found on these days."]
    ),
    "find_transfer_paths": lambda data: data.update(paths=[]),
    "compare_transfer_options": lambda data: data.update(options=[]),
    "get_hotel_price_history": lambda data: data.update(snapshots=[]),
    "search_availability": lambda data: data.update(options=[]),
    "search_all_airlines": lambda data: data.update(options=[]),
}


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if s.tool != "get_route_monitor"], ids=lambda sample: sample.name
)
def test_nothing_there(stage: Stage, sample: Sample) -> None:
    change = EMPTY.get(sample.tool)
    if change:
        sample.prepare(stage)
        stage.change = lambda result: change(result["structuredContent"])
    stage.open(sample.tool, sample.arguments, phase="empty")
    assert stage.text("#note p")
    assert look_around(stage, f"{sample.name}-empty") == []


def spoil(value: Any, ending: str) -> Any:
    """Every text of a result with this at its end, except what chooses a path: keys, states, days and moments."""
    if isinstance(value, dict):
        fixed = ("state", "status", "data_mode")
        return {key: text if key in fixed else spoil(text, ending) for key, text in value.items()}
    if isinstance(value, list):
        return [spoil(piece, ending) for piece in value]
    return value + ending if isinstance(value, str) and not value[:4].isdigit() else value


@each_sample
@pytest.mark.parametrize("ending", [MARKUP, TURNED, LONG], ids=["markup", "turned", "long"])
def test_hostile_text_is_only_text(stage: Stage, sample: Sample, ending: str) -> None:
    sample.prepare(stage)
    stage.change = lambda result: result.update(structuredContent=spoil(result["structuredContent"], ending))
    stage.open(sample.tool, sample.arguments)
    scripts = stage.look_inside("document.scripts.length")
    assert scripts == 2
    assert stage.look_inside("document.querySelectorAll('[onclick], b[onclick], img').length") == 0
    text = stage.text("body") + stage.look_inside(
        "[...document.querySelectorAll('*')].map((e) => e.ariaLabel ?? '').join()"
    )
    assert {MARKUP: "<script>", TURNED: "seol eht nrut", LONG: "Donaudampf"}[ending] in text
    assert "\u202e" not in text
    assert len(max(text.split("\n"), key=len)) < 6_000
    for width in (320, 1280):
        dress(stage, width=width, shade="light", size=1)
        faults = json.loads(stage.look_inside(AUDIT))
        assert [fault for fault in faults if fault.startswith(("wider", "sticks out"))] == []
