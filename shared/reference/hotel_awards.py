"""Award nights of a hotel: category, points by level and the programme's free-night rule."""

import re
from calendar import month_name
from dataclasses import dataclass

from shared.domain import hotel_prices
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, HotelProgramme, HyattPrice

LEVELS = ("lowest", "low", "moderate", "upper", "top")  # of the chart in force; older rows name seasons
_SINCE = re.compile(r"from (\w+) (\d{4})")


@dataclass(frozen=True)
class HotelAward:
    """How a hotel's award nights are priced, as far as that is published."""

    category: int | None
    levels: tuple[tuple[str, int | None], ...]
    chart_from: str | None
    dynamic: bool | None
    source_url: str
    as_of: str | None


@dataclass(frozen=True)
class FreeNight:
    every: int  # of so many nights one is free; 0 where no rule holds for every member
    rule: str | None  # in the programme's words


def find_programme(reference: Reference, hotel: Hotel) -> HotelProgramme | None:
    return next((r for r in reference.rows("hotel_programmes.csv") if r.program == hotel.program), None)


def build_award(reference: Reference, hotel: Hotel) -> HotelAward:
    """A category hotel's levels; of a dynamic programme that it is one."""
    chart: list[HyattPrice] = [
        r for r in reference.rows("hyatt_award_chart.csv") if r.program == hotel.program and r.level in LEVELS
    ]
    own = [r for r in chart if r.category == hotel.award_category]
    rules = find_programme(reference, hotel)
    if hotel.award_category is not None and hotel.category_source_url:
        source, as_of = hotel.category_source_url, hotel.category_as_of
    else:
        fact = rules or hotel
        source, as_of = fact.source_url, fact.as_of
    return HotelAward(
        category=hotel.award_category,
        levels=tuple(sorted(((r.level, r.points) for r in own), key=lambda pair: LEVELS.index(pair[0]))),
        chart_from=_parse_since(chart[0].chart) if chart else None,
        dynamic=False if chart else ("dynamic" in rules.award_pricing if rules else None),
        source_url=source,
        as_of=as_of,
    )


def _parse_since(chart: str) -> str | None:
    """The month a chart begins, from its name."""
    match = _SINCE.fullmatch(chart)
    return f"{match[2]}-{list(month_name).index(match[1]):02}" if match else None


def find_free_night(reference: Reference, hotel: Hotel) -> FreeNight:
    rules = find_programme(reference, hotel)
    rule = hotel_prices.parse_free_night(rules.nth_night_free) if rules else None
    if rules is None or rule is None:
        return FreeNight(0, None)
    every, anyone = rule
    return FreeNight(every if anyone else 0, rules.nth_night_free)
