"""Airport lounges on the lists of lounge networks, and what opens lounge doors."""

from collections.abc import Mapping
from functools import lru_cache

from shared.domain import names
from shared.reference.reference import Reference
from shared.reference.rows.travel import Lounge


@lru_cache(maxsize=4)
def _index_airports(reference: Reference) -> Mapping[str, Mapping[str, tuple[Lounge, ...]]]:
    """Lounges by airport and name."""
    lounges: dict[str, dict[str, tuple[Lounge, ...]]] = {}
    for lounge in reference.rows("lounges.csv"):
        there = lounges.setdefault(lounge.airport, {})
        name = names.normalize_name(lounge.name)
        there[name] = (*there.get(name, ()), lounge)
    return lounges


def find_lounges(reference: Reference, airport: str, name: str) -> list[Lounge]:
    """The lounges of an airport that a loose name can mean."""
    there = _index_airports(reference).get(airport, {})
    slugs = {key: tuple(lounge.slug for lounge in lounges) for key, lounges in there.items()}
    slugs_meant = set(names.find_meanings(name, slugs))
    return [lounge for lounges in there.values() for lounge in lounges if lounge.slug in slugs_meant]


def find_membership(reference: Reference, text: str) -> str | None:
    """The membership a loose name means exactly."""
    rows = (row.membership for row in reference.rows("lounge_memberships.csv"))
    return next((m for m in rows if names.normalize_name(m) == names.normalize_name(text)), None)
