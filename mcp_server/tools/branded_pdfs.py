"""PDFs in an advisor's brand, made from search results and shared by a public link that can be revoked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, Effect, LiveCall, Paging, Result, Tier, tool
from mcp_server.toolkit.parameters import ClientId, Page, PerPage, open_object
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.clients import PURPOSE, BrandedPdf, build_link, to_branded_pdf
from shared.db import clients as store
from shared.db.accounts import lock
from shared.db.clients import BrandedPdf as Row
from shared.db.clients import ClientPortfolio
from shared.db.profile import AdvisorLogo, Profile
from shared.documents import pictures
from shared.documents.recommendation import Brand, Proposal
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.short_ids import read_uuid
from shared.errors import Fault, Invalid, LimitReached, NotFound
from shared.limits.heavy_work import run_heavy
from shared.services.bookings import secret_links
from shared.services.proposals import brands, contents
from shared.services.proposals.contents import SeenFare
from shared.services.proposals.flight_rows import FlightRow, Journey, read_flights
from shared.services.proposals.source_names import list_sources
from shared.services.proposals.transfer_notes import ProposalClient, build_notes
from shared.services.search import price_memory

if TYPE_CHECKING:
    from shared.documents.branded_pdf import BuiltPdf

DEFAULT_TITLE = "Award Travel Recommendation"
MAX_LINKS = 500
_FLIGHT = ("origin", "destination", "date", "cabin", "airline", "program", "points", "taxes", "taxes_currency")
_FARE = ("price", "currency")
Flight = Annotated[dict[str, Any], open_object((*_FLIGHT, *_FARE), points="integer", taxes="number", price="number")]
Flights = Annotated[list[Flight], Field(max_length=50)]
AdvisorBrand = Annotated[dict[str, Any], open_object(brands.FIELD_LENGTHS)]


class GeneratedPdf(Result):
    pdf: BrandedPdf
    url: str
    pages: int
    warnings: list[str]


class Pdfs(Result):
    pdfs: list[BrandedPdf]
    paging: Paging


class RevokedPdf(Result):
    pdf: BrandedPdf


@dataclass(frozen=True)
class AccountData:
    """The client the document is for, the logo uploaded on the dashboard, the advisor's country, and fares seen."""

    client: ProposalClient | None
    logo: bytes | None
    country: str | None
    fares: Mapping[Journey, SeenFare]


@tool("advisor", Tier.PRO, Effect.ADDS, "Create a client PDF", open_world=True, keeps_files=True)
async def generate_branded_pdf(
    call: LiveCall,
    title: Annotated[str, Field(max_length=160)] = DEFAULT_TITLE,
    summary: Annotated[str | None, Field(max_length=8000)] = None,
    flights: Flights | None = None,
    client_portfolio_id: ClientId | None = None,
    advisor_brand: AdvisorBrand | None = None,
) -> GeneratedPdf:
    """Makes a PDF proposal or quote for a client with the advisor's logo and colours, to share by link.

    For "Put this in a nice document for my client." flights: rows of a search. Public until revoke_branded_pdf.
    Pro.
    """
    brand = brands.parse_brand(advisor_brand or {})
    rows = read_flights(flights or [], sandbox=call.data_mode == "sandbox")
    # Raises Invalid for a document that would show only its title.
    if not rows and not any(character.isalnum() for character in (summary or "")):
        problem = "is empty, and there are no flights"
        raise Invalid(Fault("summary", problem, "a text for the client, or rows of a search in flights"))
    account_data = await call.in_session(partial(_read_account_data, call, client_portfolio_id, rows))
    title = _choose_title(title, call.settings.service_name)
    logo, warnings = await _fetch_logo(brand.logo_url)
    document = await run_heavy(_render, call, title, summary or "", rows, brand, account_data, logo, warnings)
    pdf, url = await call.in_session(partial(_store_pdf, call, title, document, client_portfolio_id))
    until = f" until {format_day(pdf.expires_at)}" if pdf.expires_at else ""
    message = f"The document has {pluralize(document.pages, 'page')}; anyone can open {url}{until}."
    return GeneratedPdf(
        message=" ".join([message, *warnings]), pdf=pdf, url=url, pages=document.pages, warnings=warnings
    )


def _choose_title(title: str, service_name: str) -> str:
    """The given title; else the default, with the operator's name for the service."""
    title = " ".join(title.split())
    return f"{service_name} Recommendation" if title in ("", DEFAULT_TITLE) else title


def _read_account_data(
    call: LiveCall, client_portfolio_id: int | None, rows: Sequence[FlightRow], session: Session
) -> AccountData:
    client_of = ClientPortfolio.id == client_portfolio_id
    columns = (
        select(ClientPortfolio.client_name).where(client_of),
        select(ClientPortfolio.balances).where(client_of),
        select(AdvisorLogo.content),
        select(Profile.country),
        select(Profile.home_airport),
    )
    mine = (query.where(query.columns_clause_froms[0].c.account_id == call.account_id) for query in columns)
    name, balances, logo, country, home = session.execute(select(*(q.scalar_subquery() for q in mine))).one()
    if client_portfolio_id is not None and name is None:
        raise NotFound("client portfolio", client_portfolio_id)
    airport = call.reference.airports.get(home or "")
    journeys = {row.journey for row in rows if row.journey and row.price is None}
    fares = price_memory.lowest_fares_seen(session, call.account_id, journeys)
    return AccountData(
        client=None if name is None else ProposalClient(name, balances),
        logo=logo,
        country=country or (airport.country if airport else None),
        fares={way: SeenFare(fare.price, fare.currency, fare.source, fare.seen_at) for way, fare in fares.items()},
    )


async def _fetch_logo(url: str | None) -> tuple[bytes | None, list[str]]:
    try:
        return (await pictures.fetch_picture(url) if url else None), []
    except pictures.NoPicture as no:
        return None, [f"The logo at logo_url is left out: {no}."]


def _render(
    call: LiveCall,
    title: str,
    summary: str,
    rows: Sequence[FlightRow],
    settings: brands.BrandSettings,
    account_data: AccountData,
    logo: bytes | None,
    warnings: list[str],
) -> "BuiltPdf":
    """Renders in a worker thread: laying out pages takes several hundred milliseconds."""
    from shared.documents import branded_pdf  # imported on first use: 45 MB of libraries

    brand = Brand(
        settings.name,
        settings.tagline,
        settings.accent,
        _choose_logo(logo, account_data.logo, warnings),
        settings.contact,
        settings.paper or brands.choose_paper(account_data.country),
    )
    document = branded_pdf.build_pdf(_build_proposal(call, title, summary, rows, account_data), brand)
    if document.left_out:
        warnings.append("Characters no typeface here can show, such as emoji, are left out.")
    if stale := contents.find_stale_rows(rows, call.now):
        warnings.append(f"Checked more than a day ago, so search again before sending: {', '.join(stale)}.")
    return document


def _build_proposal(
    call: LiveCall, title: str, summary: str, rows: Sequence[FlightRow], account_data: AccountData
) -> Proposal:
    facts, client, fares = call.reference, account_data.client, account_data.fares
    banks = client.balances if client else [s for s, p in facts.programs.items() if p.kind == "bank"]
    return Proposal(
        title=title,
        client=client.name if client else None,
        made_at=call.now,
        summary=summary,
        flights=tuple(
            contents.describe_flight(row, facts, fares.get(row.journey) if row.journey else None) for row in rows
        ),
        notes=tuple(build_notes(rows, client, facts, call.today)),
        sources=tuple(list_sources(rows, banks, facts, call.today, [fare.source for fare in fares.values()])),
        sandbox=call.data_mode == "sandbox",
    )


def _choose_logo(fetched: bytes | None, uploaded: bytes | None, warnings: list[str]) -> Any:
    """The picture at logo_url, else the one uploaded on the dashboard, else none."""
    if fetched is not None:
        try:
            return pictures.to_image(pictures.read(fetched))
        except pictures.NoPicture as no:
            warnings.append(f"The logo at logo_url is left out: {no}.")
    if uploaded is None:
        return None
    try:
        picture = pictures.to_image(pictures.read(uploaded))
    except pictures.NoPicture as no:
        warnings.append(f"The uploaded logo is left out: {no}. Upload another on the settings page of the dashboard.")
        return None
    if warnings:
        warnings.append("The logo uploaded on the dashboard is used instead.")
    return picture


def _store_pdf(
    call: LiveCall, title: str, document: "BuiltPdf", client: int | None, session: Session
) -> tuple[BrandedPdf, str]:
    lock(session, call.account_id)
    store.empty_expired(session, call.now)
    if (live_links := store.count_live_links(session, call.now)) >= MAX_LINKS:
        message = f"{live_links} links are open; revoke one with revoke_branded_pdf first."
        raise LimitReached(message, limit="branded_pdfs", current=live_links, cap=MAX_LINKS)
    link = secret_links.mint_link(PURPOSE, call.account_id)
    row = Row(
        client_portfolio_id=client,
        title=title,
        content=document.content,
        pages=document.pages,
        nonce=link.nonce,
        key=link.key,
        token_hash=link.token_hash,
        views=0,
        created_at=call.now,
        expires_at=call.now + timedelta(days=call.settings.pdf_link_days),
    )
    session.add(row)
    try:
        session.flush()
    except IntegrityError:  # the client was deleted while the document was made
        raise NotFound("client portfolio", client) from None
    return to_branded_pdf(row), build_link(link.secret)


@tool("advisor", Tier.PRO, Effect.READS, "List client PDFs")
def list_branded_pdfs(
    call: Call,
    client_portfolio_id: ClientId | None = None,
    include_revoked: bool = False,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Pdfs:
    """Lists the proposals (PDF) sent to clients, their links, how often each was viewed, and expiry.

    For "Did my client open what I sent?" Pro.
    """
    if client_portfolio_id is not None and call.db.get(ClientPortfolio, client_portfolio_id) is None:
        raise NotFound("client portfolio", client_portfolio_id)
    rows, total = store.page_of_pdfs(call.db, client_portfolio_id, include_revoked, page, per_page)
    message = tell_rows(total, "document", (row.title for row in rows))
    return Pdfs(message=message, pdfs=[to_branded_pdf(r) for r in rows], paging=Paging.of(page, per_page, total))


@tool("advisor", Tier.PRO, Effect.CHANGES, "Withdraw a client PDF", open_world=True)
def revoke_branded_pdf(
    call: Call, pdf_id: Annotated[str, Field(max_length=64, description="From list_branded_pdfs.")]
) -> RevokedPdf:
    """Takes a client's proposal offline: its shared link is dead permanently, as when it is wrong or outdated.

    For "My client should not see it any longer." Pro.
    """
    id = read_uuid(pdf_id)
    row = store.find_pdf(call.db, id) if id else None
    if row is None:
        raise NotFound("document", pdf_id)
    if row.revoked_at is None:
        row.revoked_at, row.content = call.now, b""
        call.db.flush()
    message = f"The link to {row.title} no longer opens."
    return RevokedPdf(message=message, pdf=to_branded_pdf(row))
