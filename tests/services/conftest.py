"""Fixtures of the services: live mode with sources made of functions."""

from tests.sources import live, with_sources

__all__ = ["live", "with_sources"]
