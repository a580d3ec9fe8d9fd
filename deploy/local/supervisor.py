"""`award-travel up`: starts the whole service on this machine, waits until it is healthy, watches it until the end."""

import argparse
import contextlib
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from deploy.errors import CommandError
from deploy.local.banner import banner, progress_printer
from deploy.local.demo_account import ensure_demo_account
from deploy.local.home import RUNNING, Home, write_private
from deploy.local.ports import choose_port
from deploy.local.processes import Child, Say, adopt_orphans, build_launcher, revive
from deploy.local.stack import Stack, build_environment, start_private_servers, stop_all
from deploy.local.wheel_audit import check_before_start

HEALTHY_SECONDS = 60


def _prepare_database(say: Say) -> None:
    """Tables and data mode, before anything works on them."""
    from shared.db.base import transaction
    from shared.db.schema import upgrade
    from shared.services.operations.data_mode import claim_data_mode
    from shared.settings import settings

    upgrade(settings().database_url)
    with transaction() as session:
        claim_data_mode(session)
    say("database is up to date")


def _check_reference(say: Say) -> None:
    """While the programs load: the facts are read whole, and every fault is told."""
    from shared.reference.load import reference

    reference()
    say("reference data checked")


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
    from shared.redis import connect, key

    return connect().get(key(child.name)) == str(child.pid).encode()


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
                stack.say(f"{child.name} is healthy")
                waiting.remove(child)
        time.sleep(0.03)


def _import_early() -> None:
    """While PostgreSQL starts, the modules needed after it are loaded on the side."""
    import shared.db.schema
    import shared.reference.load
    import shared.services.operations.data_mode  # noqa: F401


def _start(stack: Stack, programs: list[Child]) -> None:
    for child in programs:
        child.start()
        stack.children.append(child)


@contextlib.contextmanager
def running(home: Home, web_port: int | None, mcp_port: int | None, say: Say) -> Iterator[Stack]:
    """The whole service, healthy; stopped at the end, whatever happens."""
    early = threading.Thread(target=_import_early, daemon=True)
    early.start()
    ports = (choose_port(home, "web", web_port), choose_port(home, "mcp", mcp_port), choose_port(home, "smtp", 0))
    stack = Stack(home, *ports, say)
    adopt_orphans()
    try:
        check_before_start(say)
        stack.environment = build_environment(stack, start_private_servers(stack))
        say("database and queue are up")
        os.environ.update(stack.environment)
        programs = _build_programs(stack)
        _start(stack, programs[:2])  # the servers load for longer than the tables take; the jobs touch rows at once
        early.join()
        _prepare_database(say)
        _start(stack, programs[2:])
        _check_reference(say)
        _wait_until_healthy(stack, programs)
        yield stack
    finally:
        stop_all(stack)


def _stop_on_signal() -> None:
    """The first SIGINT, SIGTERM or SIGHUP ends the command as Ctrl-C does; further ones do not disturb the stop."""

    def end(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def _write_ready_files(stack: Stack, files: list[Path]) -> None:
    for file in files:
        write_private(file, json.dumps(stack.facts(), indent=2) + "\n")


def _watch(stack: Stack, files: list[Path]) -> None:
    while True:
        time.sleep(0.1)
        revived = [revive(child, stack.say) for child in stack.children]
        if any(revived):
            _write_ready_files(stack, files)


def run_up(arguments: argparse.Namespace) -> None:
    """Starts the service and watches it until SIGINT or SIGTERM."""
    home, say, ready_file = Home(arguments.home).prepare(), progress_printer(), arguments.ready_file
    files = [home.path / RUNNING, *([ready_file.absolute()] if ready_file else [])]
    if ready_file and not os.access(files[-1].parent, os.W_OK):
        raise CommandError(f"{ready_file} cannot be written: name a file in a folder that exists and is yours.")
    with home.alone() as free:
        if not free:
            raise CommandError(
                f"award-travel already runs on {home.path}: stop that one, or choose another with --home DIR."
            )
        _stop_on_signal()
        for file in files:
            file.unlink(missing_ok=True)  # of a service that was killed
        try:
            with running(home, arguments.web_port, arguments.mcp_port, say) as stack:
                with_demo = not arguments.no_demo and stack.environment.get("APP_ENV") != "production"
                password = ensure_demo_account(home) if with_demo else None
                _write_ready_files(stack, files)
                say(banner(stack, password, with_demo=with_demo))
                _watch(stack, files)
        except KeyboardInterrupt:
            say("stopped")
        finally:
            for file in files:
                file.unlink(missing_ok=True)
