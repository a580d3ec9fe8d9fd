"""Days counted from today: the clock of a test stands, so they stay the same for its whole length."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from shared import clock


def days_ahead(days: int) -> date:
    return clock.today() + timedelta(days=days)


def iso_days_ahead(days: int) -> str:
    return days_ahead(days).isoformat()


def evaluate(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a parametrized test with those computed that are callables, such as days counted from today."""
    return {name: value() if callable(value) else value for name, value in arguments.items()}
