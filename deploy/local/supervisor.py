"""The local set-up: a home and ports go in; the whole service runs, watched, until it is told to stop."""

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
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from deploy.errors import CommandError
from deploy.local.home import RUNNING, Home, write_private
from deploy.local.ports import choose
from deploy.local.private_servers import Postgres, Valkey
from deploy.local.processes import Child, Say, adopt_orphans, kill_orphans, program, revive, stop

HEALTHY_SECONDS = 60


@dataclass
class Stack:
    """The programs of one home, in the order they were started."""

    home: Home
    web: int
    mcp: int
    smtp: int
    say: Say
    private: list[Postgres | Valkey] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def web_url(self) -> str:
        return f"http://127.0.0.1:{self.web}"

    @property
    def mcp_url(self) -> str:
        return f"http://127.0.0.1:{self.mcp}/mcp"

    def facts(self) -> dict[str, Any]:
        """What the ready file says."""
        return {
            "web_url": self.web_url,
            "mcp_url": self.mcp_url,
            "database_url": self.environment["DATABASE_URL"],
            "redis_url": self.environment["REDIS_URL"],
            "outbox_dir": self.environment["OUTBOX_DIR"],
            "inbound_smtp": f"127.0.0.1:{self.smtp}",
            "pids": {child.name: child.pid for child in self.children},
        }


def start_private_servers(stack: Stack) -> dict[str, str]:
    """The addresses of the database and the queue: the environment's, or private ones started now."""
    found = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if "DATABASE_URL" not in found:
        postgres = Postgres(stack.home.path)
        stack.private.append(postgres.launch())
    if "REDIS_URL" not in found:
        valkey = Valkey(stack.home.path)
        stack.private.append(valkey.start())
        stack.children.append(Child("valkey", lambda: _again(valkey), valkey.folder / "log", valkey.process))
        found["REDIS_URL"] = valkey.url
    if "DATABASE_URL" not in found:
        postgres.wait().create_database()
        stack.children.append(Child("postgres", lambda: _again(postgres), postgres.log, postgres.process))
        found["DATABASE_URL"] = postgres.url()
    return found


def _again(server: Postgres | Valkey) -> Any:
    server.start()
    return server.process


def environment(stack: Stack, found: dict[str, str]) -> dict[str, str]:
    """What every program of the set-up is told; addresses are this machine's whatever the shell says."""
    told = {
        "WEB_URL": stack.web_url,
        "MCP_URL": stack.mcp_url,
        "MCP_UPSTREAM_URL": f"http://127.0.0.1:{stack.mcp}",
        "OUTBOX_DIR": os.environ.get("OUTBOX_DIR") or str(stack.home.outbox),
        "INBOUND_MAIL_DOMAIN": os.environ.get("INBOUND_MAIL_DOMAIN") or "inbox.localhost",
        "INBOUND_SMTP_HOST": "127.0.0.1",
        "INBOUND_SMTP_PORT": str(stack.smtp),
        "RQ_REDIS_URL": found["REDIS_URL"],  # not on the worker's command line, where every user could read it
    }
    if sys.platform == "darwin":
        told["OBJC_DISABLE_INITIALIZE_FORK_SAFETY"] = "YES"  # the worker forks
    return {**os.environ, **stack.home.secrets(), **found, **told}


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


def _programs(stack: Stack) -> list[Child]:
    python = [sys.executable, "-P", "-m"]
    commands = {
        "mcp_server": ["mcp_server", "--port", str(stack.mcp)],
        "auth_server": ["auth_server", "--port", str(stack.web)],
        "worker": ["rq.cli", "worker", "-w", "jobs.worker.Worker", "-S", "json", "deliveries", "checks"],
        "dispatcher": ["jobs", "dispatcher"],
        "inbox": ["jobs", "inbox"],
    }
    logs = {name: stack.home.logs / f"{name}.log" for name in commands}
    return [
        Child(name, program([*python, *command], stack.environment, logs[name]), logs[name])
        for name, command in commands.items()
    ]


def _serves(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _takes_mail(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            return connection.recv(3) == b"220"
    except OSError:
        return False


def _works(pid: int) -> bool:
    """Whether a worker of that process id has registered with the queue."""
    from shared.redis import connect

    queue = connect()
    keys: Any = queue.smembers("rq:workers")
    return any(queue.hget(name, "pid") == str(pid).encode() for name in keys)


def _dispatches(pid: int) -> bool:
    """Whether the dispatcher of that process id has finished a round."""
    from shared.redis import connect, key

    return connect().get(key("dispatcher")) == str(pid).encode()


def _wait_until_healthy(stack: Stack, programs: list[Child]) -> None:
    healthy: dict[str, Callable[[Child], bool]] = {
        "auth_server": lambda _: _serves(stack.web),
        "mcp_server": lambda _: _serves(stack.mcp),
        "dispatcher": lambda child: _dispatches(child.pid),
        "inbox": lambda _: _takes_mail(stack.smtp),
        "worker": lambda child: _works(child.pid),
    }
    waiting, until = list(programs), time.monotonic() + HEALTHY_SECONDS
    while waiting:
        for child in list(waiting):
            if child.ended is not None or time.monotonic() > until:
                what = "ended" if child.ended is not None else f"was not healthy within {HEALTHY_SECONDS} s"
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
    from deploy.local.wheel_audit import check_before_start

    early = threading.Thread(target=_import_early, daemon=True)
    early.start()
    ports = (choose(home, "web", web_port), choose(home, "mcp", mcp_port), choose(home, "smtp", 0))
    stack = Stack(home, *ports, say)
    adopt_orphans()
    try:
        check_before_start(say)
        stack.environment = environment(stack, start_private_servers(stack))
        say("database and queue are up")
        os.environ.update(stack.environment)
        programs = _programs(stack)
        _start(stack, programs[:2])  # the servers load for longer than the tables take; the jobs touch rows at once
        early.join()
        _prepare_database(say)
        _start(stack, programs[2:])
        _check_reference(say)
        _wait_until_healthy(stack, programs)
        yield stack
    finally:
        stop_all(stack)


def stop_all(stack: Stack) -> None:
    """Servers and dispatcher first, then the worker with the job it is at, then what they all stood on."""
    by_name = {child.name: child for child in stack.children}
    stop([by_name[n] for n in ("mcp_server", "auth_server", "inbox", "dispatcher") if n in by_name])
    stop([by_name[n] for n in ("worker",) if n in by_name], seconds=60)
    kill_orphans(stack.children)
    for server in reversed(stack.private):
        server.stop()


def _end_on_signal() -> None:
    """The first SIGINT, SIGTERM or SIGHUP ends the command as Ctrl-C does; further ones do not disturb the stop."""

    def end(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def _publish(stack: Stack, files: list[Path]) -> None:
    for file in files:
        write_private(file, json.dumps(stack.facts(), indent=2) + "\n")


def _watch(stack: Stack, files: list[Path]) -> None:
    while True:
        time.sleep(0.1)
        revived = [revive(child, stack.say) for child in stack.children]
        if any(revived):
            _publish(stack, files)


def up(path: Path, web_port: int | None, mcp_port: int | None, ready_file: Path | None, *, demo: bool) -> None:
    """Starts the service and watches it until SIGINT or SIGTERM."""
    from deploy.local.banner import banner, speaker
    from deploy.local.demo_account import demo_account

    home, say = Home(path).prepare(), speaker()
    files = [home.path / RUNNING, *([ready_file.absolute()] if ready_file else [])]
    if ready_file and not os.access(files[-1].parent, os.W_OK):
        raise CommandError(f"{ready_file} cannot be written: name a file in a folder that exists and is yours.")
    with home.alone() as free:
        if not free:
            raise CommandError(
                f"award-travel already runs on {home.path}: stop that one, or choose another with --home DIR."
            )
        _end_on_signal()
        for file in files:
            file.unlink(missing_ok=True)  # of a service that was killed
        try:
            with running(home, web_port, mcp_port, say) as stack:
                with_demo = demo and stack.environment.get("APP_ENV") != "production"
                password = demo_account(home) if with_demo else None
                _publish(stack, files)
                say(banner(stack, password, with_demo=with_demo))
                _watch(stack, files)
        except KeyboardInterrupt:
            say("stopped")
        finally:
            for file in files:
                file.unlink(missing_ok=True)
