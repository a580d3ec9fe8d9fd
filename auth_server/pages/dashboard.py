"""Overview page of the dashboard: plan, usage, connected applications, and the claim of an agent's account."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, and_, delete, exists, func, select, union

from auth_server.accounts import agents
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.oauth import Client, Consent, Family, RefreshToken
from shared.db.route_monitors import RouteMonitor
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, count_used
from shared.domain.plans import LIMITS
from shared.errors import Invalid
from shared.settings import settings


def show(member: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    return member.show(
        "dashboard.html", status, connected=_list_connections(member), use=_list_usage(member), fault=fault
    )


def _list_connections(member: Member) -> Sequence[Row[str, str, str, datetime]]:
    """Applications with a remembered consent, and those that must ask again but hold tokens of another device."""
    usable = (RefreshToken.family_id == Family.id, RefreshToken.rotated_at.is_(None), RefreshToken.revoked_at.is_(None))
    active = (
        select(Family.client_id, func.max(Family.created_at).label("since"))
        .where(Family.account_id == member.account.id, Family.revoked_at.is_(None), exists().where(*usable))
        .group_by(Family.client_id)
        .subquery()
    )
    own = Consent.account_id == member.account.id
    client_ids = union(select(Consent.client_id).where(own), select(active.c.client_id))
    since = func.coalesce(Consent.granted_at, active.c.since).label("granted_at")
    query = (
        select(Client.client_id, Client.name, Consent.redirect_host, since)
        .outerjoin(Consent, and_(Consent.client_id == Client.client_id, own))
        .outerjoin(active, active.c.client_id == Client.client_id)
        .where(Client.client_id.in_(client_ids))
    )
    return member.db.execute(query.order_by(since.desc())).all()


def _list_usage(member: Member) -> list[tuple[str, int, int | None, str]]:
    """Each counter as (name, used, limit or None, when it resets)."""
    limits, day, db = LIMITS[member.plan], clock.today(), member.db
    calls = settings().tool_calls_per_day or limits.tool_calls_per_day
    api = (
        limits.api_calls_per_month if member.account.api_calls_per_month is None else member.account.api_calls_per_month
    )
    daily, monthly = "begins again at midnight UTC", "begins again on the 1st, UTC"
    own = (RouteMonitor.account_id == member.account.id, RouteMonitor.cancelled_at.is_(None))
    monitors = db.scalar(select(func.count()).select_from(RouteMonitor).where(*own)) or 0
    return [
        ("Searches today", count_used(db, member.account.id, SEARCHES, day), limits.searches_per_day, daily),
        ("Tool calls today", count_used(db, member.account.id, TOOL_CALLS, day), calls, daily),
        ("API calls this month", count_used(db, member.account.id, API_CALLS, day.replace(day=1)), api, monthly),
        ("Route monitors", monitors, limits.route_monitors, ""),
    ]


def disconnect(member: Member) -> FlowResult:
    """Revokes every token of the application at once; it has to ask again."""
    client_id, account_id = member.data.form_value("client_id"), member.account.id
    active = (Family.account_id == account_id, Family.client_id == client_id, Family.revoked_at.is_(None))
    for family_id in member.db.scalars(select(Family.id).where(*active)).all():
        member.uow.revoke_family(family_id, "disconnected_by_person")
    member.db.execute(delete(Consent).where(Consent.account_id == account_id, Consent.client_id == client_id))
    return redirect_back("/dashboard", "disconnected")


def claim(member: Member) -> FlowResult:
    try:
        agents.claim(member.uow, member.account, member.data.form_value("claim_code"))
    except Invalid:
        return show(member, 422, "This claim code fits no agent. It works once, and only as it was given.")
    return redirect_back("/dashboard", "claimed")
