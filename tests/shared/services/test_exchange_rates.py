"""Exchange rates through the door: one source a response, the bank's own first, nothing asked without need."""

from decimal import Decimal
from typing import Any

import anyio
import pytest

from shared.domain.exchange_rates import Rates
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Unanswered
from shared.providers.frankfurter import BLEND
from shared.services.search.exchange_rates import load_cached_rates, rates
from tests.support.fake_rates import answering, failing_with, rates_of
from tests.support.fake_seats import WithSources, live, with_sources

__all__ = ["live", "with_sources"]


def known(*currencies: str | None) -> Rates:
    async def go() -> Rates:
        return await rates(Ask(), currencies)

    return anyio.run(go)


def _counting(card: Provider) -> tuple[Provider, list[Any]]:
    asked: list[Any] = []

    async def exchange_rates(question: Any) -> Any:
        asked.append(question)
        async with card.build(None) as client:
            return await client.exchange_rates(question)

    return answering(card.name, {"exchange_rates": exchange_rates}, terms="anyone"), asked


def test_rates_are_the_central_banks_where_it_has_all_currencies(with_sources: WithSources) -> None:
    blend, asked = _counting(rates_of("frankfurter", USD="1.2", GBP="0.9", AED="4.1"))
    with_sources(blend, rates_of(USD="1.12", GBP="0.84"))
    made = known("USD", "GBP", None)
    assert (made.source, made.amount(Decimal(84), "GBP", "USD")) == ("European Central Bank", 112)
    assert asked == []


def test_a_currency_the_bank_lacks_is_converted_by_the_blend_and_named_so(with_sources: WithSources) -> None:
    with_sources(rates_of(USD="1.12"), rates_of("frankfurter", USD="1.2", AED="4.2"))
    made = known("USD", "AED")
    assert made.source == BLEND
    assert made.amount(Decimal(42), "AED", "USD") == 12  # both legs of one set, none mixed
    assert made.amount(Decimal(42), "AED", "EUR") == 10


def test_one_currency_alone_asks_nobody(with_sources: WithSources) -> None:
    bank, asked = _counting(rates_of(USD="1.12"))
    with_sources(bank)
    assert known("USD", "USD", None).source == "none"
    assert asked == []


def test_rates_are_kept_for_hours_and_read_without_asking(with_sources: WithSources) -> None:
    bank, asked = _counting(rates_of(USD="1.12", GBP="0.84"))
    with_sources(bank)
    assert load_cached_rates(["USD", "GBP"]).source == "none"
    known("USD", "GBP")
    known("USD", "GBP")
    assert len(asked) == 1
    assert load_cached_rates(["USD", "GBP"]).amount(Decimal(84), "GBP", "USD") == 112
    assert len(asked) == 1


def test_kept_rates_serve_a_call_whose_time_is_over(with_sources: WithSources) -> None:
    with_sources(rates_of(USD="1.12", GBP="0.84"))

    async def late(budget: float) -> Rates:
        return await rates(Ask(budget=budget), ["USD", "GBP"])

    assert anyio.run(late, 0).source == "none"
    known("USD", "GBP")
    assert anyio.run(late, 0).source == "European Central Bank"


@pytest.mark.parametrize("word", ["down", "broken", "quota_exhausted"])
def test_without_an_answer_of_a_source_nothing_is_converted(with_sources: WithSources, word: Any) -> None:
    with_sources(failing_with("ecb", "exchange_rates", Unanswered(word, word)))
    assert known("USD", "GBP").convert(Decimal(1), "USD", "GBP") is None


def test_stale_rates_of_the_bank_give_way_to_newer_ones(with_sources: WithSources) -> None:
    with_sources(rates_of(USD="1.1", GBP="0.9", days_ago=9), rates_of("frankfurter", USD="1.2", GBP="0.8"))
    assert known("USD", "GBP").source == BLEND
    with_sources(rates_of("another", USD="1.1", GBP="0.9", days_ago=9))
    assert known("USD", "GBP").convert(Decimal(1), "USD", "GBP") is None
