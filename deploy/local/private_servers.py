"""A private PostgreSQL and a private Valkey in the home, on loopback, with random passwords."""

import contextlib
import errno
import os
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
from deploy.local.server_binaries import copy_where_readable, find_postgres, find_valkey, unprivileged_user
from shared.processes.worker_processes import die_with_parent

READY_SECONDS = 30


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do: a port just left is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise CommandError(
                    f"Port {port} of 127.0.0.1 cannot be opened ({error.strerror}): a service of this machine alone"
                    " listens there, and needs that address and a port that this user may open."
                ) from None
            return False
    return True


def free_port() -> int:
    """A port of loopback that no program holds.

    It lies below 32768, where systems start to number outgoing connections: such a connection could take it in the
    seconds until its server binds it.
    """
    for _ in range(1000):
        port = 10_000 + secrets.randbelow(22_000)
        if is_free(port):
            return port
    raise CommandError("No port from 10000 to 31999 is free on this machine.")


def _read_living_pid(lock: Path) -> int | None:
    """The living process a postmaster.pid names."""
    try:
        pid = int(lock.read_text(encoding="ascii").split()[0])
        os.kill(pid, 0)
    except (OSError, ValueError, IndexError):
        return None
    return pid


def _stop_process(process: subprocess.Popen[bytes] | None, *signs: int, seconds: float = 20) -> None:
    """Asks it to end, then forces it."""
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
        self.user = unprivileged_user()
        self.folder = self.visible_folder = home / "pg"
        self.open_folders: tuple[int, ...] = ()
        self.password = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Postgres":
        """Starts it and waits until it answers."""
        self.launch()
        return self.wait()

    def launch(self) -> "Postgres":
        self._prepare_folder()
        self.binaries = copy_where_readable(find_postgres(), self.user)
        self._initialise()
        with self.log.open("ab") as sink:
            self.process = subprocess.Popen(
                [
                    self.binaries / "postgres",
                    "-D",
                    self.visible_folder / "data",
                    "-p",
                    str(self.port),
                    *self._options(),
                ],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
                start_new_session=True,
                **self._popen_options,
            )
        return self

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def _popen_options(self) -> dict[str, Any]:
        """How its programs run: a clean environment, and as root as someone else, with the folder already open."""
        clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
        return {"env": clean, "cwd": "/", "pass_fds": self.open_folders, **self.user}

    def _chown(self, path: Path) -> None:
        if self.user:
            os.chown(path, self.user["user"], self.user["group"])

    def _prepare_folder(self) -> None:
        """Root passes the open folder by descriptor: its path may lead through folders only root may enter."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._chown(self.folder)
        self.folder.chmod(0o700)
        self.log.touch(mode=0o600)
        if self.user and sys.platform.startswith("linux") and not self.open_folders:
            self.open_folders = (os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY),)
            self.visible_folder = Path(f"/proc/self/fd/{self.open_folders[0]}")

    def _major(self) -> int:
        out = subprocess.run(
            [self.binaries / "postgres", "-V"],
            capture_output=True,
            encoding="utf-8",
            check=True,
            cwd="/",
            **self.user,
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
        self._chown(self.folder / "pw")
        self._make_data()
        (self.folder / "pw").unlink()

    def _make_data(self) -> None:
        """Makes the folder under another name first: an interrupted start leaves nothing that looks like a database."""
        data, new = (self.folder / name for name in ("data", "data.new"))
        shutil.rmtree(new, ignore_errors=True)
        locale = ["--locale=C"]
        if self._major() >= 17:
            locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command: list[str | Path] = [
            self.binaries / "initdb",
            "-D",
            self.visible_folder / new.name,
            "-U",
            "award",
            "-E",
            "UTF8",
            *locale,
        ]
        command += ["-A", "scram-sha-256", f"--pwfile={self.visible_folder / 'pw'}", "--no-instructions"]
        command += [] if self.durable else ["--no-sync"]
        process = subprocess.run(command, capture_output=True, encoding="utf-8", **self._popen_options)
        if process.returncode:
            raise CommandError(f"PostgreSQL could not create its data folder: {process.stderr.strip()[-300:]}")
        new.rename(data)

    def _check_major(self, data: Path) -> None:
        version, running_version = int((data / "PG_VERSION").read_text(encoding="ascii")), self._major()
        if version != running_version:
            raise CommandError(
                f"{data} was made by PostgreSQL {version} and this is {running_version}: "
                f"dump it with pg_dump {version} and load it into a new --home."
            )

    @staticmethod
    def _await_end_of_another(data: Path) -> None:
        """Waits for the PostgreSQL of a killed supervisor, which outlives it briefly; then PostgreSQL decides."""
        until = time.monotonic() + 10
        while _read_living_pid(data / "postmaster.pid") and time.monotonic() < until:
            time.sleep(0.05)

    def _options(self) -> list[str]:
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "100",
            "jit": "off",
        }
        if not self.durable:
            options |= dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes", "autovacuum"), "off")
            options |= {"shared_buffers": "128MB", "max_wal_size": "4GB"}
            options |= {"checkpoint_timeout": "1h", "max_connections": "300"}
        return [part for name, value in options.items() for part in ("-c", f"{name}={value}")]

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
        _stop_process(
            self.process, signal.SIGINT, signal.SIGQUIT
        )  # fast shutdown flushes; the immediate one recovers later
        for number in self.open_folders:
            os.close(number)
        self.open_folders = ()


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
        self.folder.chmod(0o700)  # earlier releases made it readable to others
        config = self.folder / "valkey.conf"
        for file in (config, self.folder / "log"):
            file.touch(mode=0o600)
        config.write_text(
            f'bind 127.0.0.1\nport {self.port}\ndir "{self.folder}"\nsave ""\n'
            f"appendonly {'yes' if self.durable else 'no'}\nappendfsync everysec\n"
            f"requirepass {self.password}\nmaxmemory 256mb\nmaxmemory-policy noeviction\ndatabases 64\n",
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
                umask=0o077,
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
        _stop_process(self.process, signal.SIGTERM)
