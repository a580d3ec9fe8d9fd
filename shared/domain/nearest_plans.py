"""The plan nearest to a wish that no plan fulfils: over the limit of cash, short of points, or on other days."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from heapq import nsmallest
from typing import Generic, Literal

from shared.domain.funding import Funds, find_lacking
from shared.domain.trip_plans import Journey, Offer, PaidJourney

MAX_TRIED = 30  # journeys whose payment is computed for each limit
Limit = Literal["max_cash", "points", "dates"]


@dataclass(frozen=True)
class NearestPlan(Generic[Offer]):
    """`limit` is the one not met. Without a payment, `lacking` has the missing points."""

    limit: Limit
    journey: Journey[Offer]
    paid: PaidJourney[Offer] | None
    lacking: Mapping[str, int]


def find_nearest(
    journeys: Iterable[Journey[Offer]], max_cash: Decimal | None, funds: Funds
) -> NearestPlan[Offer] | None:
    """The one that costs least beyond a limit: the taxes above the cap, or the value of the points that are missing."""
    every = list(journeys)
    over = find_over_cap(every, funds) if max_cash is not None else None
    short = _find_short_of_points([j for j in every if is_within_cap(j, max_cash)], funds)
    if over is None or short is None or max_cash is None:
        return over or short
    beyond = (over.journey.taxes or Decimal(0)) - max_cash
    # The worth of the missing points, in whole units of money; None if a value is unknown.
    values = {s.program: s.value for s in short.journey.seats}
    cents = [None if (value := values[p]) is None else points * value for p, points in short.lacking.items()]
    missing = None if None in cents else sum((c for c in cents if c is not None), Decimal(0)) / 100
    return over if missing is None or beyond <= missing else short


def is_within_cap(journey: Journey[Offer], max_cash: Decimal | None) -> bool:
    """The cap is for the whole party and the whole trip. Unknown taxes are never under it."""
    return max_cash is None or (journey.taxes is not None and journey.taxes <= max_cash)


def find_over_cap(journeys: Iterable[Journey[Offer]], funds: Funds) -> NearestPlan[Offer] | None:
    """The journey with the lowest taxes among those the balances cover."""
    taxed = (j for j in journeys if j.taxes is not None)
    for journey in nsmallest(MAX_TRIED, taxed, key=lambda j: (j.taxes or Decimal(0), j.rough)):
        if payments := journey.choose_funds(funds).pay(journey.needs):
            return NearestPlan("max_cash", journey, PaidJourney(journey, payments), {})
    return None


def _find_short_of_points(journeys: Iterable[Journey[Offer]], funds: Funds) -> NearestPlan[Offer] | None:
    """The journey for which the fewest points are missing; None without any balance."""
    if not funds.purses:
        return None
    nearest: NearestPlan[Offer] | None = None
    for journey in nsmallest(MAX_TRIED, journeys, key=lambda j: j.rough):
        lacking = find_lacking(journey.needs, journey.choose_funds(funds))
        if lacking and (nearest is None or sum(lacking.values()) < sum(nearest.lacking.values())):
            nearest = NearestPlan("points", journey, None, lacking)
    return nearest
