"""Both servers as programs on one database, and clients that call them all the time and write down what came back."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from deploy.local.private_servers import free_port
from shared.processes.worker_processes import die_with_parent
from tests.support.oauth_browser import tokens
from tests.support.service import PASSWORD, ROOT, wait_for

EMAIL = "load@example.test"
READY_SECONDS = 120  # four workers import everything on a machine that may be busy


@dataclass
class Program:
    """One program of the service as a process, with all it writes in one file."""

    process: "subprocess.Popen[bytes]"
    log: Path
    url: str = ""

    @property
    def words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.words
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def workers(self) -> set[int]:
        """The processes that serve: forked from the one that loaded the release, with its command line."""
        command = ["ps", "-ww", "-A", "-o", "pid=,ppid=,args="]  # at full width: the word stands far to the right
        table = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [line.split(None, 2) for line in table.stdout.splitlines()]
        below = [(int(pid), int(ppid)) for pid, ppid, args in rows if "spawn_main" in args]
        releases = {pid for pid, ppid in below if ppid == self.process.pid}
        return {pid for pid, ppid in below if ppid in releases}

    def stop(self, seconds: float = 30) -> int:
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end within {seconds:g} s:\n{self.words}") from None


# What systemd does for a service with a socket (sd_listen_fds(3)): it stands as the third file of the program.
_HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


def start(
    folder: Path,
    name: str,
    command: list[str],
    environment: dict[str, str],
    url: str = "",
    cwd: Path = ROOT,
    listener: socket.socket | None = None,
) -> Program:
    """One program by its module's name; it ends with this process. `listener` is handed over as systemd does it."""
    log, words = folder / f"{name}.log", [sys.executable, "-m", *command]
    passed = [listener.fileno()] if listener else []
    if passed:
        words[1:1] = ["-c", _HAND_OVER, str(passed[0])]
    with log.open("ab") as file:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=environment,
            stdout=file,
            stderr=file,
            preexec_fn=die_with_parent,
            pass_fds=passed,
            start_new_session=True,  # a Ctrl-C at the terminal reaches the test alone, which ends it
        )
    return Program(process, log, url)


@dataclass
class Servers:
    """One web host and one tool server, or several of each: the first of a kind has the public address."""

    folder: Path
    environment: dict[str, str]
    web: list[Program] = field(default_factory=list)
    tools: list[Program] = field(default_factory=list)

    @property
    def mcp_url(self) -> str:
        return self.environment["MCP_URL"]


def _environment(database: str, redis: str, ports: tuple[int, int], more: dict[str, str]) -> dict[str, str]:
    web, mcp = (f"http://127.0.0.1:{port}" for port in ports)
    addresses = {"WEB_URL": web, "MCP_URL": f"{mcp}/mcp", "MCP_UPSTREAM_URL": mcp, "AUTH_INTERNAL_URL": web}
    stores = {"DATABASE_URL": database, "REDIS_URL": redis, "TOOL_CALLS_PER_DAY": "100000"}
    stores |= {"TOOL_CALLS_PER_MINUTE": "100000"}
    return os.environ | addresses | stores | {"CLIENT_DOCUMENT_FETCH": "false"} | more


@contextmanager
def serving(
    folder: Path, database: str, redis: str, *, workers: int = 1, copies: int = 1, **more: str
) -> Iterator[Servers]:
    """Web hosts and tool servers of so many workers each, ready; ended afterwards."""
    ports = free_port(), free_port()
    servers = Servers(folder, _environment(database, redis, ports, more))
    options = ["--workers", str(workers), "--port"]
    try:
        for copy in range(copies):
            for kind, room, public in (("auth_server", servers.web, ports[0]), ("mcp_server", servers.tools, ports[1])):
                port = free_port() if copy else public
                command = [kind, *options, str(port)]
                room.append(start(folder, f"{kind}{copy}", command, servers.environment, f"http://127.0.0.1:{port}"))
        for program in (*servers.web, *servers.tools):
            wait_for(program.log.stem, program.is_ready, READY_SECONDS)
        yield servers
    finally:
        for program in (*servers.tools, *servers.web):
            if program.process.poll() is None:
                program.stop()


def sign_in(servers: Servers, database: str) -> str:
    """The bearer token of a premium account made here."""
    from auth_server.accounts.accounts import hash_password

    with psycopg.connect(database, autocommit=True) as session:
        session.execute(
            "insert into accounts (public_id, email, password_hash, email_confirmed_at, plan)"
            " values ('acc_load', %s, %s, now(), 'premium') on conflict do nothing",
            (EMAIL, hash_password(PASSWORD, EMAIL)),
        )
    return str(tokens(servers.mcp_url, EMAIL, PASSWORD)["access_token"])


@dataclass
class Call:
    """One call: when it ended, how long it took, what was asked, and what came back, in one word."""

    at: float
    seconds: float
    tool: str
    outcome: str
    data: dict[str, Any]


@dataclass
class Load:
    """Clients that keep their connections and call in turn until they are stopped; none tries anything again."""

    urls: list[str]
    token: str
    tools: list[tuple[str, dict[str, Any]]]
    host: str = ""  # as a proxy names it to servers at other addresses than their public one
    clients: int = 4
    calls_a_second: float = 20
    calls: list[Call] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "Load":
        for number in range(self.clients):
            thread = threading.Thread(target=self._call_in_turn, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _call_in_turn(self, number: int) -> None:
        url = self.urls[number % len(self.urls)]
        pause, turn = self.clients / self.calls_a_second, number
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Host": self.host} if self.host else {})
        with httpx.Client(timeout=30, trust_env=False, headers=headers) as client:
            while not self._stop.is_set():
                since = time.monotonic()
                name, arguments = self.tools[turn % len(self.tools)]
                outcome, data = _call(
                    client, url, name, arguments | ({"name": f"{number}-{turn}"} if arguments else {})
                )
                now = time.monotonic()
                self.calls.append(Call(now, now - since, name, outcome, data))
                turn += 1
                self._stop.wait(max(0.0, pause - (now - since)))

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(call.outcome for call in self.calls)

    def settle(self, number: int) -> None:
        """Waits until so many more calls ended."""
        target = len(self.calls) + number
        wait_for(f"{number} more calls", lambda: len(self.calls) >= target, 60)


def _call(client: httpx.Client, url: str, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    try:
        answer = client.post(url, json=body)
    except httpx.TransportError as error:
        return type(error).__name__, {}
    if answer.status_code != 200:
        return f"HTTP {answer.status_code}", dict(answer.headers)
    reply = answer.json()
    if "error" in reply:
        return "error", reply["error"]
    data: dict[str, Any] = reply["result"]["structuredContent"]
    return str(data["status"]), data


def roll(program: Program, seconds: float = 120) -> tuple[set[int], set[int]]:
    """Sends SIGHUP and waits until the program says how it ended: the workers before and after."""

    def count_ends() -> int:
        return program.words.count("rolled: ") + program.words.count("the roll failed: ")

    before, ends = program.workers(), count_ends()
    program.process.send_signal(signal.SIGHUP)
    wait_for("the end of the roll", lambda: count_ends() > ends, seconds)
    return before, program.workers()
