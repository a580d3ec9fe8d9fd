"""The rows of the bench fit the tables, and the person has as many of them whatever their number."""

from datetime import date

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.base import engine, transaction
from shared.db.call_figures import CallCount
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - rows name rows of other tables
from shared.db.route_monitors import RouteMonitor
from shared.db.usage import ToolCall
from tests.bench.service_rows import OWN, TABLES, write_figures, write_service_rows
from tests.support.people import account


@pytest.mark.parametrize("rows", [OWN, 3 * OWN])
def test_the_person_keeps_as_many_rows_whatever_their_number(clean: None, rows: int) -> None:
    alice = account("alice")
    with transaction(alice.account_id) as session:
        day = date(2031, 1, 1)
        session.add(RouteMonitor(origin="LHR", destination="JFK", earliest_date=day, latest_date=day))
    with Session(engine()) as session:
        write_service_rows(session, alice.account_id, 7, rows)
        write_figures(session)
    with transaction() as session:
        for table in TABLES:
            assert session.scalar(sa.text(f"select count(*) from {table}")) == rows
        seen = sa.text(
            "select count(*) from award_observations where origin = 'LHR' and seen_at > now() - interval '12 days'"
        )
        assert session.scalar(seen) == 47
        own = sa.select(sa.func.count()).where(ToolCall.account_id == alice.account_id)
        assert session.scalar(own) == OWN
        assert session.scalar(sa.select(sa.func.sum(CallCount.calls))) == rows
        assert session.scalar(sa.text("select count(*) from tool_calls_default")) == 0
