"""What doctor reports about the sources: one line for their health, or a fault."""

import pytest

from deploy import doctor
from deploy.errors import CommandError
from shared import clock
from shared.providers import circuit_breaker
from tests.support.fake_seats import live
from tests.support.settings_and_clock import Configure

__all__ = ["live"]


def test_each_source_is_named_with_what_is_known_of_it(live: None, configure: Configure) -> None:
    configure(TRAVELPAYOUTS_TOKEN="token")
    circuit_breaker.record_success("ecb:anyone")
    circuit_breaker.record_failure("travelpayouts:operator", "http_500")
    said = doctor._check_sources().split("; ")
    assert f"ecb answered {clock.now():%Y-%m-%d}" in "; ".join(said)
    assert {"faa_nas not asked yet", "serpapi not configured", "travelpayouts degraded"} <= set(said)
    assert not [line for line in said if "sandbox" in line]


def test_a_source_that_is_down_is_a_fault_with_its_name(live: None) -> None:
    for _ in range(circuit_breaker.FAILURES_TO_OPEN):
        circuit_breaker.record_failure("faa_nas:anyone", "timeout")
    with pytest.raises(CommandError, match="faa_nas failed when last asked"):
        doctor._check_sources()


def test_in_sandbox_mode_the_sandbox_is_all_there_is(clean: None) -> None:
    assert doctor._check_sources() == "sandbox not asked yet"


def test_the_model_of_standing_orders_is_named_without_being_asked(configure: Configure) -> None:
    def given(**values: str) -> str:
        configure(**values)
        return doctor._check_language_model()

    assert given().startswith("none, so no standing orders")
    with pytest.raises(CommandError, match="needs a key: set STANDING_ORDER_MODEL_KEY"):
        given(STANDING_ORDER_MODEL="model-1")
    assert given(STANDING_ORDER_MODEL_KEY="key") == "model-1 at api.anthropic.com (anthropic)"
    local = {"STANDING_ORDER_MODEL_URL": "http://127.0.0.1:9/v1", "STANDING_ORDER_MODEL_KIND": "openai"}
    assert given(**local, STANDING_ORDER_AREAS="search, trips") == "model-1 at 127.0.0.1:9 (openai)"
    with pytest.raises(CommandError, match="STANDING_ORDER_AREAS names boats: the areas are account"):
        given(STANDING_ORDER_AREAS="boats,trips")
