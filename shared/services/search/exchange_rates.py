"""Exchange rates for one response: the whole set of one source, so that its amounts can be compared."""

from collections.abc import Iterable
from decimal import Decimal

from shared import clock
from shared.domain.exchange_rates import EuroRate, Rates
from shared.providers import cache, registry
from shared.providers.ask import Ask
from shared.providers.contract import Provider, Rate, RatesQuestion, Reading
from shared.providers.frankfurter import BLEND

VERB = "exchange_rates"
FIRST = "ecb"  # one bank's own rates; the others are asked only for currencies it has none for
LABELS = {FIRST: "European Central Bank", "frankfurter": BLEND}
EVERY = RatesQuestion()


def none_known() -> Rates:
    return Rates("none", {}, clock.today())


async def rates(ask: Ask, currencies: Iterable[str | None]) -> Rates:
    """One set for a whole response: of the first source that has all these currencies, else of the one with most.

    Nobody is asked where there is nothing to convert. A source that does not answer is a set without rates; what is
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
    """The same for tools that ask nobody: what an earlier answer left."""
    codes = set(currencies)
    places = [(cache.build_key(p, registry.scope(p, None), VERB, EVERY), None) for p in _sources()]
    sets = [_read(r) for r in cache.get_many(places) if r]
    return max(sets, key=lambda rates: _count_known(rates, codes), default=none_known())


def _sources() -> list[Provider]:
    return sorted(registry.providers_of(VERB), key=lambda p: p.name != FIRST)


def _count_known(rates: Rates, codes: set[str]) -> int:
    return sum(map(rates.knows, codes))


def _read(reading: Reading[tuple[Rate, ...]]) -> Rates:
    """Not every source names the euro itself."""
    rows = reading.value or ()
    quotes = {"EUR": EuroRate(Decimal(1), max(r.day for r in rows))} if rows else {}
    quotes |= {r.currency: EuroRate(r.per_euro, r.day) for r in rows}
    return Rates(LABELS.get(reading.source, reading.source), quotes, clock.today())
