"""The programs of one home with their private servers, addresses and environment."""

import os
import sys
from dataclasses import dataclass, field
from typing import Any

from deploy.local.home import Home
from deploy.local.private_servers import Postgres, Valkey
from deploy.local.processes import Child, Say, kill_orphans, stop
from shared.variables import name_file, read_variable


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
    metrics_url: str | None = None  # of all programs together

    @property
    def web_url(self) -> str:
        return f"http://127.0.0.1:{self.web}"

    @property
    def mcp_url(self) -> str:
        return f"http://127.0.0.1:{self.mcp}/mcp"

    def facts(self) -> dict[str, Any]:
        """The content of the ready file."""
        return {
            "web_url": self.web_url,
            "mcp_url": self.mcp_url,
            "database_url": self.environment["DATABASE_URL"],
            "database_pooling": self.environment.get("DATABASE_POOLING"),
            "database_direct_url": self.environment.get("DATABASE_DIRECT_URL"),
            "redis_url": self.environment["REDIS_URL"],
            "outbox_dir": self.environment["OUTBOX_DIR"],
            "metrics_url": self.metrics_url,
            "metrics_token": self.environment["METRICS_TOKEN"],
            "inbound_smtp": f"127.0.0.1:{self.smtp}",
            "pids": {child.name: child.pid for child in self.children},
        }


def find_given_servers() -> dict[str, str]:
    return {name: url for name in ("DATABASE_URL", "REDIS_URL") if (url := read_variable(name))}


def start_private_servers(stack: Stack) -> dict[str, str]:
    """Addresses of the database and the queue: those of the environment, or of private servers started now."""
    addresses = find_given_servers()
    if "DATABASE_URL" not in addresses:
        postgres = Postgres(stack.home.path)
        stack.private.append(postgres.launch())
    if "REDIS_URL" not in addresses:
        valkey = Valkey(stack.home.path)
        stack.private.append(valkey.start())
        stack.children.append(Child("valkey", lambda: _restart(valkey), valkey.folder / "log", valkey.process))
        addresses["REDIS_URL"] = valkey.url
    if "DATABASE_URL" not in addresses:
        postgres.wait().create_database()
        stack.children.append(Child("postgres", lambda: _restart(postgres), postgres.log, postgres.process))
        addresses["DATABASE_URL"] = postgres.url()
    return addresses


def _restart(server: Postgres | Valkey) -> Any:
    server.start()
    return server.process


def build_environment(stack: Stack, addresses: dict[str, str]) -> dict[str, str]:
    """The environment of every program of the stack. Addresses are this machine's, whatever the shell sets."""
    settings = {
        "WEB_URL": stack.web_url,
        "MCP_URL": stack.mcp_url,
        "MCP_UPSTREAM_URL": f"http://127.0.0.1:{stack.mcp}",
        "OUTBOX_DIR": os.environ.get("OUTBOX_DIR") or str(stack.home.outbox),
        "INBOUND_MAIL_DOMAIN": os.environ.get("INBOUND_MAIL_DOMAIN") or "inbox.localhost",
        "INBOUND_SMTP_HOST": "127.0.0.1",
        "INBOUND_SMTP_PORT": str(stack.smtp),
        # Once a second: an idle dispatcher is half the cost of a quiet service.
        "DISPATCHER_INTERVAL_SECONDS": os.environ.get("DISPATCHER_INTERVAL_SECONDS") or "1",
        "METRICS_DIR": str(stack.home.metrics),
        "RQ_REDIS_URL": addresses["REDIS_URL"],  # not on the worker's command line, where every user could read it
    }
    if sys.platform == "darwin":
        settings["OBJC_DISABLE_INITIALIZE_FORK_SAFETY"] = "YES"  # the worker forks
    ours = stack.home.secrets() | addresses | settings
    not_theirs = {"METRICS_PORT", *map(name_file, ours)}  # that of `up` itself; and files already read
    return {name: value for name, value in os.environ.items() if name not in not_theirs} | ours


def stop_all(stack: Stack) -> None:
    """Servers and dispatcher first, then the worker once its job is done, then database and queue."""
    by_name = {child.name: child for child in stack.children}
    stop([by_name[n] for n in ("mcp_server", "auth_server", "inbox", "dispatcher") if n in by_name])
    stop([by_name[n] for n in ("worker",) if n in by_name], seconds=60)
    kill_orphans(stack.children)
    for server in reversed(stack.private):
        server.stop()
