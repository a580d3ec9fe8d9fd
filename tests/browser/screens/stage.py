"""A browser before a host of screens: opening the screen of a tool, looking into it, clicking, and judging it all."""

import json
import os
import select
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.browser import PATIENCE, Chromium, Tab
from tests.support.settings_and_clock import DAY, NOON

KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "End": (35, ""), "Home": (36, ""), " ": (32, " "), "Tab": (9, "")}
KEYS |= {"ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}
# The days in Chromium are those of the standing clock, in every frame; its seconds run.
CLOCK = """(ahead => {{
  const Machine = Date
  Date = class extends Machine {{
    constructor(...told) {{ told.length ? super(...told) : super(Machine.now() + ahead) }}
    static now() {{ return Machine.now() + ahead }}
  }}
}})({ahead})"""
IS_SCREEN = "typeof startScreen === 'function'"


class ScreenTab(Tab):
    """A tab that also notes what was loaded and what the console said, and looks into frames."""

    def __init__(self, browser: Chromium) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.contexts: list[int] = []
        super().__init__(browser)
        for part in ("Runtime", "Network", "Log"):
            self._ask(f"{part}.enable")
        ahead = round((datetime.combine(DAY, NOON, UTC) - datetime.now(UTC)).total_seconds() * 1000)
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=CLOCK.format(ahead=ahead))

    def _note(self, event: dict[str, Any]) -> None:
        super()._note(event)
        name, about = event["method"], event["params"]
        if name == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(about["exceptionDetails"])[:400])
        elif name == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(about["args"])[:400])
        elif name == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"][:400])
        elif name == "Runtime.executionContextCreated":
            self.contexts.append(about["context"]["id"])
        elif name == "Runtime.executionContextDestroyed":
            self.contexts = [number for number in self.contexts if number != about["executionContextId"]]
        elif name == "Runtime.executionContextsCleared":
            self.contexts = []

    def evaluate(self, script: str, *, inside: bool = False) -> Any:
        """The awaited value of a script on the host's page, or inside the screen."""
        where = {"contextId": self._find_screen()} if inside else {}
        answer = self._ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, **where)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _find_screen(self) -> int:
        self._ask("Runtime.evaluate", expression="1")  # lets waiting events in
        for number in reversed(self.contexts):
            found = self._ask("Runtime.evaluate", expression=IS_SCREEN, contextId=number, returnByValue=True)
            if found["result"].get("value"):
                return number
        raise AssertionError("no frame holds a screen")

    def wait_for(self, script: str, *, inside: bool = False) -> None:
        until = time.monotonic() + PATIENCE
        while not self.evaluate(f"Boolean({script})", inside=inside):
            assert time.monotonic() < until, f"in vain: {script}"
            select.select([], [], [], 0.01)  # to ask without a pause keeps a core busy, and the answer waits for it

    def list_spoken(self) -> list[tuple[str, str]]:
        """Role and name of each element of the screen, as Chromium gives them to a screen reader."""
        frame = self._ask("Page.getFrameTree")["frameTree"]
        while children := frame.get("childFrames"):
            frame = children[0]
        nodes = self._ask("Accessibility.getFullAXTree", frameId=frame["frame"]["id"])["nodes"]
        spoken = [node for node in nodes if not node["ignored"]]
        return [(str(node["role"]["value"]), str(node.get("name", {}).get("value", ""))) for node in spoken]

    def click_at(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press_keys(self, *names: str, shift: bool = False) -> None:
        for name in names:
            code, text = KEYS[name]
            key = {"key": name, "code": "Space" if name == " " else name, "windowsVirtualKeyCode": code}
            key["modifiers"] = 8 if shift else 0
            self._ask("Input.dispatchKeyEvent", type="keyDown", **key, **({"text": text} if text else {}))
            self._ask("Input.dispatchKeyEvent", type="keyUp", **key)


class Stage:
    """`calls` are the tool calls that reached the server; `change` may alter an answer on its way to the screen.

    `use` calls a tool next to the screen, as the person whose screen it is, and returns its structured content.
    """

    def __init__(self, tab: ScreenTab, host: str, sandbox: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
        self.tab, self.host, self.sandbox, self.calls = tab, host, sandbox, calls
        self.change: Callable[[dict[str, Any]], None] = lambda _result: None
        self.use: Callable[..., dict[str, Any]] = lambda _name, **_arguments: {}

    def open(self, name: str, arguments: dict[str, Any], *, width: int = 720, phase: str = "", **options: Any) -> None:
        """The screen of this tool, until it is in `phase` (unless the result is held back, "result")."""
        self.tab.look(width, 900)
        self.tab.go(self.host)
        self.tab.wait("window.host === undefined && typeof host === 'object'")
        self.tab.requests.clear()
        self.tab.complaints.clear()
        self.calls.clear()
        self.tab.evaluate(f"host.open({json.dumps(name)}, {json.dumps(arguments)}, {json.dumps(options)})")
        self.wait_phase(phase or ("waiting" if options.get("hold") else "result"))
        self.fit()  # in a frame that is still narrow, what is read as text is a table stacked into lines

    def wait_phase(self, phase: str) -> None:
        self.wait_for(f"document.body.dataset.phase === {json.dumps(phase)}")

    def look_inside(self, script: str) -> Any:
        return self.tab.evaluate(script, inside=True)

    def wait_for(self, script: str) -> None:
        self.tab.wait_for(script, inside=True)

    def text(self, selector: str) -> str:
        return str(self.look_inside(f"document.querySelector({json.dumps(selector)}).innerText"))

    def fit(self) -> None:
        """Until the frame is as high as what it holds, so that nothing scrolls within it."""
        self.wait_for("Math.abs(innerHeight - document.body.getBoundingClientRect().height) <= 1")

    def click(self, selector: str) -> None:
        """A real click in the middle of the first element that matches."""
        self.fit()
        chosen = f"document.querySelector({json.dumps(selector)})"
        self.look_inside(f"{chosen}.scrollIntoView({{block: 'center'}})")
        self.tab.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        box = (
            f"(() => {{const b = {chosen}.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]}})()"
        )
        x, y = self.look_inside(box)
        top = self.tab.evaluate("document.querySelector('iframe').getBoundingClientRect().y")
        self.tab.click_at(x, y + top)

    def focus(self, selector: str) -> None:
        """Puts the keyboard on the first element that matches, as Tab would."""
        self.tab.evaluate("document.querySelector('iframe').focus()")
        self.look_inside(f"document.querySelector({json.dumps(selector)}).focus()")

    def focused(self) -> str:
        """What the element with the keyboard says; empty when there is none."""
        nothing, says = "e === document.body ? ''", "e.innerText || e.value"
        return str(self.look_inside(f"(() => {{ const e = document.activeElement; return {nothing} : {says} }})()"))

    def methods(self, way: str) -> list[str]:
        return [m["message"].get("method", "answer") for m in self.messages() if m["way"] == way]

    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.tab.evaluate("host.settle()")
        return messages

    def list_faults(self) -> list[str]:
        """What must be empty after every case: unfit messages, complaints of the console, requests elsewhere."""
        unfit = [f"{m['way']} {m['message'].get('method')}: {m['faults']}" for m in self.messages() if m["faults"]]
        own = (self.host, self.sandbox, "about:", "data:")
        strays = [url for url in self.tab.requests if not url.startswith(own)]
        return [*unfit, *self.tab.complaints, *strays]

    def picture(self, name: str) -> None:
        """The whole page into the folder AWARD_PICTURES, where it is set."""
        if folder := os.environ.get("AWARD_PICTURES"):
            self.fit()
            self.tab.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
            self.tab.picture(Path(folder) / f"{name}.png")
