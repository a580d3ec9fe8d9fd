"""The whole service of the month as programs on loopback, with its databases, queue, mail server and model."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from deploy.local.private_servers import Valkey, free_port
from shared.db.schema import upgrade
from shared.settings.checks import driver_url
from tests.chaos.fault_injection import Fleet, build_environment, children
from tests.chaos.month.fast_clock import TOKENS, FastClock
from tests.chaos.month.memory import Diary
from tests.chaos.postgres_pair import PostgresPair
from tests.chaos.programs import Program, start
from tests.conftest import SETTINGS
from tests.jobs.model_server import ModelServer, model_server, words
from tests.support.mail_server import Mailbox, mail_server
from tests.support.service import ROOT, wait_for
from tests.support.settings_and_clock import install_database_clock

# By the machine's clock, as the programs need it however fast the other runs.
LEASE_SECONDS, WAKE_SECONDS, GATHER_SECONDS = 10, 5, 0.5
TICK_SECONDS, SAMPLE_SECONDS = 0.1, 2.0
READY_SECONDS, COMMAND_SECONDS = 180, 300
SPARED = {"dispatcher 1", "worker 2"}  # never struck, so that their memory is seen over the whole time


class CommandFailed(Exception):
    """A command of the operator ended with another status than 0."""


@dataclass
class Stage:
    folder: Path
    clock: FastClock
    pair: PostgresPair
    valkey: Valkey
    box: Mailbox
    model: ModelServer
    fleet: Fleet
    ports: dict[str, int]
    diary: Diary = field(default_factory=Diary)
    servers: dict[str, Program] = field(default_factory=dict)
    is_up: bool = False
    started: int = 0
    _sampled_at: float = 0.0
    _pause: threading.Event = field(default_factory=threading.Event)

    @property
    def web_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['auth_server']}"

    @property
    def environment(self) -> dict[str, str]:
        """Of all programs and commands; it names the database that is the service's at the time."""
        return self.fleet.environment

    def connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(self.pair.url, autocommit=True)

    def check_clock(self) -> None:
        """Raises AssertionError where the database has another time than the programs."""
        before = self.clock.now()
        with self.connect() as database:
            row = database.execute("select now()").fetchone()
        assert row is not None
        assert before <= row[0] <= self.clock.now(), f"the database says {row[0]} at {before}"

    def take_database(self, pair: PostgresPair) -> None:
        """The programs that begin from now on name this one, and the one before is ended."""
        before, self.pair = self.pair, pair
        self.environment["DATABASE_URL"] = os.environ["DATABASE_URL"] = pair.url
        before.__exit__(None, None, None)

    def raise_programs(self) -> None:
        """Both servers, ready, and the jobs."""
        self.is_up = True
        self.tick()
        for program in self.servers.values():
            self.wait_until(program.log.stem, lambda program=program: program.is_ready(), READY_SECONDS)

    def end_programs(self) -> None:
        """As an operator ends them: asked first, with time for what is under way."""
        self.is_up = False
        for program in self.servers.values():
            if program.process.poll() is None:
                program.stop()
        self.fleet.end()

    def forgive(self) -> None:
        """Whatever was made to fail at the moment does so no longer."""
        self.is_up = True
        self.box.replies.clear()
        self.box.cut = None
        self.environment.pop("SANDBOX_FAULT", None)

    def tick(self) -> None:
        """What ended begins again, as under any supervisor; from time to time memory is noted."""
        if self.is_up:
            self.fleet.keep_up()
            for kind in self.ports:
                if kind not in self.servers or self.servers[kind].process.poll() is not None:
                    self._start_server(kind)
        if time.monotonic() - self._sampled_at > SAMPLE_SECONDS:
            self._sampled_at = time.monotonic()
            self.diary.note(self._list_processes())
        self._pause.wait(TICK_SECONDS)

    def _start_server(self, kind: str) -> None:
        command = [kind, "--workers", "2", "--port", str(self.ports[kind])]
        lives = {TOKENS: "1"} if kind == "auth_server" else {}
        url = f"http://127.0.0.1:{self.ports[kind]}"
        self.servers[kind] = start(self.folder, kind, command, self.environment | lives, url)
        self.started += 1

    def _list_processes(self) -> dict[str, list[int]]:
        """Those that live long: of the workers of jobs their parents, since each job is a process of its own."""
        listed = {name: [program.pid] for name, program in self.fleet.programs.items()}
        for kind, program in self.servers.items():
            if program.process.poll() is None:
                listed[kind] = [program.process.pid, *children(program.process.pid)]
        if self.valkey.process:
            listed["valkey"] = [self.valkey.process.pid]
        return listed

    def pass_time(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.tick()

    def wait_until(self, what: str, seek: Any, seconds: float) -> None:
        def look() -> Any:
            self.tick()
            return seek()

        wait_for(what, look, seconds)

    def run(self, *arguments: str, **more: str) -> str:
        """A command of the operator, while everything goes on; what it printed. `more` are settings of its own."""
        line = [sys.executable, "-m", "deploy.cli", *arguments]
        log = self.folder / "commands.log"
        with log.open("ab") as sink:
            process = subprocess.Popen(line, cwd=ROOT, env=self.environment | more, stdout=subprocess.PIPE, stderr=sink)
        try:
            self.wait_until(" ".join(arguments[:2]), lambda: process.poll() is not None, COMMAND_SECONDS)
        finally:
            process.kill()
        printed = process.communicate()[0].decode(errors="replace")
        if process.returncode:
            told = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise CommandFailed(f"{' '.join(arguments)} ended with {process.returncode}: {printed}{told}")
        return printed


def raise_database(folder: Path, clock: FastClock) -> PostgresPair:
    """Two servers without tables, whose `now()` is that of the clock."""
    folder.mkdir()
    pair = PostgresPair(folder)
    pair.__enter__()
    for name in ("template1", "award"):
        install_database_clock(pair.primary.url(name), clock.sql)
    with psycopg.connect(pair.url, autocommit=True) as connection:  # a setting of the role is one of the standby too
        connection.execute("alter role award set search_path = public, standing, pg_catalog")
    return pair


def _build_environment(
    stores: tuple[str, str], box: Mailbox, model: ModelServer, clock: FastClock, ports: dict[str, int]
) -> dict[str, str]:
    web, tools = (f"http://127.0.0.1:{ports[kind]}" for kind in ("auth_server", "mcp_server"))
    by_the_clock = {
        "JOB_LEASE_SECONDS": LEASE_SECONDS,
        "WAKE_UP_SECONDS": WAKE_SECONDS,
        "GATHER_SECONDS": GATHER_SECONDS,
    }
    kept = dict.fromkeys(("KEEP_RUNS_DAYS", "KEEP_CHECKS_DAYS", "KEEP_DELIVERIES_DAYS"), "400")  # they are judged
    return (
        SETTINGS
        | build_environment(*stores, box)
        | clock.environment
        | {name: str(seconds * clock.speed) for name, seconds in by_the_clock.items()}
        | {"WEB_URL": web, "MCP_URL": f"{tools}/mcp", "MCP_UPSTREAM_URL": tools, "AUTH_INTERNAL_URL": web}
        | {"STANDING_ORDER_MODEL": "model", "STANDING_ORDER_MODEL_URL": model.address}
        | {"STANDING_ORDER_MODEL_KIND": "openai", "CLIENT_DOCUMENT_FETCH": "false"}
        | {"DELAY_CHECK_INTERVAL_SECONDS": "1800", "DISPATCHER_INTERVAL_SECONDS": "0.2"}
        | {"TOOL_CALLS_PER_DAY": "100000", "TOOL_CALLS_PER_MINUTE": "100000"}
        | kept
    )


@contextmanager
def raise_stage(folder: Path, clock: FastClock) -> Iterator[Stage]:
    """Everything but the programs; all of it is gone afterwards, whatever happens."""
    with ExitStack() as stack:
        valkey = Valkey(folder).start()
        stack.callback(valkey.stop)
        box = stack.enter_context(mail_server())
        model = stack.enter_context(model_server())
        model.script = [words("openai", "# Trips\n- none yet")]
        log = stack.enter_context((folder / "jobs.log").open("ab"))
        ports = {"auth_server": free_port(), "mcp_server": free_port()}
        pair = raise_database(folder / "one", clock)
        environment = _build_environment((pair.url, valkey.url), box, model, clock, ports)
        os.environ.update(environment)  # what is made here is made as the programs would
        stage = Stage(folder, clock, pair, valkey, box, model, Fleet(environment, log, spared=SPARED), ports)
        stack.callback(lambda: stage.pair.__exit__(None, None, None))
        stack.callback(stage.end_programs)
        upgrade(driver_url(pair.url))
        yield stage


def strike(program: "subprocess.Popen[bytes]") -> None:
    """With all that it started, in one blow."""
    for pid in (program.pid, *children(program.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    program.wait()
