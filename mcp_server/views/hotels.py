"""Prices of stays go in; the parts of results that show them come out."""

from datetime import date
from typing import Any, Literal

from mcp_server.toolkit.results import NO_DATA, Marked, Money, NoDataWord
from shared.domain import stays
from shared.domain.plurals import some
from shared.domain.stays import Price, State, StayPrice
from shared.reference.hotel_awards import FreeNight
from shared.services.search.hotel_prices import Seen


class Sourced(Marked):
    """Where a price is from; invented ones say so in the row."""

    source: str
    mode: Literal["live", "cached", "sandbox"]


class StayRates(Sourced):
    nights: int
    points_total: int | NoDataWord
    cash_total: Money | NoDataWord
    currency: str
    cents_per_point: Money | NoDataWord
    free_night_rule_applied: str | None
    room_type: str | None


class Night(Sourced):
    date: date
    state: State
    points: int | None
    cash: Money | None
    currency: str
    room_type: str | None
    cents_per_point: Money | None


def build_source_fields(seen: Seen) -> dict[str, Any]:
    """The fields of Sourced, for all rows of one answer."""
    fresh = seen.freshness
    made = fresh.fetched_at if fresh.mode == "sandbox" else None
    return {"source": fresh.source, "mode": fresh.mode, "generated_at": made}


def to_night(day: date, price: Price, marks: dict[str, Any]) -> Night:
    return Night(
        **marks,
        date=day,
        state=price.state,
        points=price.points,
        cash=price.cash,
        currency=price.currency,
        room_type=price.room_type,
        cents_per_point=price.cents_per_point,
    )


def to_stay_rates(stay: StayPrice, free: FreeNight, marks: dict[str, Any]) -> StayRates:
    best = stay.best
    worth = best.cents_per_point
    return StayRates(
        **marks,
        nights=stay.nights,
        points_total=NO_DATA if best.points is None else best.points,
        cash_total=NO_DATA if best.cash is None else best.cash,
        currency=best.currency,
        cents_per_point=NO_DATA if worth is None else worth,
        free_night_rule_applied=free.rule if stay.free_night else None,
        room_type=best.room_type,
    )


def describe_stay(stay: StayPrice, free: FreeNight) -> str:
    """What a stay costs, in sentences: what is not known is said, not guessed."""
    best = stay.best
    if best.state != "available":
        return "No room is free for these nights." if best.state == "none" else "No source knows this stay."
    points = f"{best.points:,} points" if best.points is not None else "no award price"
    cash = f"{best.cash:,.2f} {best.currency}" if best.cash is not None else "no cash price"
    said = [f"{some(stay.nights, 'night')}: {points}, {cash}."]
    if stay.free_night:
        said.append(f"Taken off: {free.rule}.")
    elif free.rule and not free.every and stay.nights >= (stays.free_night(free.rule) or (0, False))[0]:
        said.append(f"Not taken off, since it is not for everybody: {free.rule}.")
    if stay.added_up:
        said.append("The points are those of single nights, added up.")
    return " ".join(said)
