"""What each member of a household keeps, added up."""

from collections.abc import Mapping
from decimal import Decimal

from mcp_server.toolkit.results import Money, Part
from shared.db.portfolio import Holdings
from shared.domain.plurals import pluralize
from shared.services.bookings.bookings import flight_state, stay_state
from shared.services.deadlines import Viewpoint

_IN_MESSAGE = 5


class MemberSums(Part):
    """Of one person; null is the account holder. `value`: of the points whose value is known."""

    member: str | None
    programs: int
    value: Money
    currency: str
    open_cards: int
    statuses: int
    upcoming_flights: int
    upcoming_stays: int


def sum_members(view: Viewpoint, holdings: Holdings, values: Mapping[int, Decimal]) -> list[MemberSums]:
    """The account holder first. `values`: of each balance, in the currency of the view."""
    kinds = (holdings.balances, holdings.statuses, holdings.cards, holdings.flights, holdings.stays)
    members = sorted({row.member for rows in kinds for row in rows})
    return [_sum_member(view, holdings, values, member) for member in members]


def _sum_member(view: Viewpoint, holdings: Holdings, values: Mapping[int, Decimal], member: str) -> MemberSums:
    facts, now = view.reference, view.now
    balances = [row for row in holdings.balances if row.member == member]
    cards = [row for row in holdings.cards if row.member == member]
    states = [stay_state(facts, row, now) for row in holdings.stays if row.member == member]
    return MemberSums(
        member=member or None,
        programs=len(balances),
        value=sum((values.get(row.id, Decimal(0)) for row in balances), Decimal(0)),
        currency=view.currency,
        open_cards=sum(row.closed_on is None or row.closed_on > view.today for row in cards),
        statuses=sum(row.member == member for row in holdings.statuses),
        upcoming_flights=sum(
            row.member == member and flight_state(facts, row, now) == "upcoming" for row in holdings.flights
        ),
        upcoming_stays=sum(state in ("upcoming", "current") for state in states),
    )


def describe_members(sums: list[MemberSums]) -> str:
    """What other members keep of the whole; empty without one."""
    others = [s for s in sums if s.member]
    sentences = [
        f" Of this, {s.member} has {pluralize(s.programs, 'programme')} worth about {s.value:,.2f} {s.currency}"
        + (f" and {pluralize(s.open_cards, 'open card')}." if s.open_cards else ".")
        for s in others[:_IN_MESSAGE]
    ]
    return "".join(sentences)
