"""Connections without a pooler carry their timeouts; behind one the role does, and nothing is prepared."""

from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa

from deploy.backups.postgres_programs import Server
from deploy.database.direct_database import read_direct_url, update_tables
from deploy.doctor.stores import check_database
from deploy.errors import CommandError
from shared.db import base
from shared.db.base import engine
from shared.db.pooling import GUARDS, NETWORK, build_connect_args, store_guards
from shared.settings import SettingsError, settings
from shared.settings.checks import driver_url
from tests.support.settings_and_clock import Configure

POOLER, DIRECT = "postgresql://a:b@pooler:6432/d", "postgresql://a:b@database/d"


def read_timeouts(connection: "psycopg.Connection[object]") -> list[str]:
    statement = "select setting from pg_settings where name = any(%s) order by name"
    return [str(row[0]) for row in connection.execute(statement, [[*GUARDS]]).fetchall()]  # type: ignore[index]


def test_without_a_pooler_a_connection_brings_its_timeouts_and_prepares_statements() -> None:
    arguments = build_connect_args(statement_timeout="5000", TimeZone="UTC")
    assert (
        arguments
        == {
            "application_name": "award-travel",
            "options": "-c statement_timeout=5000 -c TimeZone=UTC",
        }
        | NETWORK
    )
    with engine().connect() as connection:
        assert connection.exec_driver_sql("show statement_timeout").scalar_one() == "15s"
        assert connection.connection.driver_connection.prepare_threshold == 5  # type: ignore[union-attr]


def test_behind_a_pooler_a_connection_sets_and_prepares_nothing(configure: Configure) -> None:
    configure(DATABASE_POOLING="transaction", DATABASE_DIRECT_URL=DIRECT)
    assert build_connect_args(**GUARDS) == {"application_name": "award-travel", "prepare_threshold": None} | NETWORK


def test_a_database_that_vanished_without_a_word_is_given_up_soon_and_the_address_may_say_when(
    configure: Configure,
) -> None:
    assert NETWORK["connect_timeout"] <= 5
    configure(DATABASE_URL="postgresql://a:b@c/d?connect_timeout=2&keepalives_idle=60")
    arguments = build_connect_args(**GUARDS)
    assert "connect_timeout" not in arguments
    assert "keepalives_idle" not in arguments
    assert arguments["tcp_user_timeout"] == NETWORK["tcp_user_timeout"]


def test_migrate_makes_the_timeouts_defaults_of_the_role_and_backups_are_free_of_them(
    fresh_database: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_tables(driver_url(fresh_database))
    with psycopg.connect(fresh_database) as connection:
        assert read_timeouts(connection) != ["UTC", "30000", "5000", "15000"]
    monkeypatch.setenv("DATABASE_POOLING", "transaction")
    update_tables(driver_url(fresh_database))
    with psycopg.connect(fresh_database) as connection:
        assert sorted(read_timeouts(connection)) == ["15000", "30000", "5000", "UTC"]
    with Server.from_url(fresh_database).connect() as unlimited:
        assert sorted(read_timeouts(unlimited)) == ["0", "0", "0", "UTC"]
    update_tables(driver_url(fresh_database))  # a second time, on the role as it is now


def test_a_migration_has_no_timeout_of_the_role(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from shared.db.schema import upgrade

    store_guards(fresh_database)
    timeouts: list[str] = []

    def note(connection: sa.Connection, _cursor: object, statement: str, *_: object) -> None:
        if statement.strip().lower().startswith("create table accounts"):
            timeouts.append(str(connection.exec_driver_sql("show statement_timeout").scalar_one()))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        with psycopg.connect(fresh_database, autocommit=True) as connection:
            connection.execute("drop schema public cascade")
            connection.execute("create schema public")
        upgrade(driver_url(fresh_database))
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    assert timeouts == ["0"]


def test_commands_that_need_a_session_never_take_the_pooler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", POOLER)
    assert read_direct_url() == POOLER
    monkeypatch.setenv("DATABASE_POOLING", "transaction")
    with pytest.raises(CommandError, match="needs DATABASE_DIRECT_URL"):
        read_direct_url()
    monkeypatch.setenv("DATABASE_DIRECT_URL", f"'{DIRECT}'")
    assert read_direct_url() == DIRECT


def test_the_way_past_the_pooler_is_asked_for_at_the_start(configure: Configure) -> None:
    configure(DATABASE_URL=POOLER, DATABASE_POOLING="transaction")
    with pytest.raises(SettingsError, match="needs DATABASE_DIRECT_URL"):
        settings()
    configure(DATABASE_DIRECT_URL=DIRECT)
    assert settings().direct_url == driver_url(DIRECT)


@pytest.mark.parametrize(
    ("written", "hosts", "ports"),
    [
        ("postgresql://a:b@one:5433,two/d?target_session_attrs=read-write", "one,two", "5433,5432"),
        ("postgres://a:b@one,two:6000,three/d", "one,two,three", "5432,6000,5432"),
    ],
)
def test_several_hosts_are_written_as_libpq_has_them(written: str, hosts: str, ports: str) -> None:
    url = sa.make_url(driver_url(written))
    _, arguments = url.get_dialect()().create_connect_args(url)
    assert (arguments["host"], arguments["port"]) == (hosts, ports)
    assert (url.username, url.password, url.database) == ("a", "b", "d")
    assert arguments.get("target_session_attrs") == ("read-write" if "?" in written else None)
    assert psycopg.conninfo.conninfo_to_dict(driver_url(written).replace("+psycopg", ""))["host"] == hosts
    assert driver_url("postgresql://a:b@one/d?x=1") == "postgresql+psycopg://a:b@one/d?x=1"


@pytest.fixture
def pooled(fresh_database: str, configure: Configure) -> Iterator[str]:
    """The database of this process, as behind a pooler."""
    base.engine().dispose()
    base.engine.cache_clear()
    configure(DATABASE_URL=fresh_database, DATABASE_POOLING="transaction", DATABASE_DIRECT_URL=fresh_database)
    yield fresh_database
    base.engine().dispose()
    base.engine.cache_clear()


def test_doctor_finds_a_role_without_timeouts_behind_a_pooler(pooled: str) -> None:
    with pytest.raises(CommandError, match="no time limit for statements: award-travel migrate"):
        check_database()
    store_guards(pooled)
    base.engine().dispose()
    assert "answers, tables at version" in check_database()
