"""Progress towards a tier in all its counters, by each way to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.status_tiers import Requirement, Way, format_metric, format_number


@dataclass(frozen=True)
class CounterGap:
    """One counter of a way. `reported` is None where no one told how far it is."""

    metric: str
    required: int
    reported: Decimal | None

    @property
    def gap(self) -> Decimal | None:
        return None if self.reported is None else max(Decimal(0), self.required - self.reported)


@dataclass(frozen=True)
class WayProgress:
    counters: tuple[CounterGap, ...]

    @property
    def met(self) -> bool | None:
        """Whether it is met; None where an unknown counter decides."""
        gaps = [counter.gap for counter in self.counters]
        if any(gaps):
            return False
        return None if None in gaps else True

    @property
    def is_known(self) -> bool:
        return all(counter.reported is not None for counter in self.counters)


def measure_ways(ways: Sequence[Way], counters: Mapping[str, Decimal]) -> tuple[WayProgress, ...]:
    return tuple(WayProgress(tuple(_measure(r, counters) for r in way)) for way in ways)


def _measure(requirement: Requirement, counters: Mapping[str, Decimal]) -> CounterGap:
    return CounterGap(requirement.metric, requirement.amount, counters.get(requirement.metric))


def is_met(ways: Sequence[WayProgress]) -> bool | None:
    """Whether any way is met; None where an unknown counter decides."""
    results = [way.met for way in ways]
    return True if True in results else None if None in results else False


def describe_missing(ways: Sequence[WayProgress]) -> str:
    """`1,500 PQP and 60 PQF, or 7,500 PQP`: the first way, and others all of whose counters are known."""
    others = [way for way in ways[1:] if way.is_known and not way.met]
    return ", or ".join(_describe_way(way) for way in (*ways[:1], *others))


def _describe_way(way: WayProgress) -> str:
    open_counters = [c for c in way.counters if c.gap != 0]
    return " and ".join(_describe_counter(c) for c in open_counters)


def _describe_counter(counter: CounterGap) -> str:
    number = counter.required if counter.gap is None else counter.gap
    unknown = " (not recorded here)" if counter.gap is None else ""
    return f"{format_number(number)} {format_metric(counter.metric)}{unknown}"
