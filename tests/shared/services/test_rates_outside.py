"""From an amount to the sources of rates and back: one dated set, or none."""

from datetime import UTC, datetime
from decimal import Decimal

import anyio
import pytest

from shared.providers.ask import Ask
from shared.services.search.exchange_rates import rates
from tests.shared.providers.fakes.server import Pretend, fake_world, pretend
from tests.support.settings_and_clock import StandingClock

__all__ = ["fake_world", "pretend"]


@pytest.fixture(autouse=True)
def day(standing_clock: StandingClock) -> None:
    """The day after the recorded rates."""
    standing_clock.set(datetime(2026, 11, 21, 9, 0, tzinfo=UTC))


def test_the_central_banks_own_rates_come_first(pretend: Pretend) -> None:
    world = pretend("ecb", "frankfurter")
    found = anyio.run(rates, Ask(), ["USD", "GBP"])
    told = found.convert(Decimal("112.04"), "USD", "GBP")
    assert told is not None
    assert (found.source, told.amount) == ("European Central Bank", Decimal("84.72"))
    assert [a.provider for a in world.asked] == ["ecb"]


def test_a_currency_the_bank_has_not_is_of_the_blend_and_called_so(pretend: Pretend) -> None:
    pretend("ecb", "frankfurter")
    found = anyio.run(rates, Ask(), ["EUR", "AED"])
    told = found.convert(Decimal("411.47"), "AED", "EUR")
    assert told is not None
    assert (found.source, told.amount) == ("central-bank blend via frankfurter", Decimal("100.00"))


@pytest.mark.parametrize("kind", ["broken", "html", "truncated", "forbidden", "quota", "empty"])
def test_without_an_answer_of_a_server_nothing_is_converted(pretend: Pretend, kind: str) -> None:
    pretend("ecb", "frankfurter", ecb=kind, frankfurter=kind)
    assert anyio.run(rates, Ask(), ["USD", "GBP"]).convert(Decimal(1), "USD", "GBP") is None
