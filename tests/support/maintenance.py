"""Maintenance switched on for one test, as every program of this process sees it."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from shared import clock
from shared.db.base import engine, transaction
from shared.db.maintenance import WATCH, Maintenance, begin_maintenance, end_maintenance

Maintain = Callable[..., Maintenance]


@pytest.fixture
def maintain(clean: None) -> Iterator[Maintain]:
    """maintain(message, minutes=...) switches it on; it is off again after the test."""

    def begin(message: str = "", minutes: int | None = None) -> Maintenance:
        until = clock.now() + timedelta(minutes=minutes) if minutes is not None else None
        with transaction() as session:
            begin_maintenance(session, Maintenance(clock.now(), message, until))
        WATCH.refresh(engine())
        assert WATCH.current is not None
        return WATCH.current

    yield begin
    with transaction() as session:
        end_maintenance(session)
    WATCH.refresh(engine())
