"""The providers of this installation, stored by the dispatcher for programs that do not load them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.accounts import ServiceFact, store_fact

FACT = "provider_cards"


@dataclass(frozen=True)
class ProviderCard:
    """`health_name` names its shared health. `calls_a_day`: for the operator's key, if limited."""

    name: str
    health_name: str
    is_configured: bool
    calls_a_day: int | None = None

    @property
    def counter(self) -> str:
        """The name of the limit that counts these calls."""
        return f"calls:{self.health_name}"


def store_cards(session: Session, cards: Sequence[ProviderCard]) -> None:
    store_fact(session, FACT, json.dumps([asdict(card) for card in cards]))


def list_cards(session: Session) -> list[ProviderCard]:
    """Providers by name; empty before a dispatcher has started."""
    value = session.scalar(sa.select(ServiceFact.value).where(ServiceFact.name == FACT))
    return [ProviderCard(**card) for card in json.loads(value or "[]")]
