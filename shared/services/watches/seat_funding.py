"""Payment of award seats that a watch found, from a person's balances, by their cards' transfer routes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from shared import clock
from shared.db.cards import list_open_slugs
from shared.domain.funding import find_funding
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import Network
from shared.reference.load import reference
from shared.reference.reference import Reference
from shared.services.search.award_options import AwardOption
from shared.services.search.purses import read_household
from shared.services.watches.award_seats import WatchQuery

MAX_PROGRAMS = 3  # whose best price is compared with balances


def describe_funding(session: Session, query: WatchQuery, options: Sequence[AwardOption]) -> list[dict[str, Any]]:
    """How saved balances pay the best programmes' best prices for all travellers; empty without balances."""
    household = read_household(session, reference(), query.account_id)
    if not household.purses:
        return []
    facts = household.reference
    routes = facts.routes(clock.today(), list_open_slugs(session, clock.today(), query.account_id))
    best: dict[str, int] = {}
    for option in options:
        if len(best) < MAX_PROGRAMS and option.program in facts.programs:
            best.setdefault(option.program, option.points * query.terms.passengers)
    return [_describe_payment(facts, routes, household.purses, program, points) for program, points in best.items()]


def _describe_payment(
    facts: Reference, routes: Network, purses: Sequence[Purse], program: str, points: int
) -> dict[str, Any]:
    funding = find_funding(routes, purses, program, points)
    return {
        "program_name": name_program(facts, program),
        "needed": points,
        "missing": funding.missing,
        "parts": [_describe_part(facts, way) for way in funding.ways],
    }


def _describe_part(facts: Reference, way: Way) -> dict[str, Any]:
    return {
        "program_name": name_program(facts, way.purse.program),
        "balance": way.purse.points,
        "points": way.points_sent,
        "targets": [name_program(facts, edge.target) for edge in way.path.edges] if way.path else [],
        "posting": way.posting,
        "lent": [{"member": share.member, "points": share.points} for share in way.lent],
    }


def name_program(facts: Reference, slug: str) -> str:
    return facts.programs[slug].name if slug in facts.programs else slug
