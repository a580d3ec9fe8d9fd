"""The stage of the screens: one browser and one host for a module, answered by the real gate from sandbox data."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.screens.faces import draw_faces
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from tests.browser.conftest import serve
from tests.browser.screens.host import Answer, build_host, build_sandbox
from tests.browser.screens.stage import ScreenTab, Stage
from tests.support.browser import Chromium
from tests.support.people import People, everybody


def call_tool(caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of tools/call as a host gets it."""
    limiter.cache_clear()  # a limiter belongs to one event loop
    answer = anyio.run(dispatch, name, arguments, caller, "mcp")
    content = [{"type": "text", "text": answer.text}]
    structured = json.loads(json.dumps(answer.data))  # of its own: a test may change it, and answers can be kept
    faces = {"_meta": draw_faces(answer.data)} if answer.status == "ok" else {}
    return {"content": content, "structuredContent": structured, "isError": answer.is_error, **faces}


class _Answers:
    """What the running host asks; each test puts its own function here."""

    def __init__(self) -> None:
        self.answer: Answer = lambda name, arguments: {}

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.answer(name, arguments)


@pytest.fixture(scope="module")
def opened(chromium: Chromium) -> Iterator[tuple[ScreenTab, str, str, _Answers]]:
    answers = _Answers()
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        host, sandbox = (f"http://127.0.0.1:{s.getsockname()[1]}" for s in (one, other))
        servers = [serve(build_host(answers, sandbox), one), serve(build_sandbox(), other)]
        tab = ScreenTab(chromium)
        yield tab, host, sandbox, answers
        tab.close()
        for server in servers:
            server.should_exit = True


@pytest.fixture
def people(clean: None) -> People:
    USAGE_LOG.today.clear()
    USAGE_LOG.pending.clear()
    return everybody()


@pytest.fixture
def stage(opened: tuple[ScreenTab, str, str, _Answers], people: People) -> Iterator[Stage]:
    """Calls are Alice's; what was unfit, complained or led elsewhere in a test fails it at its end."""
    tab, host, sandbox, answers = opened
    calls: list[tuple[str, dict[str, Any]]] = []
    made = Stage(tab, host, sandbox, calls)

    def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        calls.append((name, arguments))
        result = call_tool(people.alice, name, arguments)
        made.change(result)
        return result

    made.use = lambda name, **arguments: call_tool(people.alice, name, arguments)["structuredContent"]
    answers.answer = answer
    yield made
    assert made.list_faults() == []
