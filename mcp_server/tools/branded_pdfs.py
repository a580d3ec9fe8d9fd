"""PDFs in an advisor's brand, made from search results and shared by a public link that can be revoked."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import anyio.to_thread
from pydantic import Field, WithJsonSchema
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import Call, LiveCall
from mcp_server.toolkit.parameters import Page, PerPage, RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Paging, Result
from mcp_server.views.clients import PURPOSE, BrandedPdf, build_link, to_branded_pdf
from shared.db import clients as store
from shared.db.accounts import lock
from shared.db.clients import BrandedPdf as Row
from shared.db.clients import ClientPortfolio
from shared.db.profile import AdvisorLogo
from shared.documents import colours, pictures
from shared.documents.recommendation import Brand, Proposal
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, LimitReached, NotFound
from shared.services.bookings import secret_links
from shared.services.proposals import contents
from shared.services.proposals.contents import Client
from shared.services.proposals.flight_rows import FlightRow, read_flights

if TYPE_CHECKING:
    from shared.documents.branded_pdf import BuiltPdf

DEFAULT_TITLE = "Award Travel Recommendation"
DEFAULT_BRAND_NAME = "Award Travel"
DEFAULT_ACCENT = "#14424f"
MAX_LINKS = 500
_RENDER_SLOTS = threading.Semaphore(2)  # rendering is CPU-bound: more at once would slow every other call
_BRAND_FIELD_LENGTHS = {"name": 80, "tagline": 160, "logo_url": 2000, "accent_color": 7}
Flights = Annotated[
    list[dict[str, Any]] | None,
    Field(max_length=50, description="Rows from a prior search."),
    WithJsonSchema({"type": "array", "maxItems": 50, "items": {"type": "object"}}),
]
AdvisorBrand = Annotated[
    dict[str, Any] | None,
    Field(description="accent_color as hex, such as #14424f."),
    WithJsonSchema({"type": "object", "properties": {name: {"type": "string"} for name in _BRAND_FIELD_LENGTHS}}),
]


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
class BrandSettings:
    """advisor_brand, checked."""

    name: str
    tagline: str | None
    logo_url: str | None
    accent: colours.Rgb


@dataclass(frozen=True)
class AccountData:
    """The client the document is for, and the logo uploaded on the dashboard."""

    client: Client | None
    logo: bytes | None


@tool(area="advisor", tier=Tier.PRO, effect=Effect.ADDS, open_world=True, title="Generate branded PDF")
async def generate_branded_pdf(
    call: LiveCall,
    title: Annotated[str, Field(max_length=160)] = DEFAULT_TITLE,
    summary: Annotated[str | None, Field(max_length=8000)] = None,
    flights: Flights = None,
    client_portfolio_id: RowId | None = None,
    advisor_brand: AdvisorBrand = None,
) -> GeneratedPdf:
    """Makes a PDF in the advisor's brand from search results and returns a public link to share.

    Anyone with the link can open it until it ends or revoke_branded_pdf. Prices are shown as given: awards per person,
    and for the party where the rows say it. Pro.
    """
    brand = _parse_brand(advisor_brand or {})
    rows = read_flights(flights or [], sandbox=call.data_mode == "sandbox")
    account_data = await call.in_session(partial(_read_account_data, client_portfolio_id))
    logo, warnings = await _fetch_logo(brand.logo_url)
    title = " ".join(title.split()) or DEFAULT_TITLE
    render = partial(_render, call, title, summary or "", rows, brand, account_data, logo, warnings)
    document = await anyio.to_thread.run_sync(render)
    pdf, url = await call.in_session(partial(_store_pdf, call, title, document, client_portfolio_id))
    if not (rows or (summary or "").strip()):
        warnings.append("The document has neither a summary nor flights.")
    until = f" until {format_day(pdf.expires_at)}" if pdf.expires_at else ""
    message = f"The document has {pluralize(document.pages, 'page')}; anyone can open {url}{until}."
    return GeneratedPdf(
        message=" ".join([message, *warnings]), pdf=pdf, url=url, pages=document.pages, warnings=warnings
    )


def _parse_brand(raw_brand: dict[str, Any]) -> BrandSettings:
    faults = []
    for name, value in raw_brand.items():
        if name not in _BRAND_FIELD_LENGTHS:
            key = "".join(c if c.isprintable() else "?" for c in name[:60])
            expected = f"one of {', '.join(_BRAND_FIELD_LENGTHS)}"
            faults.append(Fault(f"advisor_brand.{key}", "is not a field of a brand", expected))
        elif value is not None and not (isinstance(value, str) and len(value) <= _BRAND_FIELD_LENGTHS[name]):
            faults.append(
                Fault(
                    f"advisor_brand.{name}",
                    "is not text, or is too long",
                    f"text up to {_BRAND_FIELD_LENGTHS[name]} letters",
                )
            )
    texts = {k: " ".join(v.split()) for k, v in raw_brand.items() if isinstance(v, str)}
    accent = texts.get("accent_color") or DEFAULT_ACCENT
    try:
        colour = colours.parse_colour(accent)
    except ValueError:
        faults.append(Fault("advisor_brand.accent_color", "is not a hex colour", "a hex colour such as #14424f"))
    if faults:
        raise Invalid(*faults[:5])
    return BrandSettings(
        texts.get("name") or DEFAULT_BRAND_NAME, texts.get("tagline") or None, texts.get("logo_url") or None, colour
    )


def _read_account_data(client_portfolio_id: int | None, session: Session) -> AccountData:
    client = None
    if client_portfolio_id is not None:
        row = session.get(ClientPortfolio, client_portfolio_id)
        if row is None:
            raise NotFound("client portfolio", client_portfolio_id)
        client = Client(row.client_name, row.balances)
    return AccountData(client, session.scalar(select(AdvisorLogo.content)))


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
    settings: BrandSettings,
    account_data: AccountData,
    logo: bytes | None,
    warnings: list[str],
) -> "BuiltPdf":
    """Runs in a worker thread: decoding a picture and laying out pages takes several hundred milliseconds."""
    from shared.documents import branded_pdf  # imported on first use: 45 MB of libraries

    with _RENDER_SLOTS:
        brand = Brand(settings.name, settings.tagline, settings.accent, _choose_logo(logo, account_data.logo, warnings))
        document = branded_pdf.build_pdf(_build_proposal(call, title, summary, rows, account_data.client), brand)
    if document.left_out:
        warnings.append("Characters no typeface here can show, such as emoji, are left out.")
    if stale := contents.find_stale_rows(rows, call.now):
        warnings.append(f"Checked more than a day ago, so search again before sending: {', '.join(stale)}.")
    return document


def _build_proposal(
    call: LiveCall, title: str, summary: str, rows: Sequence[FlightRow], client: Client | None
) -> Proposal:
    facts = call.reference
    return Proposal(
        title=title,
        client=client.name if client else None,
        made_at=call.now,
        summary=summary,
        flights=tuple(contents.describe_flight(row, facts) for row in rows),
        notes=tuple(contents.build_notes(rows, client, facts, call.today)),
        sources=tuple(contents.list_sources(rows, client, facts, call.today)),
        sandbox=call.data_mode == "sandbox",
    )


def _choose_logo(fetched: bytes | None, uploaded: bytes | None, warnings: list[str]) -> Any:
    """The picture at logo_url, else the one uploaded on the dashboard, else none."""
    if fetched is not None:
        try:
            return pictures.decode(fetched)
        except pictures.NoPicture as no:
            warnings.append(f"The logo at logo_url is left out: {no}.")
    if uploaded is None:
        return None
    try:
        picture = pictures.decode(uploaded)
    except pictures.NoPicture as no:
        warnings.append(f"The uploaded logo is left out: {no}.")
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


@tool(area="advisor", tier=Tier.PRO, effect=Effect.READS, title="List branded PDFs")
def list_branded_pdfs(
    call: Call,
    client_portfolio_id: RowId | None = None,
    include_revoked: bool = False,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Pdfs:
    """Lists an advisor's documents, newest first, with their public links and how often they were opened. Pro."""
    if client_portfolio_id is not None and call.db.get(ClientPortfolio, client_portfolio_id) is None:
        raise NotFound("client portfolio", client_portfolio_id)
    rows, total = store.page_of_pdfs(call.db, client_portfolio_id, include_revoked, page, per_page)
    message = f"{pluralize(total, 'document')}."
    return Pdfs(message=message, pdfs=[to_branded_pdf(r) for r in rows], paging=Paging.of(page, per_page, total))


@tool(area="advisor", tier=Tier.PRO, effect=Effect.CHANGES, open_world=True, title="Revoke branded PDF")
def revoke_branded_pdf(call: Call, pdf_id: Annotated[str, Field(max_length=64)]) -> RevokedPdf:
    """Closes a document's public link for good and removes what it showed. Pro."""
    row = None
    with suppress(ValueError):  # an id that is no UUID matches no document
        row = store.find_pdf(call.db, UUID(pdf_id))
    if row is None:
        raise NotFound("document", pdf_id)
    if row.revoked_at is None:
        row.revoked_at, row.content = call.now, b""
        call.db.flush()
    message = f"The link to {row.title} no longer opens."
    return RevokedPdf(message=message, pdf=to_branded_pdf(row))
