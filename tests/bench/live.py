"""python -m tests.bench.live: 200 people search live at once while others read their cards, over sources of 3 seconds.

One MCP server in a process of its own with seats.aero's adapter, whose server is a fake on loopback. Once with a
concurrency cap of 250, where no one should wait for anybody; once with the usual 4, where those beyond it are told so.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deploy.local.private_servers import free_port
from tests.bench.stage import ROOT, _account_with_token, _surroundings

SEARCHES, SLOW, CAP = 200, 3.0, 250
SEARCH_MS, CARDS_MS, BUDGET_MS = 4_000, 100, 25_000


async def _search(request: Request) -> Response:
    from tests.shared.providers.fakes.seats_aero import good

    await anyio.sleep(SLOW)
    return good(request)


def backend(port: int) -> None:
    app = Starlette(routes=[Route("/search", _search)])
    uvicorn.run(app, port=port, access_log=False, log_level="error")


def server(port: int, cap: int) -> None:
    from mcp_server.app import build
    from shared.providers import registry

    cards = {name: replace(card, concurrency=cap, calls_a_day=None) for name, card in registry.providers().items()}
    registry.providers = lambda: cards  # type: ignore[assignment]
    uvicorn.run(build(), port=port, loop="uvloop", http="httptools", ws="none", access_log=False, log_level="error")


async def _call(url: str, token: str, name: str, **arguments: Any) -> tuple[float, str, dict[str, Any]]:
    """Milliseconds, status and data of one call on its own connection."""
    params = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    parts, started = urlsplit(url), time.perf_counter()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    lines = [f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}", f"Authorization: Bearer {token}"]
    lines += ["Content-Type: application/json", "Accept: application/json", f"Content-Length: {len(body)}"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(length))
    took = (time.perf_counter() - started) * 1e3
    writer.close()
    data = answer.get("result", {}).get("structuredContent") or {"status": str(answer)[:200]}
    return took, str(data["status"]), data


async def _crowd(url: str, token: str) -> tuple[list[tuple[float, str, dict[str, Any]]], list[float]]:
    """So many searches of as many days at once; next to them one reader of cards after another."""
    from shared import clock

    done, cards = asyncio.Event(), []

    async def reader() -> None:
        while not done.is_set():
            took, status, _ = await _call(url, token, "list_my_cards")
            assert status == "ok", status
            cards.append(took)
            await asyncio.sleep(0.01)

    reading = asyncio.create_task(reader())
    await asyncio.sleep(0.3)
    cards.clear()
    days = [(clock.today() + timedelta(days=20 + n)).isoformat() for n in range(SEARCHES)]
    asked = [
        _call(url, token, "search_availability", airline="BA", origin="LHR", destination="JFK", date=d) for d in days
    ]
    answers = await asyncio.gather(*asked)
    done.set()
    await reading
    return list(answers), cards


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _ready(url: str, log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            httpx.get(url, trust_env=False)
        except httpx.TransportError:
            threading.Event().wait(0.1)
        else:
            return
    raise SystemExit(f"a program did not start:\n{log.read_text(encoding='utf-8')}")


def measure(cap: int) -> bool:
    from shared.db.base import engine
    from shared.settings import settings

    with tempfile.TemporaryDirectory(prefix="award_live_") as folder, ExitStack() as stack:
        home = Path(folder)
        home.chmod(0o755)
        ports = {"auth": free_port(), "ours": free_port(), "backend": free_port()}
        _surroundings(home, ports, stack)
        address = f"http://127.0.0.1:{ports['backend']}"
        os.environ.update(AWARD_BACKEND="live", SEATS_AERO_API_KEY="key", SEATS_AERO_BASE_URL=address)
        settings.cache_clear()
        engine.cache_clear()
        token = _account_with_token()
        log = home / "log"
        with log.open("ab") as words:
            itself = "tests.bench.live"
            for line in (
                (itself, "--backend", str(ports["backend"])),
                ("tests.bench.programs", "auth", str(ports["auth"])),
                (itself, "--server", str(ports["ours"]), str(cap)),
            ):
                made = subprocess.Popen([sys.executable, "-m", *line], cwd=ROOT, stdout=words, stderr=words)
                stack.callback(made.wait, 30)
                stack.callback(made.terminate)
        _ready(address, log)
        for name in ("auth", "ours"):
            _ready(f"http://127.0.0.1:{ports[name]}/readyz", log)
        answers, cards = asyncio.run(_crowd(f"http://127.0.0.1:{ports['ours']}/mcp", token))
    return report(cap, answers, cards)


def report(cap: int, answers: list[tuple[float, str, dict[str, Any]]], cards: list[float]) -> bool:
    times, said = [took for took, _, _ in answers], {}
    for _, status, _ in answers:
        said[status] = said.get(status, 0) + 1
    print(f"cap {cap}: {SEARCHES} searches, {said}, p50 {statistics.median(times):.0f} ms, p95 {_p95(times):.0f} ms,")
    print(f"  longest {max(times):.0f} ms; list_my_cards {len(cards)} times, p95 {_p95(cards):.0f} ms")
    if cap >= SEARCHES:
        return set(said) == {"ok"} and _p95(times) < SEARCH_MS and _p95(cards) < CARDS_MS
    refused = [data for _, status, data in answers if status in ("backend_unavailable", "partial")]
    waits = [max((b["retry_after_seconds"] or 0 for b in data["backends"]), default=0) for data in refused]
    print(f"  told to come back after {sorted(set(map(str, waits)))} seconds")
    return len(refused) + said.get("ok", 0) == SEARCHES and all(waits) and max(times) < BUDGET_MS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.live", description=__doc__)
    parser.add_argument("--cap", type=int, nargs="*", default=[CAP, 4])
    parser.add_argument("--backend", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--server", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.backend:
        backend(given.backend)
    elif given.server:
        server(*given.server)
    else:
        reached = [measure(cap) for cap in given.cap]
        print("reached" if all(reached) else "MISSED")
        raise SystemExit(0 if all(reached) else 1)


if __name__ == "__main__":
    main()
