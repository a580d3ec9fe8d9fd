"""Past transfer bonuses of one route: how often they came, when, and how high. Never predicts one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from shared.domain.dates import format_day, format_days
from shared.domain.plurals import pluralize

LEAST_BONUSES = 2  # a single bonus is no pattern
LEAST_YEARS = 2
_SEASONS = ("winter", "spring", "summer", "autumn")  # of the northern half, by month: Dec-Feb, Mar-May, ...


@dataclass(frozen=True)
class PastBonus:
    """A bonus that has started; `starts_on` is None where only its last day is known."""

    percent: int
    starts_on: date | None
    ends_on: date

    @property
    def began(self) -> date:
        return self.starts_on or self.ends_on


def find_season(day: date) -> str:
    return _SEASONS[day.month % 12 // 3]


def find_yearly_season(bonuses: Sequence[PastBonus]) -> tuple[str, int] | None:
    """A season in which a bonus started every year up to the last, and the first of these years."""
    years: dict[str, set[int]] = defaultdict(set)
    for bonus in bonuses:
        years[find_season(bonus.began)].add(bonus.began.year + (bonus.began.month == 12))  # December opens a winter
    runs = {season: _count_run(of_season) for season, of_season in years.items()}
    season = max(runs, key=lambda s: (runs[s], max(years[s])), default=None)
    if season is None or runs[season] < LEAST_YEARS:
        return None
    return season, max(years[season]) - runs[season] + 1


def _count_run(years: set[int]) -> int:
    """The number of consecutive years up to the last."""
    last, length = max(years), 0
    while last - length in years:
        length += 1
    return length


def describe_pattern(bonuses: Sequence[PastBonus]) -> str | None:
    """Describes past bonuses, with the days of the last one; None for fewer than two."""
    if len(bonuses) < LEAST_BONUSES:
        return None
    ordered = sorted(bonuses, key=lambda b: (b.began, b.ends_on))
    low, high = min(b.percent for b in ordered), max(b.percent for b in ordered)
    percent = f"{low}%" if low == high else f"{low} to {high}%"
    last = ordered[-1]
    days = format_days(last.starts_on, last.ends_on) if last.starts_on else f"until {format_day(last.ends_on)}"
    season = find_yearly_season(ordered)
    yearly = f" It came every {season[0]} since {season[1]}." if season else ""
    return (
        f"Seen {pluralize(len(ordered), 'time')} since {ordered[0].began:%b %Y}, {percent}; the last one {days}."
        f"{yearly} Past bonuses do not announce the next."
    )
