"""What uses an account, for its page: connected applications, and how much of the plan is used."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, delete, func, or_, select, union

from auth_server.accounts.authorizations import is_unused
from auth_server.pages.member import Member, redirect_back
from auth_server.web.charts import Chart, draw_bars
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.oauth import AccessToken, Client, Consent, Family, RefreshToken
from shared.db.route_monitors import RouteMonitor
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, UsageCounter, count_used
from shared.domain.display_names import describe_alphabets
from shared.domain.mcp_addresses import find_address
from shared.domain.plans import LIMITS
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.settings import settings

DAYS_OF_CALLS = 30


@dataclass(frozen=True)
class Connection:
    """One application that may use the account, as its row on the page."""

    client_id: str
    name: str
    alphabets: str | None
    redirect_host: str | None
    granted_at: datetime
    last_used_at: datetime | None
    read_only: bool
    administers: bool

    @property
    def is_unused(self) -> bool:
        """Whether it is unused: its tokens never expire, so the person sees those not used for a year."""
        return is_unused(self.last_used_at or self.granted_at)


def list_connections(member: Member) -> list[Connection]:
    """Applications with a remembered consent, and those that must ask again but have tokens on another device.

    Where authorizations of one application differ, the page says the widest: a token keeps its rights as issued.
    """
    usable = (RefreshToken.rotated_at.is_(None), RefreshToken.revoked_at.is_(None))
    # A refresh issues another token, so the last one's time; an enterprise's application has only access tokens.
    of_family = select(func.max(AccessToken.issued_at)).where(AccessToken.family_id == Family.id).scalar_subquery()
    last_used = func.coalesce(RefreshToken.issued_at, of_family, Family.created_at)
    active = (
        select(
            Family.client_id,
            func.max(Family.created_at).label("since"),
            func.max(last_used).label("last_used_at"),
            func.bool_and(Family.read_only).label("read_only"),
            func.bool_or(Family.administer).label("administers"),
        )
        .outerjoin(RefreshToken, and_(RefreshToken.family_id == Family.id, *usable))
        .where(Family.account_id == member.account.id, Family.revoked_at.is_(None))
        .where(or_(RefreshToken.token_hash.is_not(None), Family.issuer.is_not(None)))
        .group_by(Family.client_id)
        .subquery()
    )
    own = Consent.account_id == member.account.id
    client_ids = union(select(Consent.client_id).where(own), select(active.c.client_id))
    since = func.coalesce(Consent.granted_at, active.c.since)
    query = (
        select(Client, Consent, since.label("since"), active.c.last_used_at, active.c.read_only, active.c.administers)
        .outerjoin(Consent, and_(Consent.client_id == Client.client_id, own))
        .outerjoin(active, active.c.client_id == Client.client_id)
        .where(Client.client_id.in_(client_ids))
    )
    return [_to_connection(member, row) for row in member.db.execute(query.order_by(since.desc()))]


def _to_connection(member: Member, row: Row[Any]) -> Connection:
    consent: Consent | None = row.Consent
    reads = [] if consent is None else [consent.read_only or _is_for_reading(consent.address)]
    administers = row.administers or (consent is not None and consent.administer)
    return Connection(
        client_id=row.Client.client_id,
        name=row.Client.name,
        alphabets=describe_alphabets(row.Client.name),
        redirect_host=consent.redirect_host if consent is not None else None,
        granted_at=row.since,
        last_used_at=row.last_used_at,
        read_only=all(reads + ([] if row.read_only is None else [row.read_only])),
        administers=administers and member.account.is_admin,
    )


def _is_for_reading(path: str) -> bool:
    address = find_address(path)
    return address is not None and address.read_only


def list_usage(member: Member) -> list[tuple[str, int, int | None, str]]:
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
        ("Route monitors", monitors, ROUTE_MONITOR.cap(member.plan), ""),
    ]


def draw_calls(member: Member) -> Chart | None:
    """Calls of tools by day in the last weeks; None where there was none."""
    first = clock.today() - timedelta(days=DAYS_OF_CALLS - 1)
    own = (UsageCounter.account_id == member.account.id, UsageCounter.meter == TOOL_CALLS, UsageCounter.period >= first)
    rows = member.db.scalars(select(UsageCounter).where(*own))
    counts = {row.period: row.used for row in rows}
    days = [first + timedelta(days=n) for n in range(DAYS_OF_CALLS)]
    bars = [(f"{day.day} {day:%b}", counts.get(day, 0)) for day in days]
    return draw_bars(bars, "Calls of tools", unit="Day") if counts else None


def disconnect(member: Member) -> FlowResult:
    """Revokes every token of the application at once; it has to ask again."""
    client_id, account_id = member.data.form_value("client_id"), member.account.id
    active = (Family.account_id == account_id, Family.client_id == client_id, Family.revoked_at.is_(None))
    for family_id in member.db.scalars(select(Family.id).where(*active)).all():
        member.uow.revoke_family(family_id, "disconnected_by_person")
    member.db.execute(delete(Consent).where(Consent.account_id == account_id, Consent.client_id == client_id))
    return redirect_back("/dashboard/account", "disconnected")
