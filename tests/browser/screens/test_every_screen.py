"""What holds for every screen: the handshake, the theme, looking again, the published host and the policy."""

import json
from pathlib import Path

import pytest

from mcp_server.toolkit.registry import TOOLS
from tests.browser.screens.samples import SAMPLES, Sample
from tests.browser.screens.stage import Stage

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

AUDIT = (Path(__file__).parents[1] / "audit.js").read_text(encoding="utf-8")
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


def sound(stage: Stage) -> list[str]:
    """The audit of the pages, inside the screen. Unlike a page it has scripts, and a switch draws no edge."""
    faults = json.loads(stage.look_inside(AUDIT))
    return [fault for fault in faults if not fault.startswith(("edge contrast", "a script"))]


def test_every_tool_with_a_screen_has_a_sample() -> None:
    assert {sample.tool for sample in SAMPLES} == {tool.name for tool in TOOLS.values() if tool.screen}


@each_sample
def test_the_handshake_comes_first_and_the_height_is_told(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments)
    assert stage.methods("up")[:3] == [
        "ui/notifications/sandbox-proxy-ready",
        "ui/initialize",
        "ui/notifications/initialized",
    ]
    assert stage.methods("down")[2:4] == ["ui/notifications/tool-input", "ui/notifications/tool-result"]
    stage.fit()
    heights = stage.tab.evaluate("host.heights")
    assert heights[-1] == stage.look_inside("innerHeight")
    told = [m["message"]["params"] for m in stage.messages() if "size-changed" in m["message"].get("method", "")]
    assert all(set(params) == {"height"} for params in told)


@each_sample
def test_the_theme_changes_without_a_reload(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert stage.look_inside(paper) == "rgb(255, 254, 251)"  # the host's own
    stage.tab.evaluate("host.theme('dark')")
    stage.wait_for(f"{paper} !== 'rgb(255, 254, 251)'")
    assert stage.look_inside(paper) == "rgb(28, 27, 25)"


@each_sample
def test_waiting_cancelled_and_looked_at_again(stage: Stage, sample: Sample) -> None:
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments, hold="result")
    stage.picture(f"{sample.name}-waiting")
    stage.tab.evaluate("host.cancel('stopped by hand')")
    stage.wait_phase("cancelled")
    assert "Stopped before there was an answer. (stopped by hand)" in stage.text("#note")
    stage.fit()
    assert sound(stage) == []
    stage.click("#note button")
    stage.wait_phase("result")
    assert stage.calls[-1:] == [(sample.tool, sample.arguments)]


@each_sample
def test_the_published_host_reads_all_that_the_screen_says(stage: Stage, sample: Sample) -> None:
    """The second judge: the host's half as the extension's authors publish it checks each message itself."""
    sample.prepare(stage)
    stage.tab.go(f"{stage.host}/published")
    stage.tab.wait("window.host && host.loaded")
    stage.tab.evaluate(f"host.open({json.dumps(sample.tool)}, {json.dumps(sample.arguments)})")
    stage.wait_phase("result")
    assert stage.tab.evaluate("host.app.name") == f"award-travel-{TOOLS[sample.tool].screen}"
    stage.tab.wait_for("host.heights.length > 1")
    assert stage.tab.evaluate("host.errors") == []
    assert stage.look_inside("document.documentElement.dataset.theme") == "dark"
    stage.tab.evaluate("window.host = { settle: () => [] }")  # this page keeps no messages of its own


def test_the_policy_lets_a_screen_reach_nothing(stage: Stage) -> None:
    stage.open(SAMPLES[0].tool, SAMPLES[0].arguments)
    script = f"fetch({json.dumps(stage.host)}).then(() => 'reached', () => 'refused')"
    assert stage.look_inside(script) == "refused"
    assert stage.tab.complaints
    stage.tab.complaints.clear()


def test_the_judge_refuses_what_does_not_fit(stage: Stage) -> None:
    stage.open(SAMPLES[0].tool, SAMPLES[0].arguments)
    for message in (
        {"method": "ui/notifications/size-changed", "params": {"height": "tall"}},
        {"id": 90, "method": "ui/message", "params": {"role": "user", "content": {"type": "text", "text": "x"}}},
        {"id": 91, "method": "ui/initialize", "params": {"protocolVersion": "2026-01-26"}},
        {"id": 92, "method": "ui/nothing"},
    ):
        sent = json.dumps({"message": {"jsonrpc": "2.0", **message}, "answers": None})
        assert stage.tab.evaluate(f"ask('/judge', {sent})")
