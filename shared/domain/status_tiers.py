"""Elite tiers: a programme's ladder, its qualifying year, and what is missing for a tier."""

import calendar
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from shared.domain import names

MARCH, APRIL = 3, 4
_YEARS = {"1 Apr - 31 Mar": APRIL, "1 Mar - end Feb": MARCH}  # the first month of a qualifying year


@dataclass(frozen=True)
class Requirement:
    """The value one counter needs."""

    metric: str
    amount: int


Way = tuple[Requirement, ...]  # all of them together


@dataclass(frozen=True)
class StatusTier:
    name: str
    rank: int
    metric: str
    threshold: int | None  # None: not reached by a counter; see `alternative`
    alternative: str | None
    ways: tuple[Way, ...]  # any of them; empty where no number is known
    keep_ways: tuple[Way, ...]  # for a member who renews it
    period: str | None
    source_url: str
    as_of: str | None
    audited_on: date | None
    confidence: str
    note: str | None


@dataclass(frozen=True)
class Ladder:
    """The tiers of one programme from the lowest up. `resets`: the counter starts afresh at each tier."""

    program: str
    tiers: tuple[StatusTier, ...]
    resets: bool = False

    @property
    def names(self) -> list[str]:
        return [t.name for t in self.tiers]

    def tier(self, name: str | None) -> StatusTier | None:
        return next((t for t in self.tiers if t.name == name), None)

    def above(self, tier_name: str | None) -> StatusTier | None:
        """The next tier up; for someone without one, the lowest that has to be earned."""
        rank = at.rank if (at := self.tier(tier_name)) else 0
        return next((t for t in self.tiers if t.rank > rank), None)

    def find_required(self, tier_name: str | None, target: StatusTier) -> int | None:
        """The value a counter needs for the target; None where the tiers between are counted in different units."""
        if not self.resets:
            return target.threshold
        rank = at.rank if (at := self.tier(tier_name)) else 0
        steps = [t for t in self.tiers if rank < t.rank <= target.rank] or [target]
        if any(t.metric != target.metric or t.threshold is None for t in steps):
            return None
        return sum(t.threshold or 0 for t in steps)


_FILLER = ("elite", "status", "member", "tier", "level")


def match_tiers(ladder: Ladder, text: str) -> list[str]:
    """The tiers a loose name can mean: one when it is clear, none when it fits nothing."""
    tiers = {names.normalize_name(t): (t,) for t in ladder.names}
    if meanings := names.find_meanings(text, tiers):
        return list(meanings)
    words = [w for w in names.normalize_name(text).split() if w not in _FILLER]
    exact = names.find_meanings(" ".join(words), tiers)
    return list(exact) or [t for t in ladder.names if words and set(words) <= set(names.normalize_name(t).split())]


_INITIALS = ("xp", "uxp", "mqd", "pqp", "pqf", "sqc", "usd", "ana", "ba", "jal")


def format_metric(metric: str) -> str:
    """A metric as people write it: `XP`, `tier points`, `sectors on BA`."""
    words = (word.upper() if word in _INITIALS else word for word in metric.split("_"))
    return " ".join(words).replace("finnair", "Finnair")


def parse_ways(texts: Sequence[str]) -> tuple[Way, ...]:
    """Ways to a tier from cells such as `pqp:22000+pqf:60`. Raises ValueError."""
    return tuple(tuple(_parse_requirement(part) for part in text.split("+")) for text in texts)


def _parse_requirement(text: str) -> Requirement:
    metric, amount = text.split(":")
    if not metric.replace("_", "").isalpha() or int(amount) <= 0:
        raise ValueError(text)
    return Requirement(metric, int(amount))


def format_number(amount: Decimal | int) -> str:
    """`1,400` and `12.5`: without the trailing zeros of stored decimals."""
    text = f"{Decimal(amount):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def find_year_start(period: str | None, on: date) -> date | None:
    """The first day of the qualifying year a day lies in; None where the year is the member's own or unknown."""
    if period is not None and period.startswith("calendar year"):
        return date(on.year, 1, 1)
    month = _YEARS.get(period or "")
    return None if month is None else date(on.year if on.month >= month else on.year - 1, month, 1)


def find_year_end(period: str | None, on: date) -> date | None:
    begins = find_year_start(period, on)
    if begins is None:
        return None
    last = begins.replace(year=begins.year + 1) - timedelta(days=1)
    return last.replace(day=calendar.monthrange(last.year, last.month)[1])


def find_next_start(period: str | None, deadline: date | None, on: date) -> date | None:
    """The first day of the next qualifying year, if the deadline, or without one a year, reaches it."""
    ends = find_year_end(period, on)
    return None if ends is None or (deadline is not None and deadline <= ends) else ends + timedelta(days=1)


def is_year_over(reported_on: date | None, period: str | None, on: date) -> bool:
    """Whether what was reported belongs to a qualifying year before the one a day lies in."""
    begins = find_year_start(period, on)
    return begins is not None and reported_on is not None and reported_on < begins


def list_conditions(tier: StatusTier) -> list[str]:
    """Other conditions and the qualifying period of a tier, in the words of its source."""
    texts = [f"{tier.name}: {text}." for text in (tier.alternative, tier.note) if text]
    return [*texts, f"Qualifying period: {tier.period}."] if tier.period else texts


def is_on_track(earned: Decimal, required: int, period: str | None, on: date) -> bool | None:
    """Whether the earned share is at least the elapsed share of the year; None without a known year."""
    if earned >= required:
        return True
    begins, ends = find_year_start(period, on), find_year_end(period, on)
    if begins is None or ends is None:
        return None
    gone = Fraction((on - begins).days, (ends - begins).days + 1)
    return Fraction(earned) >= required * gone


def check_eligibility(
    from_programs: Collection[str], from_tiers: Sequence[str], tiers_by_program: Mapping[str, str]
) -> Literal["yes", "no", "unknown"]:
    """Whether a match offer can be used by someone with these tiers (programme -> tier).

    Programmes that no source names are unknown, never all of them: `*` means all.
    """
    if not tiers_by_program or not from_programs:
        return "unknown"
    accepted_tiers = {names.normalize_name(t) for t in from_tiers}
    mine = {p: t for p, t in tiers_by_program.items() if "*" in from_programs or p in from_programs}
    if any(not accepted_tiers or names.normalize_name(t) in accepted_tiers for t in mine.values()):
        return "yes"
    return "no"
