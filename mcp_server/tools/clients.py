"""An advisor's clients: create, read, update and delete, with what their points are worth."""

from collections.abc import Mapping, Set
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from sqlalchemy import select

from mcp_server.toolkit import Added, Call, Effect, Money, Paging, Part, Result, Tier, TotalValue, tool
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.own_rows import Again, find_saved
from mcp_server.toolkit.parameters import ClientId, Page, Pairs, PerPage, line, open_object
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.clients import BrandedPdf, ClientPortfolio, to_branded_pdf, to_client_portfolio
from shared.db import clients as store
from shared.db.clients import ClientPortfolio as Row
from shared.domain import clients
from shared.domain.balances import value_balance
from shared.domain.plurals import pluralize
from shared.domain.valuations import VALUATION_CURRENCY
from shared.errors import Fault, Invalid, NotFound

MAX_PDFS = 20
Name = Annotated[str, line(160)]
Email = Annotated[str | None, Field(max_length=254), AfterValidator(lambda v: v and clients.check_email(v))]
Phone = Annotated[str | None, Field(max_length=30), AfterValidator(lambda v: v and clients.check_phone(v))]
Balances = Annotated[dict[str, Any], Pairs("program", "points", "integer")]
Preferences = Annotated[dict[str, Any], open_object(("cabin", "preferred_airlines", "anchor_airports"))]
Notes = Annotated[str | None, Field(max_length=8000)]


class CreatedClient(Added):
    portfolio: ClientPortfolio
    unknown_programs: list[str]


class UpdatedClient(Result):
    portfolio: ClientPortfolio
    changed: list[str]
    unknown_programs: list[str]


class Client(Result):
    portfolio: ClientPortfolio
    total_value: TotalValue
    values: dict[str, Money]
    pdfs: list[BrandedPdf]


class ClientLine(Part):
    portfolio_id: int
    client_name: str
    client_email: str | None
    programs: int
    total_points: int
    total_value: TotalValue
    updated_at: datetime


class Clients(Result):
    portfolios: list[ClientLine]
    paging: Paging


class RemovedClient(Part):
    portfolio_id: int
    client_name: str


class DeletedClient(Result):
    removed: RemovedClient
    pdfs_revoked: int


def _get_client(call: Call, portfolio_id: int, *, to_change: bool = False) -> Row:
    query = select(Row).where(Row.id == portfolio_id)
    row = call.db.scalars(query.with_for_update() if to_change else query).one_or_none()
    if row is None:
        raise NotFound("client portfolio", portfolio_id)
    return row


def _parse_balances(
    call: Call, raw_balances: Mapping[str, Any], *, may_remove: bool
) -> tuple[dict[str, int | None], list[str]]:
    return clients.parse_balances(raw_balances, lambda name: call.reference.program(name).slug, may_remove=may_remove)


def _describe_unknown(unknown: list[str]) -> str:
    return f" Not known as programmes, kept as named and without a value: {', '.join(unknown)}." if unknown else ""


@tool("advisor", Tier.PRO, Effect.ADDS, "Create a client file")
def create_client_portfolio(
    call: Call,
    client_name: Name,
    client_email: Email = None,
    phone: Phone = None,
    balances: Balances | None = None,
    preferences: Preferences | None = None,
    notes: Notes = None,
    again: Again = None,
) -> CreatedClient:
    """Creates the file of an advisor's new client, customer, couple or family: contact, points, preferences, notes.

    For "New client: the Lees, they like Star Alliance." The user's own points: update_points_balance. Pro.
    """
    points, unknown = _parse_balances(call, balances or {}, may_remove=False)
    row = Row(
        client_name=client_name,
        client_email=client_email or None,
        phone=phone or None,
        balances=points,
        preferences=clients.check_preferences(preferences or {}),
        notes=notes or None,
    )
    if saved := find_saved(call, row, "client portfolio", again=again):
        part = to_client_portfolio(saved.row)
        return CreatedClient(message=saved.message, portfolio=part, unknown_programs=unknown, already_saved=True)
    call.db.add(row)
    call.db.flush()
    message = f"{row.client_name} is saved as client portfolio {row.id}.{_describe_unknown(unknown)}"
    return CreatedClient(
        message=message, portfolio=to_client_portfolio(row), unknown_programs=unknown, already_saved=False
    )


@tool("advisor", Tier.PRO, Effect.READS, "Show a client file")
def get_client_portfolio(call: Call, portfolio_id: ClientId) -> Client:
    """Opens one client's file: points and their worth, preferences, notes, and the proposals sent to that client.

    For "What does Mrs Lee have?" Pro.
    """
    row = _get_client(call, portfolio_id)
    pdfs, count = store.page_of_pdfs(call.db, row.id, True, 1, MAX_PDFS)
    value, values = _value_balances(call, row)
    sentences = [f"{row.client_name}: points worth about {value.amount:,.2f} {value.currency} by published valuations."]
    programs = call.reference.programs
    if unvalued := [programs[slug].name if slug in programs else slug for slug in row.balances if slug not in values]:
        sentences.append(f"Without a known valuation, so not in the total: {', '.join(unvalued)}.")
    if count > len(pdfs):
        sentences.append(f"The newest {len(pdfs)} of {count} documents are shown; the list of documents has all.")
    return Client(
        message=" ".join(sentences),
        portfolio=to_client_portfolio(row),
        total_value=value,
        values=values,
        pdfs=[to_branded_pdf(p) for p in pdfs],
    )


def _value_balances(call: Call, row: Row) -> tuple[TotalValue, dict[str, Decimal]]:
    """The value of the balances, dated by the oldest valuation used, and that of each which has one."""
    programs = call.reference.programs
    values = {
        slug: value_balance(points, cents)
        for slug, points in row.balances.items()
        if slug in programs and (cents := programs[slug].value_usd_cents) is not None
    }
    days = [day for slug in values if (day := programs[slug].as_of)]
    amount = sum(values.values(), Decimal(0))
    return TotalValue(amount=amount, currency=VALUATION_CURRENCY, valuation_as_of=min(days, default=None)), values


@tool("advisor", Tier.PRO, Effect.READS, "List client files")
def list_client_portfolios(
    call: Call,
    query: Annotated[str | None, Field(max_length=80)] = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Clients:
    """Lists the clients or customers of an advisor, or finds one by name, email or phone, with points held.

    For "Which clients do I have? Who is on my list?" Pro.
    """
    rows, total = store.page_of_clients(call.db, (query or "").strip() or None, page, per_page)
    lines = [
        ClientLine.from_row(
            r,
            portfolio_id=r.id,
            programs=len(r.balances),
            total_points=sum(r.balances.values()),
            total_value=_value_balances(call, r)[0],
        )
        for r in rows
    ]
    summaries = (
        f"{line.client_name}, {pluralize(line.total_points, 'point')} in {pluralize(line.programs, 'programme')}"
        for line in lines
    )
    message = tell_rows(total, "client", summaries)
    return Clients(message=message, portfolios=lines, paging=Paging.of(page, per_page, total))


@tool("advisor", Tier.PRO, Effect.CHANGES, "Change a client file")
def update_client_portfolio(
    call: Call,
    portfolio_id: ClientId,
    client_name: Name | None = None,
    client_email: Email = None,
    phone: Phone = None,
    balances: Balances | None = None,
    preferences: Preferences | None = None,
    notes: Notes = None,
    replace: bool = False,
    clear: list[Literal["client_email", "phone", "balances", "preferences", "notes"]] | None = None,
) -> UpdatedClient:
    """Updates a client's file: points balances earned or burned, email, phone, preferences, notes.

    For "My client used 30k points, and wants an aisle seat." replace true: instead of the old ones. Pro.
    """
    points, unknown = _parse_balances(call, balances or {}, may_remove=True)
    clients.check_preferences(preferences or {})
    maps = {"balances": None if balances is None else points, "preferences": preferences}
    emptied = set(clear or ())
    if both := [name for name in maps if name in emptied and maps[name] is not None]:
        raise Invalid(Fault("clear", f"names {both[0]}, which is sent as well", "fields that are not sent"))
    row = _get_client(call, portfolio_id, to_change=True)
    values = {"client_name": client_name, "client_email": client_email, "phone": phone, "notes": notes}
    values |= _merge_maps(row, maps, emptied, replace=replace)
    changed = edit(row, call.now, values, emptied - maps.keys())
    call.db.flush()
    portfolio = to_client_portfolio(row)
    changes = describe_changes(f"{row.client_name} (client portfolio {row.id})", portfolio, changed)
    message = changes + _describe_unknown(unknown)
    return UpdatedClient(message=message, portfolio=portfolio, changed=changed, unknown_programs=unknown)


def _merge_maps(row: Row, maps: Mapping[str, Any], emptied: Set[str], *, replace: bool) -> dict[str, Any]:
    """The new content of balances and preferences, if they are set or emptied."""
    merged = {
        name: clients.merge_fields(getattr(row, name), new, replace=replace)
        for name, new in maps.items()
        if new is not None
    }
    merged |= {name: {} for name in maps if name in emptied}
    clients.check_bounds(merged)
    return merged


@tool("advisor", Tier.PRO, Effect.CHANGES, "Delete a client file")
def delete_client_portfolio(call: Call, portfolio_id: ClientId) -> DeletedClient:
    """Deletes the file of a client who left, with all their data, permanently. Confirm first.

    For "They are no longer my client." Pro.
    """
    row = _get_client(call, portfolio_id, to_change=True)
    revoked = store.revoke(call.db, call.now, client=portfolio_id)
    call.db.delete(row)
    call.db.flush()
    links = f" {pluralize(revoked, 'public link')} revoked." if revoked else ""
    return DeletedClient(
        message=f"{row.client_name} (client portfolio {portfolio_id}) is deleted for good.{links}",
        removed=RemovedClient(portfolio_id=portfolio_id, client_name=row.client_name),
        pdfs_revoked=revoked,
    )
