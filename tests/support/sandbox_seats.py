"""Seats and stays of the sandbox that a test opens, prices and shuts."""

from datetime import date

from shared.redis import connect, key


def set_seat(
    value: str,
    origin: str,
    destination: str,
    day: date,
    cabin: str,
    airline: str | None = None,
    program: str | None = None,
) -> None:
    """Writes one override; an empty value takes it back."""
    field = "|".join(filter(None, (f"{origin}-{destination}", day.isoformat(), cabin, airline, program)))
    if value:
        connect().hset(key("overrides"), field, value)
    else:
        connect().hdel(key("overrides"), field)


def set_stay(value: str, hotel: str, check_in: date | str) -> None:
    """What a stay that begins on this day costs: `points:20000`, `cash:450`, both joined by a comma, or `full`."""
    connect().hset(key("overrides"), f"stay|{hotel}|{check_in}", value)
