"""Fixtures of the stories: what a person asks, tool by tool, on the day they were written, and the rows that stay."""

from datetime import UTC, datetime

import pytest

from tests.mcp_server.tools.conftest import people, use
from tests.support.fake_seats import live, with_sources
from tests.support.settings_and_clock import StandingClock

__all__ = ["live", "people", "use", "with_sources"]


@pytest.fixture(autouse=True)
def _told_on_one_day(standing_clock: StandingClock) -> None:
    """The days people name in them lie before and after it, so that none of them is past one day."""
    standing_clock.set(datetime(2026, 11, 24, 12, tzinfo=UTC))
