"""Average award fees per programme and currency, from fees seen on single routes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class FeeSample:
    """Sum of the fees seen of one programme in one currency."""

    program: str
    currency: str
    total: Decimal
    low: Decimal
    high: Decimal
    samples: int
    newest: datetime
    oldest: datetime

    @property
    def average(self) -> Decimal:
        return (self.total / self.samples).quantize(CENT, ROUND_HALF_UP)


def merge_samples(rows: Iterable[FeeSample]) -> list[FeeSample]:
    """One row per programme and currency, by programme; different currencies are never added."""
    out: dict[tuple[str, str], FeeSample] = {}
    for row in rows:
        key = (row.program, row.currency)
        out[key] = _add_samples(out[key], row) if key in out else row
    return [out[key] for key in sorted(out)]


def _add_samples(one: FeeSample, other: FeeSample) -> FeeSample:
    return FeeSample(
        one.program,
        one.currency,
        one.total + other.total,
        min(one.low, other.low),
        max(one.high, other.high),
        one.samples + other.samples,
        max(one.newest, other.newest),
        min(one.oldest, other.oldest),
    )
