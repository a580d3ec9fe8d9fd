"""Overrides: cells of the sandbox set on purpose, for tests and demonstrations.

They live in Redis, so that one process can open a seat that another's monitor then finds:

    HSET award:sandbox:overrides "LHR-JFK|2027-03-09|business" open

The field is ORIGIN-DESTINATION|DATE|CABIN, optionally followed by |AIRLINE and |PROGRAMME; the most exact one wins.
The value is `open` (one seat where none was drawn), `open:4` (four) or `shut`. A seat opens only where a chart has a
price for it. Nothing but the sandbox reads this, and the sandbox never runs next to a live source.
"""

from collections.abc import Mapping
from typing import cast

from redis.exceptions import RedisError

from shared.redis import connect, key


def read_overrides() -> dict[str, str]:
    """All overrides; none while Redis is down."""
    try:
        raw = cast("dict[bytes, bytes]", connect().hgetall(key("overrides")))
    except (RedisError, OSError):
        return {}
    return {field.decode(): value.decode() for field, value in raw.items()}


def find_override(
    overrides: Mapping[str, str], cell: str, airline: str, program: str
) -> tuple[bool | None, int | None]:
    """Whether the cell is open, and with how many seats; None = as drawn."""
    for field in (f"{cell}|{airline}|{program}", f"{cell}|{airline}", cell):
        word, _, count = overrides.get(field, "").partition(":")
        if word in ("open", "shut"):
            return word == "open", int(count) if count.isdigit() else None
    return None, None
