"""deploy/docs/backups.md: each of its commands is run as it stands there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy.local.private_servers import free_port
from deploy.local.server_binaries import copy_where_readable, find_postgres, unprivileged_user
from shared.db.schema import upgrade

PAGE = (Path(__file__).parents[2] / "deploy" / "docs" / "backups.md").read_text(encoding="utf-8")
BLOCKS = [
    (title, block)
    for title, text in re.findall(r"^## (.+?)$(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
]
pytestmark = [pytest.mark.e2e, pytest.mark.slow]  # programs are started


def _run(block: str, **settings: Any) -> str:
    """As a shell runs what is pasted into it, and stops at the first fault."""
    environment = {**os.environ, **settings.pop("environment")}
    done = subprocess.run(
        ["sh", "-eu"],
        input=block,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **settings,
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _find_blocks(title: str) -> list[str]:
    blocks = [block for heading, block in BLOCKS if heading == title]
    assert blocks, title
    return blocks


def test_the_commands_of_the_service_do_what_the_page_says(fresh_database: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    environment = {"DATABASE_URL": fresh_database, "BACKUP_FOLDER": str(tmp_path / "folder")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for block in _find_blocks("Back up"):
        assert "everything the service holds" in _run(block, environment=environment)
    files = sorted(file.name for file in (tmp_path / "folder").iterdir())
    assert len(files) == 2
    environment["BACKUP_FILE"] = str(tmp_path / "folder" / files[0])
    assert "can be restored" in _run(*_find_blocks("Rehearse"), environment=environment)
    assert "0 accounts restored" in _run(*_find_blocks("Restore"), environment=environment)
    assert "Sealed again" in _run(*_find_blocks("Rotate keys"), environment=environment)


@pytest.fixture
def cluster() -> Iterator[dict[str, Any]]:
    """A PostgreSQL of its own that the page's commands may restart: how to run programs next to it, and where it is."""
    folder = Path(tempfile.mkdtemp(prefix="award_recovery_"))
    user = unprivileged_user()
    if user:
        os.chown(folder, user["user"], user["group"])
    binaries = copy_where_readable(find_postgres(), user)
    port, recovered_port = free_port(), free_port()
    environment = {name: str(folder / name.lower()) for name in ("PGDATA", "WAL_ARCHIVE", "BASE", "RECOVERED")}
    environment |= {"PATH": f"{binaries}:/usr/bin:/bin", "RECOVERED_PORT": str(recovered_port)}
    environment["ADMIN_URL"] = f"postgresql://award@127.0.0.1:{port}/postgres"
    how = {"environment": environment, "cwd": folder, **user}
    settings = f"port={port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories=''\n"
    first = 'initdb -U award -E UTF8 --locale=C -A trust --no-sync -D "$PGDATA"; mkdir "$WAL_ARCHIVE"'
    _run(f'{first}; printf "{settings}" >> "$PGDATA/postgresql.conf"; {_start("PGDATA")}', **how)
    try:
        yield how
    finally:
        for name in ("PGDATA", "RECOVERED"):
            if (folder / name.lower() / "postmaster.pid").exists():
                _run(f'pg_ctl stop -m immediate -D "${name}"', **how)
        shutil.rmtree(folder)


def _start(name: str) -> str:
    return f'pg_ctl start -w -D "${name}" -l log'


def _quieten(block: str) -> str:
    """A server that is started keeps the pipes open that the test reads to their end."""
    return re.sub(r"^(pg_ctl (?:re)?start.*)$", r"\1 -l log", block, flags=re.M)


def _add_account(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into accounts (public_id, email) values (%s, %s)", (name, f"{name}@example.test"))


def _list_accounts(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [name for (name,) in connection.execute("select public_id from accounts order by id")]


def test_the_service_goes_back_to_a_moment_before_a_mistake(cluster: dict[str, Any]) -> None:
    admin = cluster["environment"]["ADMIN_URL"]
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("create database award")
    url = admin.replace("/postgres", "/award")
    upgrade(url.replace("postgresql:", "postgresql+psycopg:"))
    _run(_quieten(*_find_blocks("Point-in-time recovery: keep the log")), **cluster)
    _add_account(url, "before-the-base")
    _run(*_find_blocks("Point-in-time recovery: a base"), **cluster)
    _add_account(url, "after-the-base")
    with psycopg.connect(url, autocommit=True) as connection:
        (moment,) = connection.execute("select clock_timestamp()::text").fetchone() or ("",)
        connection.execute("truncate accounts cascade")  # the mistake
    assert _list_accounts(url) == []
    cluster["environment"]["MOMENT"] = moment
    _run('pg_ctl stop -m fast -D "$PGDATA"', **cluster)  # archives what is left of the log
    _run(_quieten(*_find_blocks("Point-in-time recovery: back to a moment")), **cluster)
    recovered = url.replace(re.search(r":(\d+)/", url)[1], cluster["environment"]["RECOVERED_PORT"])  # type: ignore[index]
    assert _list_accounts(recovered) == ["before-the-base", "after-the-base"]
