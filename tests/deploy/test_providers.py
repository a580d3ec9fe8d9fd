"""Providers switched off by the operator are asked nothing by any program, until they are on again."""

import json

import pytest
import respx

from deploy.doctor.report import check_sources
from jobs.dispatcher import step
from shared import provider_health
from shared.db.base import transaction
from shared.db.switched_off import list_switched_off
from shared.redis import connect, key
from tests.deploy.test_commands import Say, say
from tests.shared.providers.conftest import Asking, acme, ask, wire
from tests.support.fake_seats import live

__all__ = ["acme", "ask", "live", "say", "wire"]
WHY = ("--reason", "its prices are wrong")


def test_a_provider_that_is_off_is_not_asked_until_it_is_on(say: Say, wire: respx.Route, ask: Asking) -> None:
    status, text, _ = say("providers", "off", "acme", *WHY)
    assert (status, text) == (0, "acme is off: no one asks it.\n")
    reading = ask()
    assert (reading.status, reading.reason, wire.call_count) == ("down", provider_health.SWITCHED_OFF, 0)
    assert say("providers", "off", "acme", *WHY)[0] == 1
    assert say("providers", "on", "acme", *WHY)[0] == 0
    assert (ask().status, wire.call_count) == ("ok", 1)
    assert [row["action"] for row in json.loads(say("trail", "--json")[1])] == ["providers on", "providers off"]


def test_a_cached_answer_is_still_given(say: Say, wire: respx.Route, ask: Asking) -> None:
    ask()
    say("providers", "off", "acme", *WHY)
    assert (ask().status, ask().cached, wire.call_count) == ("ok", True, 1)
    say("providers", "on", "acme", *WHY)


def test_the_list_and_doctor_tell_that_it_is_off_and_call_it_no_fault(say: Say) -> None:
    say("providers", "off", "sandbox", *WHY)
    assert "sandbox          off" in say("providers", "list")[1]
    (row,) = [row for row in json.loads(say("providers", "list", "--json")[1]) if row["name"] == "sandbox"]
    assert row["is_switched_off"] is True
    assert "sandbox switched off" in check_sources()
    say("providers", "on", "sandbox", *WHY)
    assert "off" not in say("providers", "list")[1]


def test_a_redis_that_lost_everything_is_told_again_by_the_dispatcher(say: Say) -> None:
    say("providers", "off", "sandbox", *WHY)
    connect().delete(key(provider_health.SWITCHED_OFF))
    assert not provider_health.read_health(["sandbox:anyone"])["sandbox:anyone"].is_open
    step()
    assert provider_health.read_health(["sandbox:anyone"])["sandbox:anyone"].is_open
    say("providers", "on", "sandbox", *WHY)
    assert not provider_health.read_health(["sandbox:anyone"])["sandbox:anyone"].is_open


def test_without_redis_a_process_goes_on_with_what_it_read_last(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    say("providers", "off", "sandbox", *WHY)
    provider_health.read_health(["sandbox:anyone"])
    assert provider_health.read_local(["sandbox:anyone"])["sandbox:anyone"].is_open
    say("providers", "on", "sandbox", *WHY)
    provider_health.read_health(["sandbox:anyone"])
    assert not provider_health.read_local(["sandbox:anyone"])["sandbox:anyone"].is_open


def test_a_name_that_is_no_provider_changes_nothing(say: Say) -> None:
    status, _, fault = say("providers", "off", "nobody", *WHY)
    assert (status, "nobody is no provider: they are" in fault) == (1, True)
    with transaction() as session:
        assert list_switched_off(session) == {}
