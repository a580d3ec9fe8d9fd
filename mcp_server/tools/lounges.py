"""Lounge visits a person logged, with counts per card and access method, and which lounges their cards open."""

from collections.abc import Collection
from datetime import date, datetime, timedelta
from functools import partial
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, delete, select

from mcp_server.toolkit import Added, Call, Effect, Money, Paging, Part, Result, Tier, edits, tool
from mcp_server.toolkit.argument_schema import UNASSUMED
from mcp_server.toolkit.own_rows import Again, find_saved, get_own
from mcp_server.toolkit.parameters import (
    NOT_BLANK,
    AirportOrCity,
    Amount,
    AnyName,
    CardId,
    Currency,
    Day,
    Page,
    PerPage,
    RowId,
)
from mcp_server.toolkit.provenance import Audited, describe_audited
from mcp_server.toolkit.wording import tell_rows
from shared.db.cards import Card, list_open_slugs
from shared.db.lounges import LoungeVisit as Row
from shared.db.lounges import count_visits, page_of_visits
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus
from shared.domain.dates import format_day
from shared.domain.party_prices import format_money
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NotFound
from shared.reference import lounges
from shared.reference.rows.travel import LoungeEntry

AccessMethod = Literal["card", "status", "ticket", "membership", "paid", "guest", "other"]
Name = Annotated[str, Field(max_length=120), NOT_BLANK]
Guests = Annotated[int, Field(ge=0, le=20)]
Rating = Annotated[int | None, Field(ge=1, le=5)]
Notes = Annotated[str | None, Field(max_length=4000)]
VisitId = Annotated[RowId, Field(description="From list_lounge_visits.")]


class LoungeVisit(Part):
    visit_id: int
    lounge_name: str
    airport: str
    visited_on: date
    access_method: AccessMethod
    card_id: int | None
    program: str | None
    guests: int
    amount_paid: Money | None
    currency: str
    rating: int | None
    notes: str | None
    created_at: datetime


class LoungeCounts(Part):
    total: int
    by_access_method: dict[str, int]
    by_card: dict[int, int]  # by card_id


class LoungeTotals(LoungeCounts):
    guests: int


class ListedLounge(Audited):
    """A lounge of this name at the airport, from a lounge network's list."""

    name: str
    networks: list[str]


class LoggedVisit(Added):
    visit: LoungeVisit
    listed_lounges: list[ListedLounge]
    visits_this_year: LoungeCounts


class EntryRule(Audited):
    """What one card or status opens. `guests_cost`: of the guests asked about, null: not known.

    `listed_here`: those at the airport asked about; null: no list of them by airport is known.
    """

    lounges: str
    card_or_status: str
    guests_free: int | None
    guests_most: int | None
    guest_fee: Money | None
    guests_cost: Money | None
    currency: str | None
    hours_before: int | None
    guests_on: Literal["same_flight", "same_airline", "same_alliance", "same_day"] | None
    visits_a_year: int | None
    condition: str | None
    listed_here: list[str] | None


class Visits(Result):
    visits: list[LoungeVisit]
    totals: LoungeTotals
    paging: Paging
    entry: list[EntryRule]


class ChangedVisit(Result):
    visit: LoungeVisit
    changed: list[str]


class RemovedVisit(Part):
    visit_id: int
    lounge_name: str
    visited_on: date


class DeletedVisit(Result):
    removed: RemovedVisit


def _to_visit(row: Row) -> LoungeVisit:
    columns = {name: getattr(row, name) for name in LoungeVisit.model_fields if name != "visit_id"}
    return LoungeVisit.model_validate(columns | {"visit_id": row.id})


def _check_place(call: Call, airport: str | None, visited_on: date | None) -> None:
    if visited_on is not None and visited_on > call.today + timedelta(days=1):  # the local day can be one ahead of UTC
        raise Invalid(Fault("visited_on", "is in the future", f"a day up to {call.today.isoformat()}"))
    if airport is None or airport in call.reference.airports:
        return
    if members := [code for code in call.reference.metros.get(airport, ()) if code in call.reference.airports]:
        raise Invalid(Fault("airport", "is a city", f"one of its airports: {', '.join(members)}"))
    call.reference.airport(airport)  # raises NotFound with the nearest names


def _check_card(call: Call, card_id: int | None, *, locked: bool = True) -> None:
    """Locks the card, so that it is not deleted before the visit refers to it."""
    lock = {"read": True, "key_share": True} if locked else None
    if card_id is not None and call.db.get(Card, card_id, with_for_update=lock) is None:
        raise NotFound("card", card_id)


def _resolve_program(call: Call, text: str | None) -> str | None:
    """The slug of a loyalty programme, or the name of a lounge membership such as Priority Pass."""
    if not text:
        return text
    return lounges.find_membership(call.reference, text) or call.reference.program(text).slug


_get_own = partial(get_own, Row, "lounge visit")


@tool("lounges", Tier.PAID, Effect.ADDS, "Add a lounge visit")
def log_lounge_visit(
    call: Call,
    lounge_name: Name,
    airport: AirportOrCity,
    visited_on: Day,
    access_method: AccessMethod = "other",
    card_id: CardId | None = None,
    program: AnyName | None = None,
    guests: Annotated[Guests, UNASSUMED] = 0,
    amount_paid: Amount | None = None,
    currency: Currency = "USD",
    rating: Rating = None,
    notes: Notes = None,
    again: Again = None,
) -> LoggedVisit:
    """Logs a visit to an airport lounge: date, card, status or Priority Pass used to enter, guests, food, rating.

    For "I was at the Centurion lounge this morning." Paid.
    """
    _check_place(call, airport, visited_on)
    row = Row(
        lounge_name=lounge_name,
        airport=airport,
        visited_on=visited_on,
        access_method=access_method,
        card_id=card_id,
        program=_resolve_program(call, program) or None,
        guests=guests,
        amount_paid=amount_paid,
        currency=currency,
        rating=rating,
        notes=notes or None,
    )
    _check_card(call, card_id)
    if saved := find_saved(call, row, "visit", again=again):
        row = saved.row
    else:
        call.db.add(row)
        call.db.flush()
    this_year = Row.visited_on.between(call.today.replace(month=1, day=1), call.today.replace(month=12, day=31))
    counts = count_visits(call.db, this_year)
    matches = lounges.find_lounges(call.reference, airport, lounge_name)
    logged = f"Visit {row.id} to {row.lounge_name} ({row.airport}) is logged."
    return LoggedVisit(
        message=saved.message if saved else f"{logged} {pluralize(counts.total, 'visit')} this year.",
        already_saved=saved is not None,
        visit=_to_visit(row),
        listed_lounges=[
            ListedLounge(name=lounge.name, networks=list(lounge.networks), **describe_audited(lounge))
            for lounge in matches
        ],
        visits_this_year=LoungeCounts.model_validate(counts),
    )


_ALLIANCE_NAMES = {
    "oneworld-emerald": "oneworld Emerald",
    "oneworld-sapphire": "oneworld Sapphire",
    "star-gold": "Star Alliance Gold",
    "skyteam-elite-plus": "SkyTeam Elite Plus",
}
_GUESTS_ON = {
    "same_flight": "on the same flight",
    "same_airline": "on a flight of the airline or a partner",
    "same_alliance": "on a flight of the alliance",
    "same_day": "with a flight that day",
}
_MOST_TOLD = 3  # rules in the sentence; the others are in the rows


def _list_entry_rules(call: Call, card_id: int | None, airport: str | None, guests: int) -> list[EntryRule]:
    """What the person's cards and statuses open, or just one card; cheapest for guests first."""
    if card_id is None:
        slugs: Collection[str | None] = list_open_slugs(call.db, call.today)
        query = select(LoyaltyStatus.program, LoyaltyStatus.tier).where(LoyaltyStatus.member == HOLDER)
        own_tiers = [(program, tier) for program, tier in call.db.execute(query)]
        statuses = lounges.find_alliance_tiers(call.reference, own_tiers)
    else:
        slugs, statuses = [call.db.scalar(select(Card.slug).where(Card.id == card_id))], frozenset()
    holders = {slug for slug in slugs if slug} | statuses
    rules = [
        _to_entry_rule(call, e, airport, guests) for e in lounges.list_entries(call.reference, holders, call.today)
    ]
    return sorted(rules, key=lambda r: (r.guests_cost is None, r.guests_cost or 0, r.lounges))


def _to_entry_rule(call: Call, entry: LoungeEntry, airport: str | None, guests: int) -> EntryRule:
    price = lounges.price_guests(entry, guests)
    card = call.reference.cards.get(entry.holder)
    has_list = any(entry.network in lounge.networks for lounge in call.reference.rows("lounges.csv"))
    return EntryRule.from_row(
        entry,
        card_or_status=card.name if card else _ALLIANCE_NAMES[entry.holder],
        guests_cost=price.amount if price and not price.left_out else None,
        currency=entry.fee_currency,
        listed_here=lounges.list_at(call.reference, airport, entry.network) if airport and has_list else None,
        **describe_audited(entry),
    )


def _describe_entry(rules: list[EntryRule], airport: str | None, guests: int) -> str:
    if not rules:
        return "We know no lounge rule of your cards and statuses."
    here = next((r.listed_here for r in rules if r.listed_here), None)
    listed = f" Priority Pass lists {pluralize(len(here), 'lounge')} at {airport}." if here else ""
    more = f" {pluralize(len(rules) - _MOST_TOLD, 'more rule')}." if len(rules) > _MOST_TOLD else ""
    return " ".join(_describe_rule(r, guests) for r in rules[:_MOST_TOLD]) + more + listed


def _describe_rule(rule: EntryRule, guests: int) -> str:
    """`Centurion Lounges with American Express Platinum Card: 2 guests cost $100, on the same flight.`"""
    who = pluralize(guests, "guest")
    if rule.guests_most is not None and guests > rule.guests_most:
        price = f"{pluralize(rule.guests_most, 'guest')} at most"
    elif rule.guests_cost is None:
        price = f"the price of {who} is not known" if rule.guests_free is None else f"{rule.guests_free} of {who} free"
    elif rule.guests_cost and rule.currency:
        price = f"{who} {'costs' if guests == 1 else 'cost'} {format_money(rule.guests_cost, rule.currency)}"
    else:
        price = f"{who} free" if guests else "you come in"
    where = f", {_GUESTS_ON[rule.guests_on]}" if guests and rule.guests_on else ""
    return f"{rule.lounges} with {rule.card_or_status}: {price}{where}."


@tool("lounges", Tier.FREE, Effect.READS, "List lounge visits")
def list_lounge_visits(
    call: Call,
    visit_id: RowId | None = None,
    from_date: Day | None = None,
    to_date: Day | None = None,
    airport: AirportOrCity | None = None,
    card_id: CardId | None = None,
    guests: Guests | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Visits:
    """Lists the airport lounges the user visited, per card; with guests, which lounges they enter and the price.

    For "How often was I in a lounge? May two guests come in?" Free.
    """
    if from_date and to_date and to_date < from_date:
        raise Invalid(Fault("to_date", "is before from_date", f"a date from {from_date.isoformat()}"))
    if visit_id is not None:
        _get_own(call.db, visit_id)
    _check_card(call, card_id, locked=False)
    conditions: list[ColumnElement[bool] | None] = [
        None if visit_id is None else Row.id == visit_id,
        None if from_date is None else Row.visited_on >= from_date,
        None if to_date is None else Row.visited_on <= to_date,
        None if airport is None else Row.airport == airport,
        None if card_id is None else Row.card_id == card_id,
    ]
    filters = [condition for condition in conditions if condition is not None]
    counts = count_visits(call.db, *filters)
    rows = page_of_visits(call.db, *filters, page=page, per_page=per_page)
    rules = [] if guests is None else _list_entry_rules(call, card_id, airport, guests)
    visited = tell_rows(counts.total, "lounge visit", (f"{row.lounge_name}, {row.airport}" for row in rows))
    return Visits(
        message=visited if guests is None else _describe_entry(rules, airport, guests),
        visits=[_to_visit(row) for row in rows],
        totals=LoungeTotals.model_validate(counts),
        paging=Paging.of(page, per_page, counts.total),
        entry=rules,
    )


@tool("lounges", Tier.PAID, Effect.CHANGES, "Change a lounge visit")
@edits.clears(Row)
def update_lounge_visit(
    call: Call,
    visit_id: VisitId,
    lounge_name: Name | None = None,
    airport: AirportOrCity | None = None,
    visited_on: Day | None = None,
    access_method: AccessMethod | None = None,
    card_id: CardId | None = None,
    program: AnyName | None = None,
    guests: Guests | None = None,
    amount_paid: Amount | None = None,
    currency: Currency | None = None,
    rating: Rating = None,
    notes: Notes = None,
    clear: list[str] | None = None,
) -> ChangedVisit:
    """Corrects a logged lounge visit: wrong lounge, airport or date, guests, rating, amount paid.

    For "I took two guests, not one." Paid.
    """
    changes = edits.pick_columns(Row, locals()) | {"program": _resolve_program(call, program)}
    _check_place(call, airport, visited_on)
    _check_card(call, card_id)  # before the visit: deleting a card locks in the same order
    row = _get_own(call.db, visit_id, locked=True)
    changed = edits.edit(row, call.now, changes, clear)
    call.db.flush()
    visit = _to_visit(row)
    message = edits.describe_changes(f"the visit to {row.lounge_name} ({row.airport})", visit, changed)
    return ChangedVisit(message=message, visit=visit, changed=changed)


@tool("lounges", Tier.PAID, Effect.CHANGES, "Delete a lounge visit")
def delete_lounge_visit(call: Call, visit_id: VisitId) -> DeletedVisit:
    """Deletes a lounge visit or entry that was logged twice, by mistake or at the wrong lounge.

    For "I never went to that lounge." Paid.
    """
    deleted = call.db.execute(delete(Row).where(Row.id == visit_id).returning(Row.lounge_name, Row.visited_on)).first()
    if deleted is None:
        raise NotFound("lounge visit", visit_id)
    removed = RemovedVisit(visit_id=visit_id, lounge_name=deleted.lounge_name, visited_on=deleted.visited_on)
    return DeletedVisit(
        message=f"The visit to {deleted.lounge_name} on {format_day(deleted.visited_on)} is removed.", removed=removed
    )
