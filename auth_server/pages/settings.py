"""Settings page of the dashboard: mails by kind, an advisor's logo, and documents shared by link."""

from contextlib import suppress
from uuid import UUID

from auth_server.pages import logo
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult, JsonResponse, show_problem
from shared import clock
from shared.db import clients
from shared.db.accounts import lock
from shared.db.profile import MAILS, AdvisorLogo, Profile, find_addressee
from shared.domain.plans import Plan

PATH = "/dashboard/settings"
MAIL_KINDS = {
    "route_monitors": ("Route monitors", "when one of your monitors finds new award seats"),
    "flight_alerts": ("Flight alerts", "when award seats open on a flight you watch"),
    "standing_orders": ("Standing orders", "the result of each run"),
    "hotel_price_drops": ("Hotel price drops", "when a stay you booked becomes cheaper"),
    "deadlines": ("Deadlines", "90, 30 and 7 days before points, vouchers, credits or free cancellation end"),
    "weekly_overview": ("Weekly overview", "what ends in the next 90 days, each Monday"),
    "product_news": ("News", "now and then, about what is new here"),
}


def show(member: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    switches = find_addressee(member.db, member.account.id).mail_switches
    choices = [(kind, *MAIL_KINDS[kind], switches[kind]) for kind in MAILS]
    logo_row = member.db.get(AdvisorLogo, member.account.id)
    return member.show(
        "settings.html",
        status,
        choices=choices,
        logo=logo_row,
        may=member.plan >= Plan.PRO,
        fault=fault,
        most=logo.MAX_BYTES,
        documents=clients.list_open_links(member.db, member.account.id, clock.now()),
    )


def save(member: Member) -> FlowResult:
    lock(member.db, member.account.id)
    row = member.db.get(Profile, member.account.id)
    if row is None:
        row = Profile(account_id=member.account.id)
        member.db.add(row)
    for kind in MAILS:
        setattr(row, f"mail_{kind}", member.data.form_value(kind) == "on")
    return redirect_back(PATH, "saved")


def save_logo(member: Member) -> FlowResult:
    if member.plan < Plan.PRO:
        return show_problem("A logo is part of the Pro plan", "The plans page says how to change your plan.", 403)
    try:
        picture = logo.read_logo(member.data.file)
    except logo.InvalidLogo as error:
        return show(member, 422, str(error))
    lock(member.db, member.account.id)
    row = member.db.get(AdvisorLogo, member.account.id) or AdvisorLogo(account_id=member.account.id)
    row.media_type, row.width, row.height, row.content = (
        picture.media_type,
        picture.width,
        picture.height,
        member.data.file,
    )
    member.db.add(row)
    return redirect_back(PATH, "logo")


def delete_logo(member: Member) -> FlowResult:
    row = member.db.get(AdvisorLogo, member.account.id)
    if row is not None:
        member.db.delete(row)
    return redirect_back(PATH, "logo_removed")


def serve_logo(member: Member) -> FlowResult:
    row = member.db.get(AdvisorLogo, member.account.id)
    if row is None:
        return show_problem("There is no logo", "You have not uploaded one.", 404)
    return JsonResponse(200, row.content, {"Content-Type": row.media_type, "Cache-Control": "no-store"})


def revoke_document(member: Member) -> FlowResult:
    """On every plan: who is no advisor any more can still end the links that were shared."""
    with suppress(ValueError):  # not a UUID, so no document has it
        clients.close(member.db, member.account.id, UUID(member.data.form_value("pdf_id")), clock.now())
    return redirect_back(PATH, "document")
