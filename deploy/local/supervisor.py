"""The whole service on this machine: starting it, waiting until it is healthy, and stopping it."""

import contextlib
import gc
import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from deploy.database.direct_database import update_tables
from deploy.errors import CommandError
from deploy.local.forked_programs import CAN_FORK, Gate, fork_program
from deploy.local.home import Home
from deploy.local.ports import choose_port
from deploy.local.processes import Child, Say, adopt_orphans, build_launcher
from deploy.local.stack import Stack, build_environment, find_given_servers, start_private_servers, stop_all
from deploy.local.wheel_audit import check_before_start

HEALTHY_SECONDS = 60


def _prepare_database(say: Say) -> None:
    """Prepares tables and data mode, before anything uses them."""
    from shared.db.base import transaction
    from shared.services.operations.data_mode import claim_data_mode
    from shared.settings import settings

    update_tables(settings().direct_url)
    with transaction() as session:
        claim_data_mode(session)
    say("database is up to date")


def _build_programs(stack: Stack, tables: Gate) -> list[Child]:
    """Builds programs that load while the tables are made, and then wait for them."""
    commands = {
        "mcp_server": (["mcp_server", "--port", str(stack.mcp)], ["mcp_server.program", "mcp_server.app"]),
        "auth_server": (["auth_server", "--port", str(stack.web)], ["auth_server.app"]),
        "worker": (["jobs", "worker"], []),
        "dispatcher": (["jobs", "dispatcher"], []),
        "inbox": (["jobs", "inbox"], []),
    }
    children = []
    for name, (command, loads) in commands.items():
        log = stack.home.logs / f"{name}.log"
        child = Child(name, build_launcher([sys.executable, "-P", "-m", *command], stack.environment, log), log)
        if CAN_FORK:
            child.process = fork_program(command, loads, stack.environment, log, tables)
            child.started = time.monotonic()
        children.append(child)
    return children


def _serves_http(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _accepts_mail(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            return connection.recv(3) == b"220"
    except OSError:
        return False


def _shows_life(child: Child) -> bool:
    """Whether the dispatcher has finished a round, or a worker of the pool listens to the queue."""
    from shared.services.operations.workers import list_programs

    return any(child.pid in (program.pid, program.parent) for program in list_programs())


def _wait_until_healthy(stack: Stack, programs: list[Child]) -> None:
    healthy: dict[str, Callable[[Child], bool]] = {
        "auth_server": lambda _: _serves_http(stack.web),
        "mcp_server": lambda _: _serves_http(stack.mcp),
        "dispatcher": _shows_life,
        "inbox": lambda _: _accepts_mail(stack.smtp),
        "worker": _shows_life,
    }
    waiting, until = list(programs), time.monotonic() + HEALTHY_SECONDS
    while waiting:
        for child in list(waiting):
            if child.exit_status is not None or time.monotonic() > until:
                what = "ended" if child.exit_status is not None else f"was not healthy within {HEALTHY_SECONDS} s"
                raise CommandError(f"{child.name} {what}: {child.last_words()} Its log: {child.log}")
            if healthy[child.name](child):
                waiting.remove(child)
                rest = f"; waiting for {', '.join(other.name for other in waiting)}" if waiting else ""
                stack.say(f"{child.name} is healthy{rest}")
        time.sleep(0.03)


# Modules that this process and at least two of the programs use.
_SHARED_MODULES = (
    "jobs.deliver",
    "jobs.dispatcher",
    "jobs.runs",
    "jobs.smtp_listener",
    "jobs.worker",
    "shared.db.schema",
    "shared.services.operations.data_mode",
)


def _load_early() -> None:
    """Loads them while PostgreSQL starts. Nothing here may read a setting: the programs' are known later."""
    from sqlalchemy.orm import configure_mappers

    from shared.reference.load import reference

    for module in _SHARED_MODULES:
        import_module(module)
    configure_mappers()
    reference()  # all of it, with every fault reported


# For the servers, which start once the settings are known to be good.
_NOT_YET_KNOWN = {"DATABASE_URL": "postgresql://award@127.0.0.1/award", "REDIS_URL": "redis://127.0.0.1/0"}


def _check_settings(stack: Stack) -> None:
    """Raises SettingsError before anything is started or made."""
    from shared.settings import settings

    before = dict(os.environ)
    try:
        os.environ.update(build_environment(stack, _NOT_YET_KNOWN | find_given_servers()))
        settings()
    finally:
        settings.cache_clear()
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def running(home: Home, web_port: int | None, mcp_port: int | None, say: Say) -> Iterator[Stack]:
    """The whole service, healthy; always stopped at the end."""
    ports = (choose_port(home, "web", web_port), choose_port(home, "mcp", mcp_port), choose_port(home, "smtp", 0))
    if twice := [port for port in ports if ports.count(port) > 1]:
        raise CommandError(f"Port {twice[0]} is named twice: pages, tools and the mail listener need one each.")
    stack = Stack(home, *ports, say)
    _check_settings(stack)
    early = ThreadPoolExecutor(1)
    loading = early.submit(_load_early)
    adopt_orphans()
    try:
        check_before_start(say)
        first = "" if (home.path / "pg" / "data").exists() else " (the first start makes it, which takes longer)"
        say(f"starting the database{first} and the queue")
        stack.environment = build_environment(stack, start_private_servers(stack))
        loading.result()
        early.shutdown()  # it is the only other thread, and programs are forked now
        say("reference data checked; database and queue are up, the programs start")
        gc.freeze()  # keeps programs from touching, and so copying, these objects
        tables = Gate()
        stack.children += (programs := _build_programs(stack, tables))
        os.environ.update(stack.environment)
        _prepare_database(say)
        tables.open()
        for child in programs:
            if child.process is None:
                child.start()
        _wait_until_healthy(stack, programs)
        yield stack
    finally:
        stop_all(stack)
