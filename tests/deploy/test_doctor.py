"""What the doctor says of the sources: their health goes in, one line or a fault comes out."""

import pytest

from deploy import doctor
from deploy.halt import Halt
from shared import clock
from shared.providers import health
from shared.settings import settings
from tests.sources import live

__all__ = ["live"]


def test_each_source_is_named_with_what_is_known_of_it(live: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVELPAYOUTS_TOKEN", "token")
    settings.cache_clear()
    health.succeeded("ecb:anyone")
    health.failed("travelpayouts:operator", "http_500")
    said = doctor._sources().split("; ")
    assert f"ecb answered {clock.now():%Y-%m-%d}" in "; ".join(said)
    assert {"faa_nas not asked yet", "serpapi not configured", "travelpayouts degraded"} <= set(said)
    assert not [line for line in said if "sandbox" in line]


def test_a_source_that_is_down_is_a_fault_with_its_name(live: None) -> None:
    for _ in range(health.FAILURES):
        health.failed("faa_nas:anyone", "timeout")
    with pytest.raises(Halt, match="faa_nas failed when last asked"):
        doctor._sources()


def test_in_sandbox_mode_the_sandbox_is_all_there_is(clean: None) -> None:
    assert doctor._sources() == "sandbox not asked yet"
