"""Sentences about rain."""

from collections.abc import Mapping
from typing import Any


def title(facts: Mapping[str, Any]) -> str:
    return f"{facts['airport']}: rain"


def body(facts: Mapping[str, Any]) -> str:
    return f"It rains at {facts['airport']}."
