"""Fixtures of the stories: what a person asks, tool by tool, on the day they were written, and the rows that stay."""

import pytest

from tests.mcp_server.tools.conftest import people, use
from tests.support.fake_seats import live, with_sources

__all__ = ["live", "people", "use", "with_sources"]


@pytest.fixture(autouse=True)
def _told_on_one_day(on_day_of_writing: None) -> None:
    """The days people name in them lie before and after it, so that none of them is past one day."""
