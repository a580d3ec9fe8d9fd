"""Cards a person owns: recorded from loose text, linked to the catalogue where possible, changed and removed."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import delete

from mcp_server.toolkit import Added, Call, Effect, Money, Paging, Part, Result, Tier, edits, tool
from mcp_server.toolkit.own_rows import Again, find_saved, get_own
from mcp_server.toolkit.parameters import (
    Amount,
    CardId,
    ClearableCount,
    ClearableCountry,
    ClearableDay,
    ClearableMoney,
    ClearableWindow,
    Currency,
    Day,
    Member,
    OtherMember,
    Page,
    PerPage,
    RowId,
    limit_length,
    line,
)
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.cards import (
    BonusCurrency,
    BonusStatus,
    Card,
    CardCurrency,
    Country,
    Nickname,
    Notes,
    OptionalDay,
    OptionalMoney,
    SpendWindow,
    describe_missing_bonus_day,
    find_catalogue_slug,
    find_fee,
    find_home_country,
    store_fields,
    sum_fees,
    to_card,
)
from mcp_server.views.own_credits import (
    HeldCredit,
    describe_credit,
    list_card_credits,
    mark_credit,
    to_held_credit,
)
from shared.db.cards import Card as Row
from shared.db.cards import OpenFee, load_card_page, read_bonus_spending
from shared.db.household import find_member
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NotFound

_BONUSES_IN_MESSAGE = 3
CardText = Annotated[str, line(120), Field(description="Catalogue slug, name or free text.")]
Custom = Annotated[bool, Field(description="True skips matching.")]
_CreditName = Annotated[str, limit_length(60)]


class AddedCard(Added):
    card: Card
    saved: bool
    linked_to_catalogue: bool


class ChangedCard(Result):
    """`credits`: of this card in their cycles of today; empty where the catalogue knows none."""

    card: Card
    changed: list[str]
    credits: list[HeldCredit]


class CardName(Part):
    card_id: int
    name: str


class RemovedCard(Result):
    removed: CardName


class CardTotals(Part):
    open: int
    closed: int
    annual_fees_by_currency: dict[str, Money]
    bonuses_pending: int


class Cards(Result):
    """`credits`: of the one card that was asked for, in their cycles of today; else empty."""

    cards: list[Card]
    totals: CardTotals
    paging: Paging
    credits: list[HeldCredit]


@tool("cards", Tier.FREE, Effect.ADDS, "Add a card")
def add_card(
    call: Call,
    card: CardText,
    nickname: Nickname = None,
    opened_on: Day | None = None,
    closed_on: Day | None = None,
    notes: Notes = None,
    custom: Custom = False,
    bonus_amount: ClearableCount | None = None,
    bonus_currency: BonusCurrency = None,
    bonus_status: BonusStatus = None,
    bonus_earned_on: OptionalDay = None,
    spend_requirement: OptionalMoney = None,
    spend_deadline_on: OptionalDay = None,
    spend_window_months: SpendWindow = None,
    annual_fee: OptionalMoney = None,
    currency: CardCurrency = "USD",
    country: Country = None,
    member: Member | None = None,
    again: Again = None,
) -> AddedCard:
    """Adds a credit card that the user opened or was approved for: sign-up bonus, minimum spend, annual fee.

    For "I just got a new Amex, put it with my others." Call list_my_cards first to avoid duplicates. An exact catalogue
    slug or name links; a near one returns candidates and saves nothing: ask the user, call again with the slug. Empty
    text clears. Free.
    """
    values = edits.pick_columns(Row, locals())
    slug = None if custom else _find_slug(call, card, country or None)
    name = call.reference.cards[slug].name if slug else card
    row = Row(slug=slug, name=name, custom=custom, member=find_member(call.db, member, Row.member))
    store_fields(call, row, values)
    if saved := find_saved(call, row, "card", again=again):
        linked, part = saved.row.slug is not None, to_card(call, saved.row)
        return AddedCard(message=saved.message, card=part, saved=False, linked_to_catalogue=linked, already_saved=True)
    call.db.add(row)
    call.db.flush()
    link = "linked to the catalogue" if row.slug else "as free text, outside the catalogue"
    added_text = (
        f"{add_member(row.name, row.member)} is saved as card {row.id}, {link}.{describe_missing_bonus_day(row)}"
    )
    return AddedCard(
        message=added_text,
        card=to_card(call, row),
        saved=True,
        linked_to_catalogue=slug is not None,
        already_saved=False,
    )


def _find_slug(call: Call, text: str, country: str | None) -> str | None:
    alternative = ", or with custom true to keep the text as it is"
    return find_catalogue_slug(call, text, alternative, country=find_home_country(call, country))


@tool("cards", Tier.FREE, Effect.READS, "List my cards")
def list_my_cards(
    call: Call,
    card_id: RowId | None = None,
    include_closed: bool = True,
    bonus_status: Literal["pending", "earned", "missed", "unknown"] | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Cards:
    """Lists the credit cards the user has, open or closed, annual fees due, and spend left for a sign-up bonus.

    For "Which credit cards do I have? When is my fee?" Other cards: search_card_catalog. Free.
    """
    if card_id is None:
        only: dict[str, Any] = {"open_only": not include_closed, "bonus_status": bonus_status}
        card_page = load_card_page(call.db, call.today, **only, page=page, per_page=per_page)
    else:
        card_page = load_card_page(call.db, call.today, card_id=card_id)
        if not card_page.rows:
            raise NotFound("card", card_id)
    rows, total, totals, spending = card_page
    cards = [to_card(call, r, spending) for r in rows]
    fees = sum_fees(call.reference, totals.open_fees)
    card_names = tell_rows(total, "card", (c.nickname or c.name for c in cards))
    return Cards(
        message=f"{card_names}{_describe_fees(call, fees, totals.open_fees)}{_describe_bonuses(cards)}",
        cards=cards,
        totals=CardTotals.from_row(totals, annual_fees_by_currency=fees),
        paging=Paging.of(page, per_page, total),
        credits=[to_held_credit(c) for row in rows if row.id == card_id for c in list_card_credits(call, row)],
    )


def _describe_bonuses(cards: Sequence[Card]) -> str:
    """The progress of the open bonuses, of a few cards in sentences."""
    spending = [(add_member(c.nickname or c.name, c.member), c.bonus_progress) for c in cards]
    sentences = [f" {name}: {progress.sentence}" for name, progress in spending if progress]
    return "".join(sentences[:_BONUSES_IN_MESSAGE])


def _describe_fees(call: Call, fees: Mapping[str, Decimal], open_fees: Sequence[OpenFee]) -> str:
    """The yearly cost of the open cards, whose fees are the catalogue's, and how many have an unknown fee."""
    sources = [(find_fee(call.reference, o.slug, o.annual_fee, o.currency), o.cards) for o in open_fees]
    from_catalogue = sum(cards for fee, cards in sources if fee and fee.source == "catalogue")
    unknown = sum(cards for fee, cards in sources if fee is None)
    sums = " and ".join(f"{amount:,.2f} {currency}" for currency, amount in fees.items())
    sentences = [f" The open cards cost {sums} a year."] if sums else []
    if from_catalogue:
        sentences.append(f" For {pluralize(from_catalogue, 'card')} this is the fee of the catalogue.")
    if unknown:
        sentences.append(f" For {pluralize(unknown, 'card')} no fee is known.")
    return "".join(sentences)


_own = partial(get_own, Row, "card")


@tool("cards", Tier.FREE, Effect.CHANGES, "Change a card")
@edits.clears(Row)
def update_card(
    call: Call,
    card_id: CardId,
    card: Annotated[str | None, Field(max_length=120, description="Links to another catalogue slug.")] = None,
    nickname: Nickname = None,
    opened_on: Day | None = None,
    closed_on: Day | None = None,
    notes: Notes = None,
    bonus_amount: ClearableCount | None = None,
    bonus_currency: Annotated[str | None, Field(max_length=60)] = None,
    bonus_status: Literal["pending", "earned", "missed", ""] | None = None,
    bonus_earned_on: ClearableDay | None = None,
    spend_requirement: ClearableMoney | None = None,
    spend_so_far: ClearableMoney | None = None,
    spend_deadline_on: ClearableDay | None = None,
    spend_window_months: ClearableWindow | None = None,
    annual_fee: ClearableMoney | None = None,
    currency: Currency | None = None,
    clear: list[str] | None = None,
    country: ClearableCountry | None = None,
    credit: Annotated[_CreditName | None, Field(description="Credit used, by name.")] = None,
    credit_used: Annotated[Amount | None, Field(description="In all this cycle; absent: all.")] = None,
    credit_used_on: Day | None = None,
    member: OtherMember | None = None,
) -> ChangedCard:
    """Updates a card in the wallet: minimum spend met, bonus posted, downgraded, cancelled, new fee, credit used.

    For "I got my bonus on the Sapphire; I have spent 2,100 so far." Fields not sent stay. Empty text clears.
    get_portfolio names the credits. Free.
    """
    values = edits.pick_columns(Row, locals())
    if spend_so_far is not None:
        values["spend_so_far_on"] = "" if spend_so_far == "" else call.own_day
    row = _own(call.db, card_id, locked=True)
    link = _relink(call, row, card)
    owner = member if member is None else find_member(call.db, member, Row.member)
    changed = store_fields(call, row, values, clear)
    changed += ["card"] if edits.edit(row, call.now, link) else []
    changed += edits.edit_member(row, call.now, owner)
    changed += ["credit"] if mark_credit(call, row, credit, credit_used, credit_used_on) else []
    call.db.flush()
    own = list_card_credits(call, row)
    shown_card = to_card(call, row, read_bonus_spending(call.db, [row]))
    notes = describe_missing_bonus_day(row) + describe_credit(own, credit) + _describe_bonuses([shown_card])
    return ChangedCard(
        message=edits.describe_changes(shown_card.name, shown_card, changed) + notes,
        card=shown_card,
        changed=changed,
        credits=[to_held_credit(c) for c in own],
    )


def _relink(call: Call, row: Row, card: str | None) -> dict[str, Any]:
    """The changes that link the card to another catalogue entry; text that matches none renames and unlinks it."""
    if card is None or (text := card.strip()) == row.name:
        return {}
    if not text:
        raise Invalid(Fault("card", "is empty", "a catalogue slug or a name"))
    slug = find_catalogue_slug(call, text, country=find_home_country(call, row.country))
    if slug is None:
        return {"slug": "", "name": text}
    return {"slug": slug, "name": call.reference.cards[slug].name, "custom": False}


@tool("cards", Tier.FREE, Effect.CHANGES, "Remove a card")
def remove_card(call: Call, card_id: CardId) -> RemovedCard:
    """Removes a credit card from the wallet, entered wrongly, twice or never opened.

    For "That card was never mine, get rid of it." Confirm with the user first. A cancelled one stays on record:
    update_card, closed_on. Free.
    """
    name = call.db.execute(delete(Row).where(Row.id == card_id).returning(Row.name)).scalar_one_or_none()
    if name is None:
        raise NotFound("card", card_id)
    return RemovedCard(message=f"Card {card_id} ({name}) is removed.", removed=CardName(card_id=card_id, name=name))
