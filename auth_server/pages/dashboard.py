"""The dashboard: plan, use and connected applications go out; wishes to disconnect one or claim an agent come in."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, and_, delete, exists, func, select, union

from auth_server.accounts import agents
from auth_server.pages.member import Member, back
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.oauth import Client, Consent, Family, RefreshToken
from shared.db.route_monitors import RouteMonitor
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, used
from shared.domain.plans import LIMITS
from shared.errors import Invalid
from shared.settings import settings


def page(me: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    return me.page("dashboard.html", status, connected=_connected(me), use=_use(me), fault=fault)


def _connected(me: Member) -> Sequence[Row[str, str, str, datetime]]:
    """What may come in: applications that need not ask again, and those that must but hold tokens of another device."""
    tip = (RefreshToken.family_id == Family.id, RefreshToken.rotated_at.is_(None), RefreshToken.revoked_at.is_(None))
    living = (
        select(Family.client_id, func.max(Family.created_at).label("since"))
        .where(Family.account_id == me.account.id, Family.revoked_at.is_(None), exists().where(*tip))
        .group_by(Family.client_id)
        .subquery()
    )
    mine = Consent.account_id == me.account.id
    theirs = union(select(Consent.client_id).where(mine), select(living.c.client_id))
    since = func.coalesce(Consent.granted_at, living.c.since).label("granted_at")
    found = (
        select(Client.client_id, Client.name, Consent.redirect_host, since)
        .outerjoin(Consent, and_(Consent.client_id == Client.client_id, mine))
        .outerjoin(living, living.c.client_id == Client.client_id)
        .where(Client.client_id.in_(theirs))
    )
    return me.server.db.execute(found.order_by(since.desc())).all()


def _use(me: Member) -> list[tuple[str, int, int | None, str]]:
    """What is counted: its name, how much is used, the limit if there is one, and when it begins again."""
    limits, day, db = LIMITS[me.plan], clock.today(), me.server.db
    calls = settings().tool_calls_per_day or limits.tool_calls_per_day
    api = limits.api_calls_per_month if me.account.api_calls_per_month is None else me.account.api_calls_per_month
    daily, monthly = "begins again at midnight UTC", "begins again on the 1st, UTC"
    mine = (RouteMonitor.account_id == me.account.id, RouteMonitor.cancelled_at.is_(None))
    monitors = db.scalar(select(func.count()).select_from(RouteMonitor).where(*mine)) or 0
    return [
        ("Searches today", used(db, me.account.id, SEARCHES, day), limits.searches_per_day, daily),
        ("Tool calls today", used(db, me.account.id, TOOL_CALLS, day), calls, daily),
        ("API calls this month", used(db, me.account.id, API_CALLS, day.replace(day=1)), api, monthly),
        ("Route monitors", monitors, limits.route_monitors, ""),
    ]


def disconnect(me: Member) -> FlowResult:
    """Every token of the application dies at once, and it has to ask again."""
    client_id, account_id = me.inc.form_value("client_id"), me.account.id
    theirs = (Family.account_id == account_id, Family.client_id == client_id, Family.revoked_at.is_(None))
    for family_id in me.server.db.scalars(select(Family.id).where(*theirs)).all():
        me.server.revoke_family(family_id, "disconnected_by_person")
    me.server.db.execute(delete(Consent).where(Consent.account_id == account_id, Consent.client_id == client_id))
    return back("/dashboard", "disconnected")


def claim(me: Member) -> FlowResult:
    try:
        agents.claim(me.server, me.account, me.inc.form_value("claim_code"))
    except Invalid:
        return page(me, 422, "This claim code fits no agent. It works once, and only as it was given.")
    return back("/dashboard", "claimed")
