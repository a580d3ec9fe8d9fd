"""Documents page of advisors: what was made for clients is opened by its link, and taken back."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import NO_ANSWER, Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import read_page, show_away, show_gone
from auth_server.web.outcomes import FlowResult, PageResult, show_problem
from shared import clock
from shared.db import clients
from shared.db.clients import BrandedPdf
from shared.domain.plans import Plan
from shared.domain.short_ids import read_uuid, shorten_uuid

PATH = "/dashboard/clients/documents"
REVOKE = f"{PATH}/revoke"
MESSAGES = {"document": "The link to the document no longer opens."}
MAX_CLIENTS, MAX_ROWS = 100, 50
_AWAY = show_away("Your documents")
_GONE = show_gone("document", PATH, "Your documents")


def _list_open(member: Member) -> list[BrandedPdf]:
    return clients.list_open_links(member.db, member.account.id, clock.now())


def show(member: Member) -> PageResult:
    """By the tool, whose answer has the links. On other plans what is still open can be taken back."""
    rows = _list_open(member)
    if member.plan < Plan.PRO:
        return _show_rows(member, [_describe_row(row) for row in rows[:MAX_ROWS]], {}, None)
    calls = {
        "documents": prepare_look(member, "list_branded_pdfs", page=read_page(member)),
        "clients": prepare_look(member, "list_client_portfolios", per_page=MAX_CLIENTS),
    }
    return show_when_answered(calls, partial(_show, member, {shorten_uuid(row.id): row.pages for row in rows}))


def _show(member: Member, pages: Mapping[str, int], answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["documents"]
    if not answer.is_good:
        return _AWAY
    names = {row["portfolio_id"]: row["client_name"] for row in answers["clients"].get("portfolios") or ()}
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


def ask_revoke(member: Member) -> FlowResult:
    pdf_id = read_uuid(member.data.query_value("pdf_id") or "")
    row = next((row for row in _list_open(member) if row.id == pdf_id), None)
    return member.show("client_document_revoke.html", row=_describe_row(row)) if row else _GONE


def revoke(member: Member) -> PageResult:
    """On every plan: who is no advisor any longer, and may not use the tool, can still end the links that were
    shared.
    """
    pdf_id = member.data.form_value("pdf_id")
    if member.plan >= Plan.PRO:
        call = prepare_change(member, "revoke_branded_pdf", pdf_id=pdf_id)
        return show_when_answered({"revoked": call}, _finish_revoking)
    if (row_id := read_uuid(pdf_id)) is not None:
        clients.close(member.db, member.account.id, row_id, clock.now())
    return redirect_back(PATH, "document")


def _finish_revoking(answers: Mapping[str, Answer]) -> FlowResult:
    revoked = answers["revoked"]
    if not revoked:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5)
    return redirect_back(PATH, "document") if revoked.is_good else _GONE


ROUTES = [get_for_member(PATH, show), get_for_member(REVOKE, ask_revoke), post_for_member(REVOKE, revoke)]
