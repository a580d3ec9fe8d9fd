"""Price of an award in the points of cards, by transfer or through the card's travel portal.

Transfer: the fewest points to send so that the award's points arrive. Portal: the fare bought with points at one cent
each, the rate card portals give without a premium card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Literal

from shared.domain.transfers import Network, TransferPath, find_paths

MAX_HOPS = 2
PORTAL_CENTS = 1
MAX_SIGHTING_AGE = timedelta(hours=24)  # transfers cannot be undone, so older sightings must be checked again
Advice = Literal["transfer", "portal", "wait"]


@dataclass(frozen=True)
class CardPrice:
    """One currency's way to the award, and the portal's price for the same flight, if known.

    `value`: the worth of one of its points, in US cents.
    """

    currency: str
    path: TransferPath
    portal: int | None
    value: Decimal | None = None

    @property
    def points(self) -> int:
        return self.path.source_points or 0

    @property
    def worth(self) -> Decimal | None:
        """The worth of the points, in US dollars."""
        return None if self.value is None else self.points * self.value / 100

    @property
    def cheaper(self) -> Literal["transfer", "portal"]:
        return "portal" if self.portal is not None and self.portal < self.points else "transfer"


def count_portal_points(fare: Decimal | None) -> int | None:
    """A fare in US dollars in points of a portal, rounded up."""
    return None if fare is None else int((fare * 100 / PORTAL_CENTS).to_integral_value(ROUND_CEILING))


def find_card_prices(
    routes: Network,
    values: Mapping[str, Decimal | None],
    portals: frozenset[str],
    program: str,
    points: int,
    fare: Decimal | None,
) -> list[CardPrice]:
    """The currencies of `values` that reach the programme: those whose points are worth least first, unknown last."""
    ways = ((currency, find_paths(routes, currency, program, points, MAX_HOPS)) for currency in values)
    portal = count_portal_points(fare)
    prices = [
        CardPrice(name, paths[0], portal if name in portals else None, values[name]) for name, paths in ways if paths
    ]
    return sorted(prices, key=lambda p: (p.worth is None, p.worth or 0, p.points, p.currency))


def advise_on_cards(prices: Sequence[CardPrice], portal: int | None, age: timedelta) -> Advice:
    """Advises `portal` if it takes fewer points: it needs no seat. Else `transfer` while the sighting is fresh.

    Points are compared only among currencies with portals: others' can be worth many times as much.
    wait: no currency gets there and no fare is known, or the seat was seen too long ago to move points for it.
    """
    compared = [p.points for p in prices if p.portal is not None] or [p.points for p in prices]
    if portal is not None and portal < min(compared, default=portal + 1):
        return "portal"
    return "transfer" if prices and age <= MAX_SIGHTING_AGE else "wait"
