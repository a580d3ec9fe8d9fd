"""Everything the bench needs around it: databases, one account with cards and a token, and the programs, pinned."""

import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psycopg

from deploy.local.private_servers import Postgres, Valkey, free_port

if TYPE_CHECKING:
    from shared.db.base import Base

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = {"bare", "bare_fast", "ours", "auth", "echo"}
MODULES = ROOT / "tests" / "node" / "node_modules"
PEER = ROOT / "build" / "fastmcp" / "bin" / "python"  # contribute.md says how it is made
NODE, TYPESCRIPT_SDK = MODULES / ".bin" / "node", MODULES / "@modelcontextprotocol" / "sdk"
HEALTH = {"ours": "/readyz", "auth": "/readyz"}
CORES = sorted(os.sched_getaffinity(0))
TICK = os.sysconf("SC_CLK_TCK")


def present() -> set[str]:
    """The programs that can be started here; those of other kits only where they are installed."""
    others = {"peer": PEER.exists(), "typescript": NODE.exists() and TYPESCRIPT_SDK.exists()}
    return PROGRAMS | {name for name, found in others.items() if found}


def _command(name: str, port: int) -> list[str]:
    if name == "typescript":
        return [str(NODE), str(ROOT / "tests" / "node" / "trivial_server.mjs"), str(port)]
    python = str(PEER) if name == "peer" else sys.executable
    return [python, "-m", "tests.bench.programs", name, str(port)]


def pin_server(pid: int) -> None:
    if len(CORES) > 1:
        os.sched_setaffinity(pid, {CORES[0]})


def pin_load() -> None:
    if len(CORES) > 1:
        os.sched_setaffinity(0, set(CORES[1:]))


class Program:
    """One running server: its address and the processor time it has used."""

    def __init__(self, name: str, port: int, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.health = self.url + HEALTH.get(name, "/")
        with log.open("wb") as words:
            self.process = subprocess.Popen(_command(name, port), cwd=ROOT, stdout=words, stderr=words)
        pin_server(self.process.pid)

    def await_health(self, log: Path) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if httpx.get(self.health, trust_env=False).status_code != 503:
                    return
            except httpx.TransportError:
                threading.Event().wait(0.05)
        raise SystemExit(f"a program did not start:\n{log.read_text(encoding='utf-8')}")

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def programs(names: set[str]) -> Iterator[tuple[dict[str, Program], str]]:
    """The programs named, running, with an access token that is good at ours and at the auth server."""
    with tempfile.TemporaryDirectory(prefix="award_bench_") as folder, ExitStack() as stack:
        home = Path(folder)
        home.chmod(0o755)
        ports = {name: free_port() for name in names | {"auth", "ours"}}
        _surroundings(home, ports, stack)
        token = _account_with_token()
        running = {}
        for name in sorted(names):
            log = home / f"{name}.log"
            running[name] = Program(name, ports[name], log)
            stack.callback(running[name].stop)
        for name in sorted(names):
            running[name].await_health(home / f"{name}.log")
        yield running, token


def _surroundings(home: Path, ports: dict[str, int], stack: ExitStack) -> None:
    postgres = Postgres(home, durable=False).start()
    stack.callback(postgres.stop)
    valkey = Valkey(home, durable=False).start()
    stack.callback(valkey.stop)
    postgres.create_database("award")
    os.environ.update(
        DATABASE_URL=postgres.url("award"),
        REDIS_URL=valkey.url,
        SECRET_KEYS=secrets.token_hex(16),
        SERVICE_CLIENT_SECRET=secrets.token_hex(16),
        AWARD_BACKEND="sandbox",
        WEB_URL=f"http://127.0.0.1:{ports['auth']}",
        MCP_URL=f"http://127.0.0.1:{ports['ours']}/mcp",
        TOOL_CALLS_PER_DAY="1000000000",
        TOOL_CALLS_PER_MINUTE="1000000000",
    )


def _account_with_token() -> str:
    from shared.db.base import transaction
    from shared.db.oauth import Client
    from shared.db.schema import upgrade
    from shared.settings import settings

    upgrade(settings().database_url)
    with transaction() as session:
        session.add(Client(client_id="bench", kind="dcr", name="Bench", auth_method="none", redirect_uris=[]))
    return add_account("bench")


def add_account(name: str) -> str:
    """The access token of a new account with a few rows of each kind."""
    from shared import clock
    from shared.db.accounts import Account
    from shared.db.base import transaction
    from shared.db.oauth import AccessToken, Family
    from shared.secrets import digest, mint
    from shared.settings import SCOPE, settings

    token = mint("awt_at_")
    with transaction() as session:
        account = Account(public_id=f"acc_{name}", email=f"{name}@example.test", plan="premium")
        session.add(account)
        session.flush()
        session.add(Family(id=name, account_id=account.id, client_id="bench"))
        session.flush()
        expires = clock.now() + timedelta(hours=1)
        grant = {"family_id": name, "client_id": "bench", "scope": SCOPE, "resource": settings().mcp_url}
        session.add(AccessToken(token_hash=digest(token), expires_at=expires, **grant))
        account_id = account.id
    with transaction(account_id) as session:
        session.add_all(_few_rows(name))
    return token


def _few_rows(name: str) -> Iterator["Base"]:
    from shared import clock
    from shared.db.balances import PointsBalance
    from shared.db.cards import Card
    from shared.db.messages import Notification
    from shared.db.profile import Profile
    from shared.db.trips import Trip

    yield Profile(home_airport="LHR", default_cabin="business", currency="GBP", timezone="UTC")
    for number in range(5):
        yield Card(name=f"Card {number}", country="US", currency="USD", custom=True)
    for program in ("british-airways-club", "flying-blue", "virgin-atlantic-flying-club", "world-of-hyatt"):
        yield PointsBalance(program=program, member="", balance=50_000, as_of=clock.today())
    for number in range(3):
        yield Trip(name=f"Trip {number}", destination="Lisbon")
    for number in range(10):
        words = {"title": "Two seats in business", "body": "LHR to JFK on 3 May: 50,000 Avios and 300 GBP."}
        yield Notification(dedupe_key=f"{name} {number}", kind="route_monitor", link="/watches", **words)


def forget_cards() -> None:
    """Those that the bench added itself, so that each measurement of a write begins with as many rows."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database:
        database.execute("delete from cards where name like 'Bench %'")


def refresh_tokens(count: int) -> tuple[str, ...]:
    """So many fresh authorizations of the one account: their refresh tokens."""
    from shared.db.accounts import Account
    from shared.db.base import transaction
    from shared.db.oauth import Family, RefreshToken
    from shared.secrets import digest, mint
    from shared.settings import SCOPE, settings

    made = {secrets.token_hex(16): mint("awt_rt_") for _ in range(count)}
    grant = {"client_id": "bench", "scope": SCOPE, "resource": settings().mcp_url}
    with transaction() as session:
        account = session.query(Account).filter_by(public_id="acc_bench").one()
        session.add_all([Family(id=name, account_id=account.id, client_id="bench") for name in made])
        session.flush()
        session.add_all([RefreshToken(token_hash=digest(t), family_id=name, **grant) for name, t in made.items()])
    return tuple(made.values())
