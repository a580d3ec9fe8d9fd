"""State of the sources of one verb, and when one last answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shared.providers import circuit_breaker, registry
from shared.providers.contract import Provider
from shared.settings import settings

State = Literal["live", "degraded", "down"]


@dataclass(frozen=True)
class Standing:
    """The sources that could answer now, taken together."""

    state: State
    last_success_at: datetime | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Backend:
    """One source, as it fares for everybody who is answered by it."""

    name: str
    state: Literal["live", "degraded", "down", "not_configured"]
    last_success_at: datetime | None


def backends() -> list[Backend]:
    """Every source of this data mode. One that answers accounts by their own connections is judged by them all."""
    mode = settings().data_mode
    cards = [p for p in registry.providers().values() if p.data_mode == mode]
    places = {p.name: circuit_breaker.shared_name(_name(p, 0)) for p in cards}
    health = circuit_breaker.read_health(places.values())
    return [_describe_backend(p, health[places[p.name]]) for p in cards]


def _describe_backend(card: Provider, health: circuit_breaker.Health) -> Backend:
    if card.credential == "operator" and not registry.operator_key(card):
        return Backend(card.name, "not_configured", None)
    down = health.is_open or health.failures >= circuit_breaker.FAILURES_TO_OPEN
    return Backend(card.name, "down" if down else "degraded" if health.failures else "live", health.last_success_at)


def find_standing(verb: str, account_id: int) -> Standing:
    """`down` also means that nobody is configured to answer; one healthy source among failing ones is `degraded`."""
    cards = [p for p in registry.providers_of(verb) if p.credential != "operator" or registry.operator_key(p)]
    health = list(circuit_breaker.read_health(_name(p, account_id) for p in cards).values())
    bad = sum(h.is_open for h in health)
    state: State = "live"
    if bad == len(health):
        state = "down"
    elif bad or any(h.failures for h in health):
        state = "degraded"
    last = max((h.last_success_at for h in health if h.last_success_at), default=None)
    return Standing(state, last, tuple(p.name for p in cards))


def _name(provider: Provider, account_id: int) -> str:
    return f"{provider.name}:{registry.scope(provider, account_id)}"
