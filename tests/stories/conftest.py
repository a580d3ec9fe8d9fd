"""Fixtures of the stories: what a person asks, tool by tool, and the rows that stay."""

from tests.mcp_server.tools.conftest import people, use
from tests.support.fake_seats import live, with_sources

__all__ = ["live", "people", "use", "with_sources"]
