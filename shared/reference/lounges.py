"""Airport lounges on the lists of lounge networks, access rules, and the price of guests."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from shared.domain import names
from shared.reference.keys import Tables, list_rows
from shared.reference.reference import Reference
from shared.reference.rows.travel import Lounge, LoungeEntry

GUESTS_ON = ("same_flight", "same_airline", "same_alliance", "same_day")


@lru_cache(maxsize=4)
def _index_airports(reference: Reference) -> Mapping[str, Mapping[str, tuple[Lounge, ...]]]:
    """Lounges by airport and name."""
    lounges: dict[str, dict[str, tuple[Lounge, ...]]] = {}
    for lounge in reference.rows("lounges.csv"):
        there = lounges.setdefault(lounge.airport, {})
        name = names.normalize_name(lounge.name)
        there[name] = (*there.get(name, ()), lounge)
    return lounges


def find_lounges(reference: Reference, airport: str, name: str) -> list[Lounge]:
    """The lounges of an airport that a loose name may mean."""
    there = _index_airports(reference).get(airport, {})
    slugs = {key: tuple(lounge.slug for lounge in lounges) for key, lounges in there.items()}
    slugs_meant = set(names.find_meanings(name, slugs))
    return [lounge for lounges in there.values() for lounge in lounges if lounge.slug in slugs_meant]


def find_membership(reference: Reference, text: str) -> str | None:
    """The membership a loose name means exactly."""
    rows = (row.membership for row in reference.rows("lounge_memberships.csv"))
    return next((m for m in rows if names.normalize_name(m) == names.normalize_name(text)), None)


def list_at(reference: Reference, airport: str, network: str) -> list[str]:
    """The names of the lounges of a network at an airport."""
    there = _index_airports(reference).get(airport, {})
    return sorted(lounge.name for lounges in there.values() for lounge in lounges if network in lounge.networks)


def find_alliance_tiers(reference: Reference, held: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The alliance statuses of programmes' tiers."""
    rows = reference.rows("alliance_tiers.csv")
    return frozenset(
        row.alliance_tier for program, tier in held for row in rows if row.program == program and tier in row.tiers
    )


def list_entries(reference: Reference, holders: Collection[str], on: date) -> Sequence[LoungeEntry]:
    """The lounge access of these cards and alliance statuses on a day."""
    return [r for r in reference.rows("lounge_entry.csv") if r.holder in holders and r.is_valid(on)]


class GuestPrice(NamedTuple):
    """The price of guests: how many pay, the total, and how many are not admitted. None: unknown."""

    paying: int
    amount: Decimal | None
    left_out: int


def price_guests(entry: LoungeEntry, guests: int) -> GuestPrice | None:
    """The price for that many guests; None where it is not known whether any come in."""
    if not guests:
        return GuestPrice(0, Decimal(0), 0)
    if entry.guests_free is None and entry.guest_fee is None:
        return None
    let_in = guests if entry.guests_most is None else min(guests, entry.guests_most)
    paying = max(0, let_in - (entry.guests_free or 0))
    if not paying:
        return GuestPrice(0, Decimal(0), guests - let_in)
    return GuestPrice(paying, None if entry.guest_fee is None else paying * entry.guest_fee, guests - let_in)


def find_faults(tables: Tables) -> Iterator[str]:
    memberships = {row.membership for row in tables["lounge_memberships.csv"].values()}
    for where, row in list_rows(tables, "lounges.csv"):
        yield from (f"{where}: {n!r} is not in lounge_memberships.csv" for n in row.networks if n not in memberships)
    yield from _find_entry_faults(tables, memberships)
    tiers = {(row.program, row.tier) for row in tables["elite_tiers.csv"].values()}
    for where, row in list_rows(tables, "alliance_tiers.csv"):
        if row.alliance_tier not in memberships:
            yield f"{where}: {row.alliance_tier!r} is not in lounge_memberships.csv"
        yield from (f"{where}: {t!r} is no tier of {row.program}" for t in row.tiers if (row.program, t) not in tiers)
    yield from _find_skipped_tiers(tables)


def _find_skipped_tiers(tables: Tables) -> Iterator[str]:
    """Tiers without an alliance status above one that has it: airlines never take it away from a higher tier."""
    lines: dict[str, str] = {}
    with_status: dict[str, set[str]] = {}
    for where, row in list_rows(tables, "alliance_tiers.csv"):
        lines.setdefault(row.program, where)
        with_status.setdefault(row.program, set()).update(row.tiers)
    ladders: dict[str, dict[str, int]] = {program: {} for program in lines}
    for row in tables["elite_tiers.csv"].values():
        if row.program in ladders:
            ladders[row.program][row.tier] = row.rank
    for program, ranks in ladders.items():
        lowest = min((ranks[tier] for tier in with_status[program] if tier in ranks), default=None)
        for tier, rank in ranks.items():
            if lowest is not None and rank > lowest and tier not in with_status[program]:
                yield f"{lines[program]}: {tier} of {program} brings no alliance status, and a lower tier does"


def _find_entry_faults(tables: Tables, memberships: Collection[str]) -> Iterator[str]:
    cards = {row.slug for row in tables["cards.csv"].values()}
    for where, row in list_rows(tables, "lounge_entry.csv"):
        if row.network not in memberships:
            yield f"{where}: {row.network!r} is not in lounge_memberships.csv"
        if row.holder != row.network and row.holder not in cards:
            yield f"{where}: holder {row.holder!r} is neither a card of cards.csv nor the network itself"
        if row.guests_on not in (None, *GUESTS_ON):
            yield f"{where}: guests_on {row.guests_on!r} is not one of {', '.join(GUESTS_ON)}"
        if (row.guest_fee is None) != (row.fee_currency is None):
            yield f"{where}: guest_fee and fee_currency go together"
        if row.guests_most is not None and (row.guests_free or 0) > row.guests_most:
            yield f"{where}: {row.guests_free} guests are free, but {row.guests_most} may come at most"
