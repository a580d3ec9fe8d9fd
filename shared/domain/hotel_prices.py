"""Best price of hotel nights and whole stays, from the offers of several sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, Protocol

from shared.domain.bookings import value_point
from shared.domain.names import normalize_name
from shared.domain.party_prices import format_amount
from shared.errors import Fault

_ROOM_WORDS = frozenset(("room", "rooms", "bed", "beds", "with", "1", "a", "sandbox"))
State = Literal["available", "none", "unknown"]
MAX_NIGHTS = 30
MAX_AHEAD = timedelta(days=730)  # hotels sell rooms at most about two years ahead


class StayOffer(Protocol):
    """The relevant parts of a source's offer."""

    @property
    def check_in(self) -> date: ...
    @property
    def check_out(self) -> date: ...
    @property
    def available(self) -> bool: ...
    @property
    def points(self) -> int | None: ...
    @property
    def cash(self) -> Decimal | None: ...
    @property
    def currency(self) -> str | None: ...
    @property
    def room_type(self) -> str | None: ...


@dataclass(frozen=True)
class NightsPrice:
    """The lowest price for the same nights. A night without data is unknown, never sold out."""

    state: State
    points: int | None
    cash: Decimal | None
    currency: str
    room_type: str | None

    @property
    def cents_per_point(self) -> Decimal | None:
        return None if self.points is None else value_stay_point(self.cash, self.points)


@dataclass(frozen=True)
class StayPrice:
    """The price of a whole stay, and how its points were calculated."""

    nights: int
    best: NightsPrice
    free_night: bool = False  # subtracted here by the programme's rule, not by the source
    added_up: bool = False  # no source priced the stay as a whole


def value_stay_point(cash: Decimal | None, points: int) -> Decimal | None:
    """Cents of the rate's currency that a point replaces; known only if both prices are."""
    return None if cash is None else value_point(cash, Decimal(0), points)


def find_date_faults(check_in: date, check_out: date, today: date) -> list[Fault]:
    """Faults of the dates of a requested stay; `today` is the day at the hotel."""
    if check_out <= check_in:
        return [Fault("check_out_date", "is not after check_in_date", f"a date after {check_in}")]
    if check_in < today:
        return [Fault("check_in_date", "is in the past", f"{today} or later")]
    if check_in > today + MAX_AHEAD:
        return [Fault("check_in_date", "is too far ahead", f"{today + MAX_AHEAD} or earlier")]
    last = check_in + timedelta(days=MAX_NIGHTS)
    if check_out > last:
        return [Fault("check_out_date", f"is more than {MAX_NIGHTS} nights after check_in_date", f"{last} or earlier")]
    return []


def describe_limit(most_points: int | None, most_cash: Decimal | None, currency: str) -> str:
    """`at most 30,000 points a night`, or that any award night will do."""
    if most_cash is not None:
        return f"at most {format_amount(Decimal(most_cash), currency)} a night"
    return f"at most {most_points:,} points a night" if most_points else "award nights at any price"


def is_same_room(booked: str | None, offered: str | None) -> bool:
    """Whether both names have the same words, in any order; common words do not count."""
    names = [frozenset(normalize_name(name or "").split()) - _ROOM_WORDS for name in (booked, offered)]
    return bool(names[0]) and names[0] == names[1]


def list_nights(first: date, end: date) -> list[date]:
    """The nights from the first up to the day of leaving."""
    return [first + timedelta(days=n) for n in range((end - first).days)]


def find_best_price(offers: Iterable[StayOffer], currency: str) -> NightsPrice:
    """The lowest points and lowest cash of offers for the same nights; cash in the requested currency, if any."""
    all_offers = list(offers)
    free = [o for o in all_offers if o.available]
    if not free:
        return NightsPrice("none" if all_offers else "unknown", None, None, currency, None)
    award = min((o for o in free if o.points), key=lambda o: o.points or 0, default=None)
    rates = [o for o in free if o.cash is not None and o.currency]
    rate_currency = currency if any(o.currency == currency for o in rates) or not rates else str(rates[0].currency)
    rate = min((o for o in rates if o.currency == rate_currency), key=lambda o: o.cash or Decimal(0), default=None)
    room = next((o.room_type for o in (award, rate) if o and o.room_type), None)
    return NightsPrice("available", award.points if award else None, rate.cash if rate else None, rate_currency, room)


def find_stay_price(
    sources: Sequence[Sequence[StayOffer]], check_in: date, check_out: date, currency: str, every: int
) -> StayPrice:
    """The best price of a stay out of what each source offers for the stay and for single nights.

    By the programme's rule for everyone one night in `every` is free; 0 for no such rule.
    """
    nights = list_nights(check_in, check_out)
    stays = [[o for o in of if (o.check_in, o.check_out) == (check_in, check_out)] for of in sources]
    cheapest = find_best_price((o for of in stays for o in of), currency)
    stay_prices = []
    for of, stay_offers in zip(sources, stays, strict=True):
        own = find_best_price(stay_offers, currency)
        singles = [_find_single_night(of, night, currency) for night in nights]
        if (source_points := _count_points(own, singles, every)) is not None:
            stay_prices.append((*source_points, own.state == "unknown"))
    if not stay_prices:
        return StayPrice(len(nights), cheapest)
    points, free_night, added_up = min(stay_prices)
    least = NightsPrice("available", points, cheapest.cash, cheapest.currency, cheapest.room_type)
    return StayPrice(len(nights), least, free_night, added_up)


def _find_single_night(offers: Sequence[StayOffer], night: date, currency: str) -> int | None:
    after = night + timedelta(days=1)
    return find_best_price((o for o in offers if (o.check_in, o.check_out) == (night, after)), currency).points


def _count_points(own: NightsPrice, singles: Sequence[int | None], every: int) -> tuple[int, bool] | None:
    """One source's points for a stay, and whether a free night was subtracted here.

    Its own price of the stay counts. Only where that is the plain sum of its nights, or where it has none, is the
    free night still in it: the cheapest nights are free, one for each `every`.
    """
    if own.state == "none" or (own.state == "available" and own.points is None):
        return None
    prices = sorted(p for p in singles if p is not None)
    if len(prices) < len(singles) or (own.points is not None and own.points != sum(prices)):
        return None if own.points is None else (own.points, False)
    free = prices[: len(prices) // every] if every else []
    return sum(prices) - sum(free), bool(free)
