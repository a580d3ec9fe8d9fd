"""What the tool server costs before it answers anybody: its start and its memory."""

import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from deploy.local.private_servers import free_port
from shared.processes.worker_processes import die_with_parent
from tests.bench.goals import MEMORY, OWN_MEMORY, START, START_CPU, WHOLE_MEMORY
from tests.bench.load import fire
from tests.bench.scenarios import Scenario
from tests.bench.stage import ROOT, TICK, pin_load

WARMING = ("get_award_release_window", "get_portfolio", "add_card", "tools/list")
KINDS = ("start", "memory")
STARTS, WARM_SECONDS, READY_SECONDS = 3, 3.0, 240


def family(pid: int) -> set[int]:
    """A process and all under it."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    found, pairs = {pid}, [tuple(map(int, line.split())) for line in table.splitlines()]
    while more := {child for child, parent in pairs if parent in found} - found:
        found |= more
    return found


def cpu_seconds(pid: int) -> float:
    """Processor time of a family, and of those in it that ended."""
    total = 0
    for one in family(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICK


def memory_mb(pid: int, *kinds: str) -> float:
    """The proportional share: what two processes have in common counts half for each. Or the kinds named."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    found = re.findall(rf"^(?:{'|'.join(kinds or ('Pss',))}): +(\d+) kB", told, re.M)
    return sum(map(int, found)) / 1024


def unshared_mb(pid: int) -> float:
    """What would be free if this process alone ended."""
    return memory_mb(pid, "Private_Clean", "Private_Dirty")


@contextmanager
def tool_server(workers: int) -> Iterator[tuple[int, str]]:
    """As the service starts it, answering: its process and its address."""
    port = free_port()
    line = [sys.executable, "-m", "mcp_server", "--workers", str(workers), "--port", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(line, cwd=ROOT, stdout=quiet, stderr=quiet, preexec_fn=die_with_parent)
    try:
        _await_ready(f"http://127.0.0.1:{port}/readyz", process)
        yield process.pid, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(120)


def _await_ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(url, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            threading.Event().wait(0.02)
    raise SystemExit("the tool server did not start")


def start_costs() -> dict[str, float]:
    """From its command to its first answer; the middle of several starts."""
    took, used = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        with tool_server(1) as (pid, _url):
            took.append(time.perf_counter() - began)
            used.append(cpu_seconds(pid))
    return {START: statistics.median(took), START_CPU: statistics.median(used)}


def memory_costs(warming: list[Scenario]) -> dict[str, float]:
    """Of a server of two workers that has answered some thousand calls."""
    with tool_server(2) as (pid, url):
        for scenario in warming:
            fire(scenario.ready(8).at(url), 8, WARM_SECONDS, pin_load)
        shares = {one: memory_mb(one) for one in family(pid)}
        largest = max(shares.keys() - {pid}, key=lambda one: shares[one])
        own = unshared_mb(largest)
    return {MEMORY: shares[largest], OWN_MEMORY: own, WHOLE_MEMORY: sum(shares.values())}


def wanted_costs(parts: Iterable[str]) -> list[str]:
    """All where nothing is chosen."""
    chosen = [part for part in parts if part]
    return [kind for kind in KINDS if not chosen or any(part in kind for part in chosen)]


def measure_costs(parts: Iterable[str], every: Iterable[Scenario]) -> dict[str, float]:
    """Those wanted, while databases and the auth server run."""
    wanted, costs = wanted_costs(parts), {}
    if "start" in wanted:
        costs |= start_costs()
    if "memory" in wanted:
        costs |= memory_costs([one for one in every if one.name in WARMING])
    return costs
