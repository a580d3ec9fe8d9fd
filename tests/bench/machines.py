"""Two machines on one: groups of programs in network namespaces, and the stores that both reach over a link.

A namespace has its own loopback, so both machines use the same ports and the same public addresses, and neither
reaches the other. That takes root and the command `ip`.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import redis

from deploy.local.private_servers import Postgres, Valkey, free_port
from shared.processes.worker_processes import die_with_parent
from tests.bench.process_costs import cpu_seconds
from tests.bench.stage import ROOT

START_SECONDS = 600  # four of each program on both machines start on two cores, which may be busy


@dataclass(frozen=True)
class Link:
    """How a machine is reached, how it reaches the stores, and the command that runs something on it."""

    name: str
    address: str
    stores: str
    enter: tuple[str, ...]


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _join(name: str, subnet: str) -> Link:
    """A namespace with one cable to this one. 198.18.0.0/15 is set aside for benchmarks (RFC 2544)."""
    space, cable = f"bench-{name}-{os.getpid()}", f"b{name}{os.getpid()}"
    _ip("netns", "add", space)
    _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
    _ip("addr", "add", f"{subnet}.1/30", "dev", cable)
    _ip("link", "set", cable, "up")
    _ip("-n", space, "addr", "add", f"{subnet}.2/30", "dev", "eth0")
    for device in ("lo", "eth0"):
        _ip("-n", space, "link", "set", device, "up")
    return Link(name, f"{subnet}.2", f"{subnet}.1", ("ip", "netns", "exec", space))


@contextmanager
def links() -> Iterator[list[Link]]:
    if os.geteuid() or not shutil.which("ip"):
        raise SystemExit("Two machines are two network namespaces: run this as root, with the command ip.")
    with ExitStack() as stack:
        made = []
        for name, subnet in (("a", f"198.18.{os.getpid() % 256}"), ("b", f"198.19.{os.getpid() % 256}")):
            stack.callback(subprocess.run, ["ip", "netns", "del", f"bench-{name}-{os.getpid()}"], check=False)
            made.append(_join(name, subnet))
        yield made


class ReachablePostgres(Postgres):
    """A private PostgreSQL that the machines reach too."""

    def __init__(self, home: Path, machines: list[Link]) -> None:
        super().__init__(home, durable=False)
        self.machines = machines

    def _make_data(self) -> None:
        super()._make_data()
        with (self.folder / "data" / "pg_hba.conf").open("a", encoding="ascii") as rules:
            rules.writelines(f"host all all {link.address}/32 scram-sha-256\n" for link in self.machines)

    def _options(self) -> list[str]:
        addresses = ",".join(sorted({"127.0.0.1", *(link.stores for link in self.machines)}))
        return [*super()._options(), "-c", f"listen_addresses={addresses}", "-c", "max_connections=500"]


@dataclass
class Stores:
    postgres: Postgres
    valkey: Valkey

    def addresses(self, seen_at: str) -> dict[str, str]:
        urls = {"DATABASE_URL": self.postgres.url(), "REDIS_URL": self.valkey.url}
        return {name: url.replace("@127.0.0.1:", f"@{seen_at}:") for name, url in urls.items()}

    def cpu_seconds(self) -> float:
        assert self.postgres.process
        assert self.valkey.process
        return cpu_seconds(self.postgres.process.pid) + cpu_seconds(self.valkey.process.pid)


@contextmanager
def stores(folder: Path, machines: list[Link]) -> Iterator[Stores]:
    with ExitStack() as stack:
        postgres = ReachablePostgres(folder, machines).start()
        stack.callback(postgres.stop)
        valkey = Valkey(folder, durable=False).start()
        stack.callback(valkey.stop)
        with redis.Redis.from_url(valkey.url) as client:
            client.config_set("bind", " ".join(sorted({"127.0.0.1", *(link.stores for link in machines)})))
        postgres.create_database()
        yield Stores(postgres, valkey)


@dataclass
class Machine:
    """One group of programs: a tool server, a web host, a pool of workers and a dispatcher.

    And the SDK's server as it comes, to tell what a call costs more because the cores have more processes.
    """

    link: Link
    folder: Path
    environment: dict[str, str]
    bare_port: int
    programs: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def tools_url(self) -> str:
        return self._reached("MCP_URL")

    @property
    def web_url(self) -> str:
        return self._reached("WEB_URL")

    @property
    def bare_url(self) -> str:
        return f"http://{self.link.address}:{self.bare_port}"

    def _reached(self, name: str) -> str:
        return f"http://{self.link.address}:{urlsplit(self.environment[name]).port}"

    def _line(self, *words: str) -> list[str]:
        return [*self.link.enter, sys.executable, "-m", *words]

    def start(self, processes: int) -> None:
        serve = ("--host", "0.0.0.0", "--workers", str(processes), "--port")
        lines = {
            "auth_server": ("auth_server", *serve, self.web_url.rpartition(":")[2]),
            "mcp_server": ("mcp_server", *serve, self.tools_url.rpartition(":")[2]),
            "worker": ("jobs", "worker", "-n", str(processes)),
            "dispatcher": ("jobs", "dispatcher"),
            "bare": ("tests.bench.programs", "bare", str(self.bare_port), *serve[:-1]),
        }
        with (self.folder / "log").open("ab") as log:
            for name, words in lines.items():
                self.programs[name] = subprocess.Popen(
                    self._line(*words),
                    cwd=ROOT,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    preexec_fn=die_with_parent,
                )

    def run(self, *words: str) -> None:
        """One command of the command line, on this machine."""
        line = self._line("deploy.cli", *words, "--home", str(self.folder))
        done = subprocess.run(line, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")

    def await_ready(self) -> None:
        until = time.monotonic() + START_SECONDS
        for url in (self.web_url, self.tools_url, self.bare_url):
            while not self._is_ready(url):
                if time.monotonic() > until or any(one.poll() is not None for one in self.programs.values()):
                    raise SystemExit(
                        f"{url} did not start:\n{(self.folder / 'log').read_text(encoding='utf-8')[-3000:]}"
                    )
                threading.Event().wait(0.1)

    def _is_ready(self, url: str) -> bool:
        host = {"Host": urlsplit(self.environment["WEB_URL" if url == self.web_url else "MCP_URL"]).netloc}
        try:
            answer = httpx.get(f"{url}/readyz", headers=host, timeout=5, trust_env=False)
            return answer.status_code == (404 if url == self.bare_url else 200)
        except httpx.TransportError:
            return False

    def cpu_seconds(self, *names: str) -> float:
        return sum(cpu_seconds(self.programs[name].pid) for name in names)

    def stop(self) -> None:
        for program in self.programs.values():
            program.terminate()
        for program in self.programs.values():
            program.wait(120)
        self.programs.clear()


def build_machines(folder: Path, found: list[Link], shelf: Stores, **more: str) -> list[Machine]:
    """Both are told the same public addresses, as behind one proxy, and each its own way to the stores."""
    bare, *ports = (free_port() for _ in range(3))
    web, mcp = (f"http://127.0.0.1:{port}" for port in ports)
    made = []
    for link in found:
        home = folder / link.name
        home.mkdir()
        told = {"WEB_URL": web, "MCP_URL": f"{mcp}/mcp", "AUTH_INTERNAL_URL": web, "MCP_UPSTREAM_URL": mcp}
        told |= {"HOME": str(home), "SMTP_HOST": link.stores}
        made.append(Machine(link, home, os.environ | told | shelf.addresses(link.stores) | more, bare))
    return made
