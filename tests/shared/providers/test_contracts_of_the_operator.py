"""What a contract with a source allows is set by the operator, counted over all programs, and shown."""

import json
from collections.abc import Iterator

import pytest

from shared.limits import hit
from shared.providers import registry
from shared.settings import SettingsError, settings
from tests.deploy.test_commands import Say, say
from tests.support.fake_seats import live
from tests.support.settings_and_clock import Configure

__all__ = ["live", "say"]


@pytest.fixture(autouse=True)
def cards() -> Iterator[None]:
    """Read again with the settings of the test, and with the usual ones afterwards."""
    registry.providers.cache_clear()
    yield
    registry.providers.cache_clear()


def test_a_contract_replaces_what_the_card_says_of_the_named_source_alone(configure: Configure) -> None:
    configure(PROVIDER_CONCURRENCY="seats_aero=10, duffel=20", PROVIDER_CALLS_A_DAY="seats_aero=5000,serpapi=100")
    cards = registry.providers()
    assert (cards["seats_aero"].concurrency, cards["seats_aero"].calls_a_day) == (10, 5000)
    assert (cards["duffel"].concurrency, cards["duffel"].calls_a_day) == (20, None)
    assert (cards["serpapi"].concurrency, cards["serpapi"].calls_a_day) == (4, 100)
    assert cards["rooms_aero"].calls_a_day == 1000


@pytest.mark.parametrize("text", ["seats_aero", "seats_aero=0", "seats_aero=-1", "seats_aero=many", "=,"])
def test_what_is_no_list_of_numbers_is_refused_with_an_example(configure: Configure, text: str) -> None:
    configure(PROVIDER_CALLS_A_DAY=text)
    with pytest.raises(SettingsError, match="PROVIDER_CALLS_A_DAY: must be a comma list of NAME=NUMBER, such as"):
        settings()


def test_a_name_that_is_no_provider_is_refused_with_those_that_are(configure: Configure) -> None:
    configure(PROVIDER_CONCURRENCY="seats-aero=10")
    with pytest.raises(SettingsError, match=r"PROVIDER_CONCURRENCY: seats-aero is no provider: they are .*seats_aero"):
        registry.providers()


def test_the_list_shows_what_is_spent_of_the_days_calls(
    say: Say, live: None, configure: Configure, clean: None
) -> None:
    configure(SEATS_AERO_API_KEY="key", PROVIDER_CALLS_A_DAY="seats_aero=5000", PROVIDER_CONCURRENCY="seats_aero=10")
    registry.providers.cache_clear()
    for _ in range(3):
        hit("calls:seats_aero:operator", 5000, 86_400)
    assert "3 of 5,000 calls today" in say("providers", "list")[1]
    rows = {row["name"]: row for row in json.loads(say("providers", "list", "--json")[1])}
    seats = rows["seats_aero"]
    assert (seats["concurrency"], seats["calls_today"], seats["calls_a_day"]) == (10, 3, 5000)
    assert rows["duffel"]["calls_a_day"] is None
