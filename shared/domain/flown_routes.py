"""Whether an airline is known to fly without a stop between two airports: a chart price does not say so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

RouteKnown = Literal["known", "unknown", "none_known"]
ROUTES_KNOWN: tuple[RouteKnown, ...] = get_args(RouteKnown)  # the best first
Reason = Literal["listed", "seen", "away_from_home", "not_in_its_list", "no_list"]
EVERYWHERE = "*"


class RouteFinding(NamedTuple):
    """Knowledge of an airline's non-stop flight between two airports, and its basis."""

    route: RouteKnown
    reason: Reason


@dataclass(frozen=True, slots=True)
class KnownFlights:
    """One airline's known non-stop flights, and where it can be expected to have others.

    `home` are the countries at one end of its flights; a flight between two others is expected only where it is
    listed. Within `market`, a common aviation market, it may fly between any two countries. `listed` are the countries
    and continents whose international flights of this airline are all listed; EVERYWHERE: all its flights are.
    """

    pairs: Mapping[str, frozenset[str]]
    home: frozenset[str]
    market: frozenset[str]
    listed: frozenset[str]


NO_FLIGHTS = KnownFlights({}, frozenset(), frozenset(), frozenset())  # for an airline without any data


@dataclass(frozen=True, slots=True)
class Ends:
    """Two airports with their countries and continents; a dependent territory counts as its country."""

    start: str
    end: str
    countries: frozenset[str]
    continents: frozenset[str]


def judge_route(flights: KnownFlights, ends: Ends, *, seen: bool = False) -> RouteFinding:
    """`seen`: a search has shown a non-stop flight of the airline there."""
    if ends.end in flights.pairs.get(ends.start, ()):
        return RouteFinding("known", "listed")
    if seen:
        return RouteFinding("known", "seen")
    if flights.home and flights.home.isdisjoint(ends.countries) and not ends.countries <= flights.market:
        return RouteFinding("none_known", "away_from_home")
    abroad = len(ends.countries) > 1 and not flights.listed.isdisjoint(ends.countries | ends.continents)
    if abroad or EVERYWHERE in flights.listed:
        return RouteFinding("none_known", "not_in_its_list")
    return RouteFinding("unknown", "no_list")
