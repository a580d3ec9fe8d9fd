"""The state of a verb's sources, and when one last answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shared import provider_health
from shared.db.provider_cards import ProviderCard
from shared.provider_health import State
from shared.providers import registry
from shared.providers.contract import Provider
from shared.settings import settings


@dataclass(frozen=True)
class SourceStanding:
    """The combined state of the sources that could answer now."""

    state: State
    last_success_at: datetime | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Backend:
    """One source, with its state for everyone it answers."""

    name: str
    state: Literal["live", "degraded", "down", "not_configured"]
    last_success_at: datetime | None
    is_switched_off: bool = False  # by the operator
    reason: str | None = None  # one word for its last failure


def list_provider_cards() -> list[ProviderCard]:
    """Every source of this data mode. One used through accounts' own connections is judged by them all."""
    mode = settings().data_mode
    return [_to_card(p) for p in registry.providers().values() if p.data_mode == mode]


def _to_card(provider: Provider) -> ProviderCard:
    is_configured = provider.credential != "operator" or registry.operator_key(provider) is not None
    health_name = provider_health.shared_name(_name(provider, 0))
    calls = provider.calls_a_day if registry.scope(provider, None) == "operator" else None
    return ProviderCard(provider.name, health_name, is_configured, calls)


def backends() -> list[Backend]:
    """Every source of this data mode with its state."""
    cards = list_provider_cards()
    health = provider_health.read_health(card.health_name for card in cards)
    return [_describe_backend(card, health[card.health_name]) for card in cards]


def _describe_backend(card: ProviderCard, health: provider_health.Health) -> Backend:
    if not card.is_configured:
        return Backend(card.name, "not_configured", None)
    is_off = health.reason == provider_health.SWITCHED_OFF
    return Backend(card.name, health.state, health.last_success_at, is_off, health.reason)


def find_standing(verb: str, account_id: int) -> SourceStanding:
    """`down` also means that no source is configured; one healthy source among failing ones is `degraded`."""
    cards = [p for p in registry.providers_of(verb) if p.credential != "operator" or registry.operator_key(p)]
    health = list(provider_health.read_health(_name(p, account_id) for p in cards).values())
    bad = sum(h.is_open for h in health)
    state: State = "live"
    if bad == len(health):
        state = "down"
    elif bad or any(h.failures for h in health):
        state = "degraded"
    last = max((h.last_success_at for h in health if h.last_success_at), default=None)
    return SourceStanding(state, last, tuple(p.name for p in cards))


def _name(provider: Provider, account_id: int) -> str:
    return f"{provider.name}:{registry.scope(provider, account_id)}"
