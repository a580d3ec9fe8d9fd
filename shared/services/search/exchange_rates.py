"""Exchange rates for one response: the whole set of one source, so that its amounts can be compared.

The bank's own set is also fetched daily for estimates of value, which ask no one.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter, ValidationError

from shared import clock
from shared.domain.exchange_rates import EuroRate, Rates
from shared.providers import cache, registry
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Rate, RatesQuestion, Reading
from shared.providers.frankfurter import BLEND
from shared.redis import call_redis, connect, key
from shared.reference.exchange_rates import BANK, DayRates, take_up

VERB = "exchange_rates"
FIRST = "ecb"  # one bank's own rates; others are asked only for currencies it lacks
LABELS = {FIRST: BANK, "frankfurter": BLEND}
EVERY = RatesQuestion()
_DAY_RATES = TypeAdapter(DayRates)


def none_known() -> Rates:
    return Rates("none", {}, clock.today())


async def rates(ask: Ask, currencies: Iterable[str | None]) -> Rates:
    """One set for a whole response: from the first source with all these currencies, else with the most.

    Asks no one if there is nothing to convert. A source that does not answer is a set without rates; what is
    kept is used even when the time budget has run out.
    """
    codes = {c for c in currencies if c}
    best = none_known()
    if len(codes) < 2:
        return best
    cached = {reading.source: reading for reading in await ask.get_cached(VERB, [EVERY])}
    for provider in _sources():
        candidate = _read(cached.get(provider.name) or await ask.one(provider.name, VERB, EVERY))
        if _count_known(candidate, codes) > _count_known(best, codes):
            best = candidate
        if _count_known(best, codes) == len(codes):
            break
    return best


def load_cached_rates(currencies: Iterable[str]) -> Rates:
    """The same for tools that ask no one, from an earlier answer."""
    codes = set(currencies)
    places = [(cache.build_key(p, registry.scope(p, None), VERB, EVERY), None) for p in _sources()]
    sets = [_read(r) for r in cache.get_many(places) if r]
    return max(sets, key=lambda rates: _count_known(rates, codes), default=none_known())


async def fetch_bank_rates() -> DayRates | None:
    """The bank's newest set; None if the bank is not a source here or does not answer."""
    if not any(provider.name == FIRST for provider in _sources()):
        return None
    reading = await Ask(background=True).one(FIRST, VERB, EVERY)
    rows = reading.value or ()
    return DayRates(max(r.day for r in rows), {r.currency: r.per_euro for r in rows}) if rows else None


def store_bank_rates(rates: DayRates) -> None:
    """Stores the rates for all processes. Without Redis each continues with what it has."""
    call_redis(lambda: connect().set(_store_key(), _DAY_RATES.dump_json(rates)))


def refresh_bank_rates() -> bool:
    """Loads the stored set into this process, if newer and complete; whether it was."""
    entry: Any = call_redis(lambda: connect().get(_store_key()))
    try:
        return entry is not None and take_up(_DAY_RATES.validate_json(entry))
    except ValidationError:
        return False  # written by another version


def _store_key() -> str:
    return key("bank-rates")


def _sources() -> list[Provider]:
    return sorted(registry.providers_of(VERB), key=lambda p: p.name != FIRST)


def _count_known(rates: Rates, codes: set[str]) -> int:
    return sum(map(rates.knows, codes))


def _read(reading: Reading[tuple[Rate, ...]]) -> Rates:
    """Reads the rates; not every source names the euro itself."""
    rows = reading.value or ()
    quotes = {"EUR": EuroRate(Decimal(1), max(r.day for r in rows))} if rows else {}
    quotes |= {r.currency: EuroRate(r.per_euro, r.day) for r in rows}
    return Rates(LABELS.get(reading.source, reading.source), quotes, clock.today())
