"""Which of the airports of a name a letter means: those its times and the airline's network leave."""

from collections.abc import Collection, Iterable, Iterator
from datetime import date, time

from shared.domain.confirmations.model import Doubt, TravelFacts
from shared.domain.possible_flights import judge_times

Places = tuple[frozenset[str], ...]  # the airports each end of a flight can mean
_MOST_ROUTES = 200
_MOST_CANDIDATES = 12
_CITY_MILES = 100  # between airports of one city


def narrow_to_times(
    places: Places, departs: tuple[date, time], arrives: time, stated: date | None, world: TravelFacts
) -> Places:
    """The airports between which a flight can have these times; as they are where none can."""
    if len(places) != 2 or all(len(codes) == 1 for codes in places):
        return places
    pairs = [
        (a, b)
        for a, b in _list_pairs(places)
        if (landing := judge_times(world.route(a, b), departs, arrives, stated)).verdict != "contradicted"
        or (landing.day and stated == departs[0])  # many write the day of departure for both ends
    ]
    return (frozenset(a for a, _ in pairs), frozenset(b for _, b in pairs)) if pairs else places


def narrow_to_network(airline: str, places: Places, world: TravelFacts) -> Places:
    """The airports of the one route among those possible that the airline is known to fly; else as they are.

    Not every route is known: where the airline flies to two airports of such a name, either can be meant, and where one
    is in its own country, the airline may fly there.
    """
    if len(places) != 2 or all(len(codes) == 1 for codes in places):
        return places
    places = tuple(_drop_foreign(airline, codes, world) for codes in places)
    flown = [pair for pair in _list_pairs(places) if world.flies(airline, *pair)]
    if len(flown) != 1:
        return places
    for codes, end in zip(places, flown[0], strict=True):
        if any(code != end and (world.flies_to(airline, code) or _is_far(code, [end], world)) for code in codes):
            return places
    return frozenset((flown[0][0],)), frozenset((flown[0][1],))


def doubt_places(places: Places, about: str) -> Iterator[Doubt]:
    """The airports a name leaves open."""
    for field, codes in zip(("origin", "destination"), places, strict=True):
        if 1 < len(codes) <= _MOST_CANDIDATES:
            reason = "The name in the letter is that of several airports."
            yield Doubt(field, reason, tuple(sorted(codes)), about)


def keep_near(codes: frozenset[str], served: Collection[str], world: TravelFacts) -> frozenset[str]:
    """Those of the airports that are in the cities of served ones; all of them where none is served."""
    return frozenset(code for code in codes if not _is_far(code, served, world)) if served else codes


def narrow_to_home(airline: str, places: Places, world: TravelFacts) -> Places:
    """Without airports abroad of a name that one in the airline's own country or common market bears too.

    That is enough only where times confirm it.
    """
    own = [{code for code in codes if world.is_at_home(airline, code)} for codes in places]
    return tuple(keep_near(codes, served, world) for codes, served in zip(places, own, strict=True))


def _list_pairs(places: Places) -> list[tuple[str, str]]:
    return [(a, b) for a in sorted(places[0]) for b in sorted(places[1]) if a != b][:_MOST_ROUTES]


def _drop_foreign(airline: str, codes: frozenset[str], world: TravelFacts) -> frozenset[str]:
    """Without the cities abroad to which no flight of the airline is known, if it flies to another of the name."""
    served = {code for code in codes if world.flies_to(airline, code)}
    return keep_near(codes, served and served | {code for code in codes if world.is_at_home(airline, code)}, world)


def _is_far(code: str, others: Iterable[str], world: TravelFacts) -> bool:
    routes = [world.route(code, other) for other in others]
    return all(route is not None and route.miles > _CITY_MILES for route in routes)
