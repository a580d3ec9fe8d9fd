"""The home of one installation: the folder with its lock, secrets, ports, outbox, logs and running state."""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.errors import FULL_DISK, CommandError, build_write_fault

RUNNING = "running.json"
DEMO = "demo@example.com"  # of a local installation
PORTS = {"web": 8000, "mcp": 8001}


def default_home() -> Path:
    """Root's programs keep their state where the unprivileged users they switch to usually have access."""
    if os.geteuid() == 0:
        return Path("/var/lib/award-travel")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(data) / "award-travel"


def login_folder() -> Path:
    """The folder where the user's side of the command line keeps its login: a person's, not an installation's."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "award-travel"


def write_private(path: Path, text: str) -> None:
    """Writes the whole file or none, from the first byte readable only by its owner."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as sink:
        sink.write(text)
    new.replace(path)


@dataclass(frozen=True)
class Home:
    """One folder that holds everything an installation keeps outside its database server."""

    path: Path

    @property
    def outbox(self) -> Path:
        return self.path / "outbox"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics"

    @property
    def demo_password(self) -> Path:
        return self.path / "demo-password"

    def prepare(self) -> "Home":
        """Makes the folders; refuses a home that cannot be read and written."""
        try:
            for folder in (self.path, self.outbox, self.logs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self.path / "lock").open("a", encoding="utf-8"):
                return self
        except OSError as error:
            if error.errno in FULL_DISK:
                raise build_write_fault(self.path, error, "") from None
            raise CommandError(
                f"The home {self.path} cannot be used ({error.strerror}): "
                "choose another with --home DIR, or mend its permissions."
            ) from None

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Holds the home's lock; yields False when another process holds it. The lock ends with the process."""
        with (self.path / "lock").open("a", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def running(self) -> dict[str, Any] | None:
        """The facts of the service running on this home; trusted only while its lock is held."""
        if not (self.path / RUNNING).exists():
            return None
        with self.alone() as free:
            if free:
                return None
        facts: dict[str, Any] = json.loads((self.path / RUNNING).read_text(encoding="utf-8"))
        return facts

    def secrets(self) -> dict[str, str]:
        """Secrets made once and kept in the home; values of the environment win."""
        from shared.variables import read_variable  # only when `shared` is known to be ours

        names = ("SECRET_KEYS", "SERVICE_CLIENT_SECRET", "METRICS_TOKEN")
        stored = self._read_json("secrets.json")
        if set(names) - set(stored):
            stored = {name: secrets.token_urlsafe(32) for name in names} | stored
            write_private(self.path / "secrets.json", json.dumps(stored, indent=2))
        return {name: read_variable(name) or stored[name] for name in names}

    def ports(self) -> dict[str, int]:
        """The ports chosen once because 0 was asked for."""
        return {name: int(port) for name, port in self._read_json("ports.json").items()}

    def keep_port(self, name: str, port: int) -> None:
        write_private(self.path / "ports.json", json.dumps(self.ports() | {name: port}))

    def _read_json(self, name: str) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise CommandError(f"{self.path / name} cannot be read: mend it, or choose another --home.") from None
        return content
