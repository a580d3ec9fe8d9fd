"""Clients that other people wrote, in their newest versions, against the running service on this machine.

Each signs in by itself where it can, lists the tools, runs five calls, continues after a restart of the server, and
refreshes a token that is no longer good. No model is called. The table goes to `build/clients/table.md`.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.clients import environments
from tests.clients.scripts.steps import CALLS, LOCAL
from tests.support.oauth_browser import post, tokens, visit
from tests.support.service import PASSWORD, Service, wait_for

pytestmark = [pytest.mark.clients, pytest.mark.slow]  # installs the clients, and runs each with a sign-in and a restart
SCRIPTS = Path(__file__).parent / "scripts"
TOOLS, SECONDS = 142, 240
PYTHON = {  # by name: the environment, the script and what it is told besides the address
    "Python SDK 1": ("one", "python_sdk.py", ()),
    "Python SDK 2": ("two", "python_sdk.py", ()),
    "FastMCP": ("two", "fastmcp_client.py", ()),
    "LangChain": ("one", "frameworks.py", ("langchain",)),
    "AutoGen": ("one", "frameworks.py", ("autogen",)),
    "Semantic Kernel": ("one", "frameworks.py", ("semantic_kernel",)),
    "OpenAI Agents": ("one", "frameworks.py", ("openai_agents",)),
    "Pydantic AI": ("one", "frameworks.py", ("pydantic_ai",)),
}
NODE = {
    "TypeScript SDK 1": "typescript.mjs",
    "TypeScript client 2": "typescript.mjs",
    "AI SDK": "ai_sdk.mjs",
    "mcp-remote": "mcp_remote.mjs",
    "Inspector": "inspector.mjs",
}


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return str(tokens(service.mcp_url, service.person("bearing", "premium"), PASSWORD)["access_token"])


@pytest.fixture(scope="module")
def table() -> Iterator[dict[str, dict[str, Any]]]:
    """What each client did, written when all are through."""
    rows: dict[str, dict[str, Any]] = {}
    yield rows
    lines = ["| Client | Version | Sign-in | Tools | Calls | Progress | After a restart | Refresh |", "|---" * 8 + "|"]
    for name, row in sorted(rows.items()):
        good = sum(row["calls"][step] in (wanted, LOCAL) for step, (_, _, wanted) in CALLS.items())
        cells = (
            *(name, row["version"], row["sign_in"], row["tools"], f"{good} of {len(CALLS)}", row.get("progress", "-")),
            *("yes" if row["restarted"] == "ok" else "no", "yes" if row.get("refreshed") else "-"),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    environments.BUILD.mkdir(parents=True, exist_ok=True)
    (environments.BUILD / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _restart(service: Service) -> None:
    """Ends the tool server; the program that started it starts another one on the same port."""
    name = next(name for name in service.pids if "mcp" in name)
    before = service.pids[name]
    os.kill(before, signal.SIGKILL)
    wait_for("another tool server", lambda: service.pids[name] != before, SECONDS)

    def answers() -> bool:
        try:
            return post(service.mcp_url, json={}).status_code == 401
        except httpx.HTTPError:
            return False

    wait_for("the tool server", answers, SECONDS)


def _run(service: Service, line: Sequence[str], folder: Path) -> dict[str, Any]:
    """The result a script tells, whose questions are answered as a person and an operator would."""
    person, said = service.person("client", "premium"), folder / "said.txt"
    with (
        said.open("w+", encoding="utf-8") as words,
        subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True, cwd=folder
        ) as program,
    ):
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            for asked in program.stdout:
                kind, _, rest = asked.strip().partition(" ")
                if kind == "result":
                    told: dict[str, Any] = json.loads(rest)
                    program.wait(SECONDS)
                    return told
                if kind == "visit":
                    program.stdin.write(f"{visit(rest, person, PASSWORD)}\n")
                elif kind == "restart":
                    _restart(service)
                    program.stdin.write("done\n")
                program.stdin.flush()
        finally:
            program.kill()
    raise AssertionError(said.read_text(encoding="utf-8")[-6000:])


def _check(told: dict[str, Any]) -> None:
    assert told["tools"] == TOOLS
    assert {step: LOCAL if told["calls"][step] == LOCAL else wanted for step, (_, _, wanted) in CALLS.items()} == told[
        "calls"
    ]
    assert [step for step, status in told["calls"].items() if status == LOCAL] in ([], ["invalid"])
    assert told["restarted"] == "ok"
    assert told.get("refreshed", True)
    assert told.get("strict", TOOLS) == TOOLS
    assert told.get("warnings", 0) == 0


@pytest.mark.parametrize("name", PYTHON)
def test_a_python_client(
    service: Service, token: str, table: dict[str, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    environment, script, named = PYTHON[name]
    python = environments.prepare_python(environment)
    more = (token,) if named else ()
    table[name] = _run(service, [str(python), str(SCRIPTS / script), *named, service.mcp_url, *more], tmp_path)
    _check(table[name])


@pytest.mark.parametrize("name", NODE)
def test_a_client_in_javascript(
    service: Service, token: str, table: dict[str, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    packages = environments.prepare_node()
    folder = packages.parent  # packages are looked for from where a script stands
    for script in SCRIPTS.glob("*.mjs"):
        (folder / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    more = {
        "TypeScript SDK 1": ("sdk",),
        "TypeScript client 2": ("client",),
        "mcp-remote": (port, str(tmp_path)),
        "Inspector": (token,),
    }
    line = [str(packages / ".bin" / "node"), str(folder / NODE[name]), service.mcp_url, *more.get(name, ())]
    table[name] = _run(service, line, folder)
    _check(table[name])


def test_every_converter_takes_every_tool(service: Service, token: str, tmp_path: Path) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = post(service.mcp_url, json=body, headers={"Authorization": f"Bearer {token}"}).json()["result"]["tools"]
    (tmp_path / "tools.json").write_text(json.dumps(listed), encoding="utf-8")
    line = [str(environments.prepare_python("one")), str(SCRIPTS / "converters.py"), str(tmp_path / "tools.json")]
    told = _run(service, line, tmp_path)
    assert told["tools"] == TOOLS
    assert len(told["faults"]) >= 7
    assert {name: faults for name, faults in told["faults"].items() if faults} == {}
