"""A PostgreSQL and its synchronous standby, of which the second takes over when the first is shot."""

import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType

import psycopg

from deploy.local.private_servers import Postgres
from deploy.local.server_binaries import copy_where_readable, find_postgres
from tests.support.service import wait_for


class PostgresPair:
    """Both run from the beginning of the block to its end; each commit waits until the standby has written it down."""

    def __init__(self, folder: Path) -> None:
        self.primary, self.standby = (Postgres(folder / name) for name in ("first", "second"))

    def __enter__(self) -> "PostgresPair":
        for server in (self.primary, self.standby):
            server.home.mkdir()
        self.primary.start()
        try:
            self.primary.create_database()
            self._copy()
            self.standby.start()
            self._demand_standby()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for server in (self.standby, self.primary):
            server.stop()

    def _copy(self) -> None:
        """pg_basebackup with -R writes down how the copy is reached as a standby."""
        standby = self.standby
        standby._prepare_folder()
        program = copy_where_readable(find_postgres(), standby.user) / "pg_basebackup"
        words = [program, "-D", standby.visible_folder / "data", "-d", self.primary.url("postgres"), "-R", "-c", "fast"]
        subprocess.run(words, check=True, **standby._popen_options)
        (standby.home / "pg.password").write_text(self.primary.password, encoding="ascii")

    def _demand_standby(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("alter system set synchronous_standby_names = '*'")
            connection.execute("alter system set wal_keep_size = '64MB'")  # pg_rewind reads what went before
            connection.execute("select pg_reload_conf()")
        wait_for("a synchronous standby", self._is_synchronous)

    def _is_synchronous(self) -> bool:
        with psycopg.connect(self.url) as connection:
            return connection.execute("select sync_state from pg_stat_replication").fetchall() == [("sync",)]

    @property
    def url(self) -> str:
        """Of whichever of the two can be written to, as libpq writes it."""
        ports = (self.primary.port, self.standby.port)
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        options = "target_session_attrs=read-write&connect_timeout=3"
        return f"postgresql://award:{self.primary.password}@{hosts}/award?{options}"

    def fail_over(self) -> None:
        """Kills the primary with all its sessions in one blow, and promotes the standby."""
        assert self.primary.process
        os.killpg(self.primary.process.pid, signal.SIGKILL)
        self.primary.process.wait()
        with psycopg.connect(self.standby.url("postgres"), autocommit=True) as connection:
            row = connection.execute("select pg_promote()").fetchone()
        assert row == (True,)

    def bring_back(self) -> None:
        """The old primary becomes the synchronous standby of the new one, by pg_rewind."""
        old = self.primary
        program = copy_where_readable(find_postgres(), old.user) / "pg_rewind"
        words = [program, "-D", old.visible_folder / "data", "--source-server", self.standby.url("postgres"), "-R"]
        subprocess.run(words, check=True, capture_output=True, **old._popen_options)
        old.start()
        self._demand_standby()
