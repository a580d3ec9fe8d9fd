"""A person's saved cards, for advice."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from mcp_server.toolkit.context import Call
from shared.db.cards import Card as Row
from shared.db.members import HOLDER
from shared.domain.issuer_rules import OwnCard
from shared.reference.reference import Reference

MAX_CARDS = 1_000  # no person has that many


@dataclass(frozen=True)
class Wallet:
    """The cards of one member of the household.

    `names` and `ids` are of the first open card of each catalogue entry.
    """

    cards: tuple[OwnCard, ...]
    open_slugs: frozenset[str]
    names: Mapping[str, str]
    ids: Mapping[str, int]
    open_custom: int

    @property
    def slugs(self) -> frozenset[str]:
        return frozenset(card.slug for card in self.cards if card.slug)


def read_wallet(call: Call, member: str = HOLDER) -> Wallet:
    rows = call.db.scalars(sa.select(Row).where(Row.member == member).order_by(Row.id).limit(MAX_CARDS)).all()
    cards = tuple(_to_own_card(call.reference, row) for row in rows)
    is_open = [row.closed_on is None or row.closed_on > call.today for row in rows]
    linked = [row for row, is_row_open in zip(rows, is_open, strict=True) if is_row_open and row.slug]
    return Wallet(
        cards=cards,
        open_slugs=frozenset(row.slug for row in linked if row.slug),
        names={row.slug: row.nickname or row.name for row in reversed(linked) if row.slug},
        ids={row.slug: row.id for row in reversed(linked) if row.slug},
        open_custom=sum(is_open) - len(linked),
    )


def _to_own_card(reference: Reference, row: Row) -> OwnCard:
    card = reference.cards.get(row.slug or "")
    return OwnCard(
        slug=row.slug,
        issuer=card.issuer if card else None,
        country=card.country if card else row.country,
        segment=card.segment if card else None,
        opened_on=row.opened_on,
        closed_on=row.closed_on,
        bonus_earned=row.bonus_status == "earned",
        bonus_earned_on=row.bonus_earned_on,
    )
