"""A real browser without a driver package: Chromium's own protocol over two pipes."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --no-proxy-server --remote-debugging-pipe"
)
PATIENCE = 90.0  # as tests/support/service.py: long enough for a busy machine


def find(*, whole: bool = False) -> str:
    """The browser that tests/support/requirements.py found.

    Where the machine has its headless shell, that one, unless the `whole` browser is asked for: the shell draws no
    window around a page and keeps no workers without one, and takes half of the processor time.
    """
    shell = None if whole else shutil.which("chromium-headless-shell")
    return shell or os.environ.get("AWARD_CHROMIUM") or "chromium"


class Chromium:
    """One browser process with its own profile, for as many tabs as one likes; close() ends it."""

    def __init__(self, profile: Path, *, whole: bool = False) -> None:
        there, self._out = _pipe()
        self._in, back = _pipe(ours_reads=True)
        program = [find(whole=whole), *_FLAGS.split(), f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(there), str(back), *program],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._sent, self._buffer = 0, b""

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(90)
        os.close(self._out)
        os.close(self._in)

    def send(self, message: dict[str, Any]) -> int:
        """Sends a command; returns the id of its answer."""
        self._sent += 1
        os.write(self._out, json.dumps(message | {"id": self._sent}).encode() + b"\0")
        return self._sent

    def read(self, until: float) -> dict[str, Any]:
        """Returns the next message, an answer or an event; fails when none comes in time."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            self._buffer += os.read(self._in, 1 << 16)
        first, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found


class PageChanging(Exception):
    """The page gave way to another while it was asked."""


class Tab:
    """A page. A private one has its own context, which shares no cookie, storage or permission with another."""

    def __init__(self, browser: Chromium, *, private: bool = True) -> None:
        self._browser = browser
        self._session, self._document = "", ""
        self._context = self._ask("Target.createBrowserContext") if private else {}
        target = self._ask("Target.createTarget", url="about:blank", **self._context)["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")
        self._ask("Network.enable")  # the browser tells which answer is the page, and keeps its source

    def close(self) -> None:
        """Ends a private page with all that its context holds."""
        self._session = ""
        self._ask("Target.disposeBrowserContext", **self._context)

    def _note(self, event: dict[str, Any]) -> None:
        if event["method"] == "Network.responseReceived" and event["params"]["type"] == "Document":
            self._document = event["params"]["requestId"]

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        session = {"sessionId": self._session} if self._session else {}
        sent = self._browser.send({"method": method, "params": parameters} | session)
        until = time.monotonic() + PATIENCE
        while (answer := self._browser.read(until)).get("id") != sent:
            if "method" in answer and answer.get("sessionId", "") == self._session:
                self._note(answer)
        error = answer.get("error", {})
        if error.get("message") == "Inspected target navigated or closed":
            raise PageChanging
        assert not error, error
        result: dict[str, Any] = answer["result"]
        return result

    def go(self, url: str) -> None:
        self._ask("Page.navigate", url=url)

    def run(self, expression: str) -> Any:
        """The value of a script expression on the page; None while the page is changing."""
        try:
            answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        except PageChanging:
            return None
        return answer["result"].get("value")

    def run_promise(self, expression: str) -> Any:
        """What the promise of a script expression gives."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def comes(self, expression: str, seconds: float = PATIENCE) -> bool:
        """Whether the page is loaded and the expression holds before so many seconds are over."""
        until = time.monotonic() + seconds
        while not (there := self.run(f"document.readyState === 'complete' && Boolean({expression})")):
            if time.monotonic() >= until:
                break
            select.select([], [], [], 0.02)
        return bool(there)

    def wait(self, expression: str) -> None:
        """Until the page is loaded and the expression holds."""
        assert self.comes(expression), f"in vain: {expression} at {self.run('location.href')}: {self.text()[:300]}"

    def look(self, width: int, height: int = 800, *, dark: bool = False) -> None:
        """A window of this size, on a system that prefers light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media="", features=[scheme])

    def print_on_paper(self) -> None:
        """The page as a printer gets it, in the window as it is; `look` goes back to the screen."""
        self._ask("Emulation.setEmulatedMedia", media="print")

    def picture(self, file: Path) -> None:
        """The whole page, as it is painted."""
        shot = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def source(self) -> str:
        """The HTML of the open page as the server sent it; empty for a page that no server sent."""
        if not str(self.run("location.protocol")).startswith("http"):
            return ""
        return str(self._ask("Network.getResponseBody", requestId=self._document)["body"])

    def upload(self, selector: str, file: Path) -> None:
        found = self._ask("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
        self._ask("DOM.setFileInputFiles", files=[str(file)], objectId=found["result"]["objectId"])

    def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode={"Tab": 9}[name])

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def fill(self, name: str, value: str) -> None:
        self.run(f"document.getElementsByName({json.dumps(name)})[0].value = {json.dumps(value)}")

    def press(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).click()")


def _pipe(*, ours_reads: bool = False) -> tuple[int, int]:
    """(theirs, ours) to write into, or (ours, theirs) to read from; above the numbers the browser expects."""
    pair = os.pipe()
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 50) for end in pair]
    for end in pair:
        os.close(end)
    os.set_inheritable(ends[1] if ours_reads else ends[0], True)
    return ends[0], ends[1]
