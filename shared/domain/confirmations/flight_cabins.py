"""The cabin of a journey, which some letters print once for all its flights."""

from collections.abc import Sequence
from dataclasses import replace

from shared.domain.confirmations.model import BookedLeg


def share_cabins(legs: list[BookedLeg]) -> list[BookedLeg]:
    """The cabin next to the first or the last flight of each journey as that of all its flights.

    Only where at least two journeys of several flights show this: elsewhere the others may be of another cabin.
    """
    journeys = _list_journeys(legs)
    several = [journey for journey in journeys if len(journey) > 1]
    alone = [journey[0] for journey in journeys if len(journey) == 1]
    ends = [_find_end(journey) for journey in several]
    if len(several) < 2 or None in ends or len(set(ends)) > 1 or not all(leg.cabin_class for leg in alone):
        return legs
    shared = {id(leg): next(o.cabin_class for o in journey if o.cabin_class) for journey in several for leg in journey}
    return [replace(leg, cabin_class=shared.get(id(leg), leg.cabin_class)) for leg in legs]


def _list_journeys(legs: Sequence[BookedLeg]) -> list[list[BookedLeg]]:
    """Flights that each go on from where the one before lands, within a day, and not back to where they began."""
    journeys: list[list[BookedLeg]] = []
    for leg in legs:
        if journeys and _goes_on(journeys[-1], leg):
            journeys[-1].append(leg)
        else:
            journeys.append([leg])
    return journeys


def _goes_on(journey: Sequence[BookedLeg], leg: BookedLeg) -> bool:
    before = journey[-1]
    landed = before.arrival_date or before.departure_date
    if not leg.origin or before.destination != leg.origin or leg.destination in {o.origin for o in journey}:
        return False
    return bool(landed and leg.departure_date and 0 <= (leg.departure_date - landed).days <= 1)


def _find_end(journey: Sequence[BookedLeg]) -> int | None:
    """0 or -1: which end alone has a cabin."""
    cabins = [leg.cabin_class for leg in journey]
    if sum(c is not None for c in cabins) != 1:
        return None
    return 0 if cabins[0] else -1 if cabins[-1] else None
