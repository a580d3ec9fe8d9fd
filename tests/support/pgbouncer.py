"""A PgBouncer of the machine in front of a PostgreSQL, which lends its connections for one transaction each."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from deploy.local.private_servers import free_port
from deploy.local.processes import die_with_parent
from deploy.local.server_binaries import unprivileged_user
from tests.support.service import wait_for

CONNECTIONS = 4  # to PostgreSQL; far fewer than the programs open, so that each is lent to all of them
CONFIGURATION = """[databases]
* = host=127.0.0.1 port={postgres_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
auth_type = scram-sha-256
auth_file = {folder}/users
admin_users = {user}
"""


@contextmanager
def pgbouncer(postgres_url: str) -> Iterator[str]:
    """The address of the same database through PgBouncer."""
    server, port = conninfo_to_dict(postgres_url), free_port()
    with tempfile.TemporaryDirectory(prefix="award_pgbouncer_") as place:
        _write_files(Path(place), server, port)
        with _running(Path(place), postgres_url.replace(f":{server['port']}/", f":{port}/")) as url:
            yield url


def _write_files(folder: Path, server: dict[str, Any], port: int) -> None:
    """Readable by anyone who it runs as: it refuses root."""
    folder.chmod(0o755)
    files = {"users": f'"{server["user"]}" "{server["password"]}"\n'}
    files["ini"] = CONFIGURATION.format(
        postgres_port=server["port"],
        port=port,
        connections=CONNECTIONS,
        folder=folder,
        user=server["user"],
    )
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


@contextmanager
def _running(folder: Path, url: str) -> Iterator[str]:
    with (folder / "log").open("wb") as log:
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        process = subprocess.Popen(
            [program, folder / "ini"],
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent,
            cwd="/",
            **unprivileged_user(),
        )
        try:
            wait_for("PgBouncer", lambda: _answers(url) or process.poll() is not None)
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(90)


def reconnect(url: str) -> None:
    """Its connections to PostgreSQL are opened again, as the role is now; each at the end of its transaction."""
    with psycopg.connect(url.rpartition("/")[0] + "/pgbouncer", autocommit=True) as console:
        console.execute("reconnect")


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, prepare_threshold=None).close()
    except psycopg.OperationalError:
        return False
    return True
