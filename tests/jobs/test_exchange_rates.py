"""The run that fetches the bank's rates: newer whole sets reach the answers, everything else leaves them alone."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from jobs import dispatcher
from jobs.handlers import exchange_rates as handler
from shared import clock
from shared.db.run_kinds import RunKind
from shared.db.runs import Schedule
from shared.providers.contract import Unanswered
from shared.redis import connect
from shared.reference import exchange_rates
from shared.reference.exchange_rates import (
    PEGS,
    DayRates,
    convert_amount,
    describe_rate,
    find_exchange_rate,
    list_currencies,
    load_shipped_rates,
    take_up,
)
from shared.services.search.exchange_rates import refresh_bank_rates
from tests.jobs.conftest import rows
from tests.support.fake_rates import failing_with, rates_of
from tests.support.fake_seats import WithSources, live, with_sources

__all__ = ["live", "with_sources"]


@pytest.fixture(autouse=True)
def _as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_rates, "_newest", [])


def whole_set(**other: str) -> dict[str, str]:
    return {code: str(rate) for code, rate in load_shipped_rates().per_euro.items()} | other


def run() -> bool:
    handler.check(None)  # type: ignore[arg-type]
    return refresh_bank_rates()


def test_newer_rates_of_the_bank_are_taken_up_with_their_day(with_sources: WithSources) -> None:
    with_sources(rates_of(**whole_set(USD="1.2", JPY="180")))
    assert run()
    rate = find_exchange_rate("JPY")
    assert rate
    assert (rate.usd_per_unit, rate.day) == (Decimal("1.2") / 180, clock.today() - timedelta(days=1))
    assert not refresh_bank_rates()  # the same set again


@pytest.mark.parametrize(
    "source",
    [
        rates_of(USD="1.2", JPY="180"),
        rates_of(days_ago=400, **whole_set(USD="1.2")),
        rates_of(**{k: v for k, v in whole_set().items() if k != "USD"}),
        failing_with("ecb", "exchange_rates", Unanswered("down", "wrong_shape")),
    ],
    ids=["truncated", "older", "without the dollar", "a page of HTML"],
)
def test_rates_stay_when_the_bank_sends_less_than_a_newer_whole_set(with_sources: WithSources, source: Any) -> None:
    with_sources(source)
    before = find_exchange_rate("GBP")
    assert not run()
    assert find_exchange_rate("GBP") == before


def test_without_the_bank_nobody_is_asked(with_sources: WithSources) -> None:
    with_sources(rates_of("frankfurter", **whole_set(USD="1.2")))
    assert not run()


def test_what_another_version_stored_is_left_alone(with_sources: WithSources) -> None:
    with_sources(rates_of(**whole_set(USD="1.2")))
    handler.check(None)  # type: ignore[arg-type]
    for key in connect().scan_iter("*bank-rates"):
        connect().set(key, b"<html>")
    assert not refresh_bank_rates()


def test_the_rates_have_their_schedule(clean: None) -> None:
    dispatcher.begin()
    assert [s.every for s in rows(Schedule) if s.kind == RunKind.EXCHANGE_RATES] == [timedelta(hours=12)]


def test_the_shipped_file_names_its_day_and_the_currencies_people_ask_for() -> None:
    shipped = load_shipped_rates()
    assert shipped.day > date(2026, 1, 1)
    assert set(shipped.per_euro) > {"EUR", "USD", "GBP", "JPY", "CHF", "SGD", "AUD", "CAD", "INR", "MXN"}
    assert shipped.per_euro["EUR"] == 1
    assert find_exchange_rate("KWD") is None  # follows a basket, so nobody can fix its rate here


@pytest.mark.parametrize("currency", PEGS)
def test_a_currency_fixed_to_the_dollar_has_its_rate_and_its_source(currency: str) -> None:
    units, source = PEGS[currency]
    assert source.startswith("http")
    assert convert_amount(units, currency, "USD") == pytest.approx(Decimal(1))
    assert currency in list_currencies()
    rate = find_exchange_rate(currency)
    assert rate
    assert describe_rate(rate).endswith("USD, its rate fixed to the dollar")


def test_a_rate_of_the_bank_counts_before_a_fixed_one(with_sources: WithSources) -> None:
    with_sources(rates_of(**whole_set(USD="1.2", AED="4.8")))
    assert run()
    rate = find_exchange_rate("AED")
    assert rate
    assert (rate.usd_per_unit, rate.day) == (Decimal("0.25"), clock.today() - timedelta(days=1))


def test_a_set_of_the_same_day_is_no_news() -> None:
    assert not take_up(DayRates(load_shipped_rates().day, load_shipped_rates().per_euro))
