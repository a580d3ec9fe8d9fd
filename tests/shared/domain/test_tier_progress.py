"""Progress in several counters: a tier is reached by one whole way, and an unknown counter decides nothing."""

from decimal import Decimal

import pytest

from shared.domain.status_tiers import parse_ways
from shared.domain.tier_progress import describe_missing, is_met, measure_ways

WAYS = parse_ways(("nights:80+usd_spend:18000", "stays:40+usd_spend:18000"))


@pytest.mark.parametrize(
    ("counters", "met", "missing"),
    [
        ({"nights": 80, "usd_spend": 18_000}, True, ""),
        ({"nights": 80, "usd_spend": 17_000}, False, "1,000 USD spend"),
        ({"nights": 90}, None, "18,000 USD spend (not recorded here)"),
        ({"nights": 10, "stays": 40, "usd_spend": 18_000}, True, "70 nights"),
        (
            {},
            None,
            "80 nights (not recorded here) and 18,000 USD spend (not recorded here)",
        ),
    ],
)
def test_a_way_needs_all_its_counters(counters: dict[str, int], met: bool | None, missing: str) -> None:
    ways = measure_ways(WAYS, {metric: Decimal(amount) for metric, amount in counters.items()})
    assert is_met(ways) is met
    assert describe_missing(ways) == missing


@pytest.mark.parametrize("text", ["pqp", "pqp:", "pqp:0", "pqp:-1", "pqp:1+", "1:5"])
def test_a_way_that_cannot_be_read_is_a_fault(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the loader names file and line
        parse_ways((text,))
