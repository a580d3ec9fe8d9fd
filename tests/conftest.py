"""Real PostgreSQL, a Valkey for each worker, a migrated template cloned for each worker, loopback sockets only."""

import gc
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

# How long an example takes depends on the machine: what a test may take is held in `own_time`, by processor.
hypothesis_settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("suite")

pytest_plugins = [
    "tests.support.service",
    "tests.support.settings_and_clock",
    "tests.support.requirements",
    "tests.support.quick_passwords",
    "tests.support.own_time",
    "tests.support.lock_order",
    "tests.support.reports",
]  # `service`; settings and clock; what cannot run
SETTINGS = {
    "SECRET_KEYS": "test-key-one-0123456789abcdef-0123,test-key-zero-0123456789abcdef-0123",
    "SERVICE_CLIENT_SECRET": "test-service-secret-0123456789-01",
    "AWARD_BACKEND": "sandbox",
    "APP_ENV": "development",
    "GATHER_SECONDS": "0",
    "TOOL_CALLS_PER_MINUTE": "100000",  # the minute of a test run never ends, its clock stands
}
_LOOPBACK = ("127.", "::1", "localhost")


def pytest_addoption(parser: Any) -> None:
    parser.addoption(
        "--snaps", choices=("check", "write"), default="check", help="write: renew the snapshots of the tools"
    )


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a third of its time a worker waits for a browser, a database or a program."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: Any) -> None:
    gc.disable()
    os.environ.update(SETTINGS)
    _start_valkey(config)
    config.servers = config.workerinput["servers"] if hasattr(config, "workerinput") else _start_postgres(config)
    database = f"shared_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    with psycopg.connect(config.servers["postgres"], autocommit=True) as admin:
        admin.execute(f"drop database if exists {database} with (force)")
        admin.execute(f"create database {database} template award_template strategy file_copy")
    os.environ["DATABASE_URL"] = _sibling(config.servers["postgres"], database)


def pytest_collection_finish() -> None:
    """As the servers do: no collection walks what was loaded. A sixth of the whole run's processor time was that."""
    from shared.processes.garbage_collection import freeze_startup_objects

    freeze_startup_objects()


def _sibling(url: str, database: str) -> str:
    return url.rsplit("/", 1)[0] + "/" + database


def _start_valkey(config: Any) -> None:
    """Each worker has its own: what is published reaches all who listen, whichever database they chose."""
    from deploy.local.private_servers import Valkey

    roomy = os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30
    config.award_home = Path(tempfile.mkdtemp(prefix="award_test_", dir="/dev/shm" if roomy else None))
    config.award_home.chmod(0o755)
    config.award_servers = [Valkey(config.award_home, durable=False).start()]
    os.environ["REDIS_URL"] = config.award_servers[0].url


def _start_postgres(config: Any) -> dict[str, str]:
    from deploy.local.private_servers import Postgres
    from shared.db.schema import upgrade
    from tests.support.settings_and_clock import install_database_clock, stand_at_noon

    postgres = Postgres(config.award_home, durable=False).start()
    config.award_servers.append(postgres)
    install_database_clock(postgres.url("template1"))
    postgres.create_database("award_template")
    os.environ["DATABASE_URL"] = postgres.url("award_template")
    with stand_at_noon():  # partitions are made for the days around it
        upgrade(postgres.url("award_template").replace("postgresql://", "postgresql+psycopg://"))
    return {"postgres": postgres.url("postgres")}


def pytest_unconfigure(config: Any) -> None:
    for server in reversed(getattr(config, "award_servers", [])):
        server.stop()
    if hasattr(config, "award_home"):
        shutil.rmtree(config.award_home, ignore_errors=True)


class _Workers:
    @staticmethod
    def pytest_configure_node(node: Any) -> None:
        node.workerinput["servers"] = node.config.servers


def pytest_plugin_registered(plugin: Any, manager: Any) -> None:
    if manager.hasplugin("dsession") and not manager.hasplugin("award_workers"):
        manager.register(_Workers(), "award_workers")


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Any socket to anywhere but this machine is a failure, not a time-out."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test reached for {address}")
        connect(self, address)

    def looked_up(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not str(name).startswith(_LOOPBACK):
            raise socket.gaierror(f"a test looked up {name}")
        return resolve(host, *args, **more)

    socket.socket.connect = guarded  # type: ignore[assignment,method-assign]
    socket.getaddrinfo = looked_up
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]
    socket.getaddrinfo = resolve


@pytest.fixture(autouse=True, scope="session")
def patience() -> Iterator[None]:
    """The programs of a test wait for each other as long as a busy machine needs: a second's standstill between two of
    their threads is no outage."""
    import httpx

    from shared import internal_api

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(internal_api, "TIMEOUT", httpx.Timeout(60))
        yield


_numbers = itertools.count()


@contextmanager
def copied_database(config: Any, template: str = "award_template") -> Iterator[str]:
    """A private copy of a database to which nothing is connected: its address."""
    name = f"t_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{next(_numbers)}"
    with psycopg.connect(config.servers["postgres"], autocommit=True) as admin:
        admin.execute(f"create database {name} template {template} strategy file_copy")
        yield _sibling(config.servers["postgres"], name)
        admin.execute(f"drop database {name} with (force)")


@pytest.fixture
def fresh_database(pytestconfig: Any) -> Iterator[str]:
    """A private migrated database for tests that start their own programs: its address."""
    with copied_database(pytestconfig) as url:
        yield url


HEAP = 1 << 18  # bytes of one table from which on truncating is cheaper than what deleted rows leave behind


_emptying: dict[str, psycopg.Connection] = {}


def _connect_to_empty(url: str) -> psycopg.Connection:
    """A connection for this alone: under its role no row deleted asks the tables that refer to it, and the plans of
    the function, which the change of a role throws away, are made once."""
    if url in _emptying and not _emptying[url].closed:
        return _emptying[url]
    import shared.db.migrations  # noqa: F401 - registers every table
    from shared.db.base import Base

    names = [table.name for table in Base.metadata.sorted_tables]
    tables = "pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"  # partitions too
    large = f"(select max(pg_relation_size(oid)) from {tables}) > {HEAP}"
    deletes = " ".join(f"delete from {name};" for name in names)
    quick = f"lock table {', '.join(names)} in exclusive mode; {deletes}"
    quick += " perform setval(seqrelid, 1, false) from pg_sequence;"
    thorough = f"truncate {', '.join(names)} restart identity cascade;"
    connection = _emptying[url] = psycopg.connect(url, autocommit=True)
    connection.execute("set session_replication_role = replica")
    connection.execute(
        "create function pg_temp.empty_tables() returns void language plpgsql as "
        f"$$ begin if {large} then {thorough} else {quick} end if; end $$"
    )
    return connection


@pytest.fixture
def clean() -> Iterator[None]:
    """Everything committed by the test is gone after it: all tables emptied, Valkey flushed.

    To delete takes 2 ms where to truncate takes 30, as long as the tables are small.
    """
    yield
    empty_tables()


def empty_tables() -> None:
    import shared.redis
    from shared import limits
    from shared.db.base import engine

    url = engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    for last in (False, False, True):
        try:
            _connect_to_empty(url).execute("select pg_temp.empty_tables()", prepare=True)
            break
        except psycopg.OperationalError:  # a program left running writes meanwhile, or the connection was lost
            if last:
                raise
    shared.redis.connect().flushdb()
    shared.redis._away_until = 0.0
    limits._memory.clear()  # what Redis is still to hear of
