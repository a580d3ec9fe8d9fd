"""The whole service on this machine: started, waited for until it is healthy, and stopped at the end."""

import contextlib
import http.client
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

from deploy.database.direct_database import update_tables
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.ports import choose_port
from deploy.local.processes import Child, Say, adopt_orphans, build_launcher
from deploy.local.stack import Stack, build_environment, find_given_servers, start_private_servers, stop_all
from deploy.local.wheel_audit import check_before_start

HEALTHY_SECONDS = 60


def _prepare_database(say: Say) -> None:
    """Tables and data mode, before anything works on them."""
    from shared.db.base import transaction
    from shared.services.operations.data_mode import claim_data_mode
    from shared.settings import settings

    update_tables(settings().direct_url)
    with transaction() as session:
        claim_data_mode(session)
    say("database is up to date")


def _build_programs(stack: Stack) -> list[Child]:
    python = [sys.executable, "-P", "-m"]
    commands = {
        "mcp_server": ["mcp_server", "--port", str(stack.mcp)],
        "auth_server": ["auth_server", "--port", str(stack.web)],
        "worker": ["jobs", "worker"],
        "dispatcher": ["jobs", "dispatcher"],
        "inbox": ["jobs", "inbox"],
    }
    logs = {name: stack.home.logs / f"{name}.log" for name in commands}
    return [
        Child(name, build_launcher([*python, *command], stack.environment, logs[name]), logs[name])
        for name, command in commands.items()
    ]


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


def _import_early() -> None:
    """Loads the modules needed after PostgreSQL while it starts."""
    import shared.db.schema
    import shared.reference.load
    import shared.services.operations.data_mode  # noqa: F401


def _start(stack: Stack, programs: list[Child]) -> None:
    for child in programs:
        child.start()
        stack.children.append(child)


# Of the servers that are started once the settings are known to be good.
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
    """The whole service, healthy; stopped at the end, whatever happens."""
    ports = (choose_port(home, "web", web_port), choose_port(home, "mcp", mcp_port), choose_port(home, "smtp", 0))
    stack = Stack(home, *ports, say)
    _check_settings(stack)
    early = threading.Thread(target=_import_early, daemon=True)
    early.start()
    adopt_orphans()
    try:
        check_before_start(say)
        first = "" if (home.path / "pg" / "data").exists() else " (the first start makes it, which takes longer)"
        say(f"starting the database{first} and the queue")
        stack.environment = build_environment(stack, start_private_servers(stack))
        say("database and queue are up, the programs start")
        os.environ.update(stack.environment)
        programs = _build_programs(stack)
        _start(stack, programs[:2])  # the servers load for longer than the tables take; the jobs touch rows at once
        early.join()
        _prepare_database(say)
        _start(stack, programs[2:])
        # While the programs load: the facts are read whole, and every fault is told.
        from shared.reference.load import reference

        reference()
        say("reference data checked")
        _wait_until_healthy(stack, programs)
        yield stack
    finally:
        stop_all(stack)
