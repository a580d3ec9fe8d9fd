"""Award nights of a hotel: category, points by level and the programme's free-night rule."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from shared.reference.reference import Reference
from shared.reference.rows.fact import Fact
from shared.reference.rows.travel import Hotel, HotelCategory, HotelPointValue, HotelProgramme, HyattPrice

INCLUSIVE = frozenset("ABCDEF")  # categories of all-inclusive resorts, which have their own chart
LEVELS = ("lowest", "low", "moderate", "upper", "top", "off_peak", "standard", "peak")  # the last three until May 2026


@dataclass(frozen=True)
class HotelAward:
    """The published pricing of a hotel's award nights; `fact` is the row behind it."""

    category: str | None
    since: date | None  # the first day of the category, where a list names it
    prices: tuple[HyattPrice, ...]
    values: tuple[HotelPointValue, ...]
    chart_from: str | None
    dynamic: bool | None
    fact: Fact


@dataclass(frozen=True)
class FreeNight:
    """A programme's rule of a free award night; `rule` in the programme's words, None without one."""

    nights: int  # one in this many is free; 0 without a rule
    rule: str | None
    program: str
    tier: str | None  # only for members from this tier on
    cards: frozenset[str]  # only for holders of one of these

    @property
    def is_for_all(self) -> bool:
        return self.tier is None and not self.cards

    def find_every(self, reference: Reference, tier: str | None, cards: Collection[str]) -> int:
        """In how many nights one is free for a person with this tier and these cards; 0 where none is."""
        if self.tier is not None and not _reaches(reference, self.program, tier, self.tier):
            return 0
        return 0 if self.cards and self.cards.isdisjoint(cards) else self.nights


def _reaches(reference: Reference, program: str, tier: str | None, needed: str) -> bool:
    ranks = {row.tier: row.rank for row in reference.rows("elite_tiers.csv") if row.program == program}
    return tier in ranks and ranks[tier] >= ranks[needed]


def find_programme(reference: Reference, program: str) -> HotelProgramme | None:
    return next((r for r in reference.rows("hotel_programmes.csv") if r.program == program), None)


@lru_cache(maxsize=8)
def _index_categories(reference: Reference) -> Mapping[str, tuple[HotelCategory, ...]]:
    """The categories a hotel had and has, by its slug."""
    rows: dict[str, tuple[HotelCategory, ...]] = {}
    for row in reference.rows("hotel_categories.csv"):
        rows[row.hotel] = (*rows.get(row.hotel, ()), row)
    return rows


def find_category(reference: Reference, hotel: Hotel, on: date) -> HotelCategory | None:
    """The category in force on the day of booking."""
    return next((r for r in _index_categories(reference).get(hotel.slug, ()) if r.is_valid(on)), None)


def list_prices(reference: Reference, program: str, on: date) -> list[HyattPrice]:
    """The chart in force on the day of booking. A booked night keeps its price."""
    rows = (r for r in reference.rows("hyatt_award_chart.csv") if r.program == program and r.is_valid(on))
    return sorted(rows, key=lambda r: (r.category, r.room, LEVELS.index(r.level)))


def list_point_values(reference: Reference, program: str) -> list[HotelPointValue]:
    """What points are worth at any hotel of the programme, the fewest first."""
    return [r for r in reference.rows("hotel_point_values.csv") if r.program == program]


def build_award(reference: Reference, hotel: Hotel, on: date) -> HotelAward:
    """A category hotel's levels, or that its programme is dynamic."""
    chart = list_prices(reference, hotel.program, on)
    category = find_category(reference, hotel, on)
    rules = find_programme(reference, hotel.program)
    values = list_point_values(reference, hotel.program)
    first = chart[0].valid_from if chart else None
    return HotelAward(
        category=category.category if category else None,
        since=category.valid_from if category else None,
        prices=tuple(r for r in chart if category and str(r.category) == category.category),
        values=tuple(values),
        chart_from=f"{first:%Y-%m}" if first else None,
        dynamic=False if chart else ("dynamic" in rules.award_pricing if rules else None),
        fact=category or next(iter(values), None) or rules or hotel,
    )


def find_free_night(reference: Reference, hotel: Hotel) -> FreeNight:
    rules = find_programme(reference, hotel.program)
    if rules is None or rules.free_night_every is None:
        return FreeNight(0, None, hotel.program, None, frozenset())
    cards = frozenset(rules.free_night_cards)
    return FreeNight(rules.free_night_every, rules.nth_night_free, hotel.program, rules.free_night_tier, cards)
