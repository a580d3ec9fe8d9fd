"""The providers of this installation as its dispatcher has them: what a program says of them that asks none itself."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import ServiceFact

FACT = "provider_cards"


@dataclass(frozen=True)
class ProviderCard:
    """`health_name` is the one of its health for everybody. `calls_a_day`: of the operator's key, where limited."""

    name: str
    health_name: str
    is_configured: bool
    calls_a_day: int | None = None

    @property
    def counter(self) -> str:
        """The name of the limit that counts these calls."""
        return f"calls:{self.health_name}"


def store_cards(session: Session, cards: Sequence[ProviderCard]) -> None:
    value = json.dumps([asdict(card) for card in cards])
    row = insert(ServiceFact).values(name=FACT, value=value, set_at=clock.now())
    newest = {"value": row.excluded.value, "set_at": row.excluded.set_at}
    session.execute(row.on_conflict_do_update(index_elements=["name"], set_=newest))


def list_cards(session: Session) -> list[ProviderCard]:
    """By name; none before a dispatcher has begun."""
    value = session.scalar(sa.select(ServiceFact.value).where(ServiceFact.name == FACT))
    return [ProviderCard(**card) for card in json.loads(value or "[]")]
