"""The whole service, started by its own command line on a home folder and shared by all tests of a worker."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine
from sqlalchemy.orm import Session

from auth_server.accounts.accounts import create_account
from shared.processes.worker_processes import die_with_parent

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse battery staple"  # of every account made here
QUICK = {"ROUTE_MONITOR_INTERVAL_SECONDS": "1", "DISPATCHER_INTERVAL_SECONDS": "0.2", "DCR_PER_HOUR": "1000"}
QUICK |= {"TOOL_CALLS_PER_MINUTE": "100000"}
QUICK |= {"GATHER_SECONDS": "0", "CLIENT_DOCUMENT_FETCH": "false"}  # nothing here leaves this machine
READY_SECONDS = 90
BY_EVENT_SECONDS = 20.0  # for what an event tells at once; without events the caches would keep it for 30 seconds
PATIENCE = 90.0  # long enough for a machine that is busy with other things; what holds is found at once


def environment(home: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """What a person's shell would hand over: nothing of this test run's own settings, servers or secrets."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TMPDIR", "TZ") or k.startswith("AWARD_PG")}
    return kept | {"HOME": str(home), "PYTHONWARNDEFAULTENCODING": "1"} | (more or {})


def command(home: Path, *arguments: str, given: str = "", more: dict[str, str] | None = None) -> str:
    """Runs one command of the command line on a home and returns what it prints; fails with its words."""
    line = [sys.executable, "-m", "deploy.cli", *arguments, "--home", str(home)]
    done = subprocess.run(
        line,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env=environment(home, more),
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


def wait_for(what: str, seek: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true answer of `seek`; fails after so many seconds."""
    until = time.monotonic() + seconds
    pause = threading.Event()
    while time.monotonic() < until:
        if found := seek():
            return found
        pause.wait(0.05)
    raise AssertionError(f"{what}: not within {seconds:g} s")


@dataclass
class Service:
    """The running programs: their addresses, folders and process ids, as the ready file tells them."""

    home: Path
    process: subprocess.Popen[bytes]
    log: Path
    ready_file: Path
    settings: dict[str, str] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.ready_file.read_text(encoding="utf-8"))
        return facts

    @property
    def web_url(self) -> str:
        return str(self.facts["web_url"])

    @property
    def mcp_url(self) -> str:
        return str(self.facts["mcp_url"])

    @property
    def pids(self) -> dict[str, int]:
        return dict(self.facts["pids"])

    @property
    def words(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def person(self, name: str, plan: str = "free") -> str:
        """The address of an account of that name, made at first use with PASSWORD, as `user add` makes one."""
        email = f"{name}@example.test"
        if name not in self.made:
            engine = create_engine(
                self.facts["database_url"].replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool
            )
            with Session(engine) as session, session.begin():
                create_account(session, email, PASSWORD, plan)
            self.made.add(name)
        return email


def start(folder: Path, **more: str) -> Service:
    """`award-travel up` on a home inside the folder, on free ports, waited for until it says that it is ready."""
    home, log, ready = folder / "home", folder / "up.log", folder / "ready.json"
    home.mkdir(exist_ok=True)
    places = ["--home", str(home), "--web-port", "0", "--mcp-port", "0", "--ready-file", str(ready), "--no-demo"]
    with log.open("ab") as words:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.cli", "up", *places],
            stdout=words,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=environment(home, QUICK | more),
            preexec_fn=die_with_parent,  # a test run that is killed leaves no service behind
        )
    service = Service(home, process, log, ready, more)
    try:
        wait_for("ready file", lambda: ready.exists() or process.poll() is not None, READY_SECONDS)
        assert process.poll() is None, service.words
    except AssertionError as error:
        process.kill()
        raise AssertionError(f"{error}\n{service.words}") from None
    return service


def stop(service: Service) -> int:
    service.process.terminate()
    try:
        return service.process.wait(90)
    except subprocess.TimeoutExpired:
        service.process.kill()
        raise


@contextmanager
def folder_for_homes() -> Iterator[Path]:
    """A folder in memory where there is room, gone afterwards."""
    roomy = os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30
    folder = Path(tempfile.mkdtemp(prefix="award_e2e_", dir="/dev/shm" if roomy else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


SHARED = ("service", "equipped")  # the fixtures whose service runs for all tests of a worker that ask for it
_started: dict[str, Service] = {}


@contextmanager
def shared(name: str, folder: Path, **more: str) -> Iterator[Service]:
    """A service that is kept for the fixture of this name."""
    running = _started[name] = start(folder, **more)
    yield running
    del _started[name]
    if running.process.poll() is None:
        assert stop(running) == 0, running.words


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """One running service for all tests that need one."""
    with folder_for_homes() as folder, shared("service", folder) as running:
        yield running


def _list_needed(item: pytest.Item | None) -> set[str]:
    return set(SHARED) & set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a shared service come first, so that one worker runs them all and no other starts the service."""
    items.sort(key=lambda item: min((SHARED.index(name) for name in _list_needed(item)), default=len(SHARED)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _list_needed(item) & _started.keys():
        if _started[name].process.poll() is not None:
            _started[name].process = start(_started[name].home.parent, **_started[name].settings).process


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Behind the last of its tests a shared service stops: it would go on looking for due work five times a second."""
    yield
    for name in (_list_needed(item) - _list_needed(nextitem)) & _started.keys():
        assert stop(_started[name]) == 0, _started[name].words
