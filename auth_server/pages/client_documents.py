"""Documents page of advisors: documents for clients are opened by link, or withdrawn."""

from asyncio import gather
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Subject, change, look
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db import clients
from shared.db.clients import BrandedPdf
from shared.domain.plans import Plan
from shared.domain.short_ids import read_uuid, shorten_uuid

PATH = "/dashboard/clients/documents"
REVOKE = f"{PATH}/revoke"
MESSAGES = {"document": "The link to the document no longer opens."}
MAX_CLIENTS, MAX_ROWS = 100, 50
DOCUMENTS = Subject("document", PATH, "Your documents")


async def _list_open(member: Member) -> list[BrandedPdf]:
    return await member.transact(lambda db: clients.list_open_links(db, member.account.id, clock.now()))


async def show(member: Member) -> FlowResult:
    """Shows the tool's answer with the links. On other plans open ones can still be withdrawn."""
    open_rows = await _list_open(member)
    if member.plan < Plan.PRO:
        return _show_rows(member, [_describe_row(row) for row in open_rows[:MAX_ROWS]], {}, None)
    answer, portfolios = await gather(
        look(member, "list_branded_pdfs", page=read_page(member)),
        look(member, "list_client_portfolios", per_page=MAX_CLIENTS),
    )
    if not answer.is_good:
        return DOCUMENTS.show_away()
    pages = {shorten_uuid(row.id): row.pages for row in open_rows}
    names = {row["portfolio_id"]: row["client_name"] for row in portfolios.get("portfolios") or ()}
    rows = [row | {"pages": pages.get(row["pdf_id"])} | _read_times(row) for row in answer["pdfs"]]
    return _show_rows(member, rows, names, answer["paging"])


def _read_times(row: Mapping[str, Any]) -> dict[str, datetime | None]:
    return {name: datetime.fromisoformat(row[name]) if row[name] else None for name in ("created_at", "expires_at")}


def _describe_row(row: BrandedPdf) -> dict[str, Any]:
    names = ("title", "views", "created_at", "expires_at", "pages", "client_portfolio_id")
    return {name: getattr(row, name) for name in names} | {"pdf_id": shorten_uuid(row.id), "url": None}


def _show_rows(member: Member, rows: Any, names: Mapping[int, str], paging: Any) -> FlowResult:
    context = {"rows": rows, "names": names, "paging": paging, "messages": MESSAGES}
    return member.show("client_documents.html", **context, may=member.plan >= Plan.PRO)


async def ask_revoke(member: Member) -> FlowResult:
    pdf_id = read_uuid(member.data.query_value("pdf_id") or "")
    row = next((row for row in await _list_open(member) if row.id == pdf_id), None)
    if row is None:
        return DOCUMENTS.show_gone()
    return member.show("client_document_revoke.html", row=_describe_row(row))


async def revoke(member: Member) -> FlowResult:
    """On every plan: former advisors, who may not use the tool, can still end the links that were
    shared.
    """
    pdf_id = member.data.form_value("pdf_id")
    if member.plan >= Plan.PRO:
        revoked = await change(member, "revoke_branded_pdf", pdf_id=pdf_id)
        return redirect_back(PATH, "document") if revoked.is_good else DOCUMENTS.refuse(revoked)
    if (row_id := read_uuid(pdf_id)) is not None:
        await member.transact(lambda db: clients.close(db, member.account.id, row_id, clock.now()))
    return redirect_back(PATH, "document")


ROUTES = [get_for_member(PATH, show), get_for_member(REVOKE, ask_revoke), post_for_member(REVOKE, revoke)]
