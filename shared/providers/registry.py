"""Registry of providers: every sub-package here that has a `PROVIDER` card.

Those with only a connection to a person's account (`connect.CONNECTOR`) have none.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

import shared.providers
from shared.providers.contract import Provider
from shared.settings import SettingsError, settings
from shared.settings.checks import read_numbers


@lru_cache(maxsize=1)
def providers() -> Mapping[str, Provider]:
    """Every provider of this installation by name, configured or not, with the limits of the operator's contracts.

    Raises SettingsError where these name one that does not exist.
    """
    folders = sorted(m.name for m in pkgutil.iter_modules(shared.providers.__path__) if m.ispkg)
    found_cards = {
        name: getattr(importlib.import_module(f"shared.providers.{name}"), "PROVIDER", None) for name in folders
    }
    cards: dict[str, Provider] = {name: card for name, card in found_cards.items() if card is not None}
    for name, card in cards.items():
        if card.name != name:
            raise ValueError(f"the folder {name} shows the card of {card.name}")
    for name, number in _read_contracts("provider_concurrency", cards):
        cards[name] = replace(cards[name], concurrency=number)
    for name, number in _read_contracts("provider_calls_a_day", cards):
        cards[name] = replace(cards[name], calls_a_day=number)
    return cards


def _read_contracts(setting: str, cards: Mapping[str, Provider]) -> Iterable[tuple[str, int]]:
    numbers = read_numbers(getattr(settings(), setting))
    if unknown := sorted(numbers.keys() - cards.keys()):
        raise SettingsError(f"{setting.upper()}: {', '.join(unknown)} is no provider: they are {', '.join(cards)}")
    return numbers.items()


def providers_of(verb: str) -> list[Provider]:
    """Providers of this verb in this process's data mode: invented and real sources never mix."""
    mode = settings().data_mode
    return [p for p in providers().values() if verb in p.answers and p.data_mode == mode]


def operator_key(provider: Provider) -> str | None:
    """The key the operator set for this provider, if any."""
    value = getattr(settings(), provider.setting) if provider.setting else None
    return value.get_secret_value() or None if value else None


def scope(provider: Provider, account_id: int | None) -> str:
    """The owner of the credential: health is kept by scope, and so are answers that must not be shared."""
    if provider.credential == "none":
        return "anyone"
    by_operator = provider.credential == "operator" or (provider.credential == "either" and operator_key(provider))
    return "operator" if by_operator else f"account-{account_id}"
