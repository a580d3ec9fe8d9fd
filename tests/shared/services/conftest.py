"""Fixtures of the services: live mode with sources made of functions, and fake providers of outside accounts."""

from tests.support.fake_accounts import outside, serving
from tests.support.fake_seats import live, with_sources

__all__ = ["live", "outside", "serving", "with_sources"]
