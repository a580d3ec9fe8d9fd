"""A database in which every table has rows, made once and copied for each test that asks for it."""

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import NullPool
from sqlalchemy.orm import Session

from shared.db.base import own
from shared.secrets import seal
from shared.settings import settings
from tests.conftest import copied_database
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.shared.db.fill import fill
from tests.support.settings_and_clock import stand_at_noon


def engine_of(url: str) -> sa.Engine:
    return sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)


@pytest.fixture(scope="session")
def filled_once(pytestconfig: Any) -> Iterator[str]:
    """Two rows of every kind, one account that keeps something of everything, and a sealed signing key."""
    with copied_database(pytestconfig) as url:
        with stand_at_noon():  # no longer than this: the tests here have programs on the machine's clock
            engine = engine_of(url)
            fill(engine, 1)
            fill(engine, 2)
            sealed = seal(settings().encryption_keys[-1], "private")
            mode = "update service_facts set name = 'data_mode', value = 'sandbox' where name ~ ' 1 '"
            with engine.begin() as connection:
                connection.execute(sa.text(mode))
                connection.execute(sa.text("update signing_keys set private_sealed = :sealed"), {"sealed": sealed})
            with Session(engine) as session, session.begin():
                store_rows(own(session, 1, "sandbox"), rows_of_every_kind())
        yield url


@pytest.fixture
def filled(pytestconfig: Any, filled_once: str) -> Iterator[str]:
    """A copy of its own of that database: to write the rows takes ten times as long as to copy them."""
    with copied_database(pytestconfig, filled_once.rsplit("/", 1)[1]) as url:
        yield url
