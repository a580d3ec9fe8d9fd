"""An advisor's clients and branded PDFs for results."""

from datetime import datetime
from typing import Any

from mcp_server.toolkit.results import Part
from shared import clock
from shared.db.clients import BrandedPdf as PdfRow
from shared.db.clients import ClientPortfolio as ClientRow
from shared.domain.short_ids import shorten_uuid
from shared.services.bookings import secret_links
from shared.settings import settings

PURPOSE = "pdf"
PATH = "/shared"


class ClientPortfolio(Part):
    portfolio_id: int
    client_name: str
    client_email: str | None
    phone: str | None
    balances: dict[str, int]
    preferences: dict[str, Any]
    notes: str | None
    created_at: datetime
    updated_at: datetime


class BrandedPdf(Part):
    """`url` is null once the link is revoked or has ended."""

    pdf_id: str
    title: str
    url: str | None
    client_portfolio_id: int | None
    views: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


def to_client_portfolio(row: ClientRow) -> ClientPortfolio:
    columns = {name: getattr(row, name) for name in ClientPortfolio.model_fields if name != "portfolio_id"}
    return ClientPortfolio.model_validate(columns | {"portfolio_id": row.id})


def build_link(secret: str) -> str:
    return f"{settings().web_url}{PATH}/{secret}"


def to_branded_pdf(row: PdfRow) -> BrandedPdf:
    ended = row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= clock.now())
    secret = None if ended else secret_links.read_secret(PURPOSE, row)
    return BrandedPdf.from_row(row, pdf_id=shorten_uuid(row.id), url=build_link(secret) if secret else None)
