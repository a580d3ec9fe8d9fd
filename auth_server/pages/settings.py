"""Settings on the dashboard: which mails are sent, an advisor's logo, and the documents that are open to others."""

from contextlib import suppress
from uuid import UUID

from auth_server.pages import logo
from auth_server.pages.member import Member, back
from auth_server.web.outcomes import FlowResult, JsonResponse, problem
from shared import clock
from shared.db import clients
from shared.db.accounts import lock
from shared.db.profile import MAILS, AdvisorLogo, Profile, addressee
from shared.domain.plans import Plan

PATH = "/dashboard/settings"
WORDS = {
    "route_monitors": ("Route monitors", "when one of your monitors finds new award seats"),
    "flight_alerts": ("Flight alerts", "when award seats open on a flight you watch"),
    "standing_orders": ("Standing orders", "the result of each run"),
    "hotel_price_drops": ("Hotel price drops", "when a stay you booked becomes cheaper"),
    "product_news": ("News", "now and then, about what is new here"),
}


def page(me: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    wanted = addressee(me.server.db, me.account.id).wanted
    choices = [(kind, *WORDS[kind], wanted[kind]) for kind in MAILS]
    stored = me.server.db.get(AdvisorLogo, me.account.id)
    return me.page(
        "settings.html",
        status,
        choices=choices,
        logo=stored,
        may=me.plan >= Plan.PRO,
        fault=fault,
        most=logo.MAX_BYTES,
        documents=clients.open_links(me.server.db, me.account.id, clock.now()),
    )


def save(me: Member) -> FlowResult:
    lock(me.server.db, me.account.id)
    row = me.server.db.get(Profile, me.account.id)
    if row is None:
        row = Profile(account_id=me.account.id)
        me.server.db.add(row)
    for kind in MAILS:
        setattr(row, f"mail_{kind}", me.inc.form_value(kind) == "on")
    return back(PATH, "saved")


def upload(me: Member) -> FlowResult:
    if me.plan < Plan.PRO:
        return problem("A logo is part of the Pro plan", "The plans page says how to change your plan.", 403)
    try:
        found = logo.read(me.inc.file)
    except logo.NoLogo as no:
        return page(me, 422, str(no))
    lock(me.server.db, me.account.id)
    row = me.server.db.get(AdvisorLogo, me.account.id) or AdvisorLogo(account_id=me.account.id)
    row.media_type, row.width, row.height, row.content = found.media_type, found.width, found.height, me.inc.file
    me.server.db.add(row)
    return back(PATH, "logo")


def remove(me: Member) -> FlowResult:
    row = me.server.db.get(AdvisorLogo, me.account.id)
    if row is not None:
        me.server.db.delete(row)
    return back(PATH, "logo_removed")


def picture(me: Member) -> FlowResult:
    row = me.server.db.get(AdvisorLogo, me.account.id)
    if row is None:
        return problem("There is no logo", "You have not uploaded one.", 404)
    return JsonResponse(200, row.content, {"Content-Type": row.media_type, "Cache-Control": "no-store"})


def revoke(me: Member) -> FlowResult:
    """On every plan: whoever is no advisor any more can still take back what was shared."""
    with suppress(ValueError):  # no document bears such an id
        clients.close(me.server.db, me.account.id, UUID(me.inc.form_value("pdf_id")), clock.now())
    return back(PATH, "document")
