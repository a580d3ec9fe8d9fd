"""The same work as somebody would write it on FastMCP: ten of our tools, on rows read and written by SQLAlchemy's ORM.

The bearer is checked by FastMCP's own introspection, whose answers are cached. Facts, result types and the rules of a
card or a balance are ours, so what differs is the framework, the gate and the way to the rows. It runs in an
environment of its own (`deploy/docs/contribute.md`, "Measure the speed").
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date as Day
from functools import lru_cache
from typing import Any, Literal

import httpx2
from fastmcp import FastMCP
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.dependencies import get_access_token
from fastmcp.tools import Tool as ListedTool
from sqlalchemy import Engine, create_engine, func, select
from sqlalchemy.orm import Session
from starlette.types import ASGIApp

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.results import Paging
from mcp_server.tools import airlines, balances, cards, notifications, profile, programs, trips
from mcp_server.views.cards import pick_fields, store_fields, sum_fees, to_card
from mcp_server.views.profile import to_profile
from mcp_server.views.trips import to_trip
from shared import clock
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.card_spending import read_card_spending
from shared.db.cards import Card, OpenFee
from shared.db.messages import Notification
from shared.db.profile import Profile
from shared.db.trips import Trip, count_filed
from shared.domain import time_zones
from shared.domain.plans import Plan
from shared.settings import SCOPE, settings

CACHED_SECONDS = 30


@lru_cache(maxsize=1)
def _engine() -> Engine:
    return create_engine(settings().database_url, connect_args={"options": "-c timezone=utc"})


@lru_cache(maxsize=10_000)
def _find_caller(public_id: str) -> Caller:
    """Looked up once and never again, which is in the favour of this program."""
    with Session(_engine()) as session:
        account = session.scalars(select(Account).where(Account.public_id == public_id)).one()
        return Caller(account.id, public_id, Plan.of(account.plan), account.is_admin, "bench", "Bench")


@contextmanager
def _open_session() -> Iterator[tuple[Call, Session]]:
    """The call as our views take it, and a session; whose rows they are about is in the call."""
    with Session(_engine(), expire_on_commit=False) as session:
        yield Call(_find_caller(_find_subject()), "mcp", clock.now(), _session=session), session


def _find_subject() -> str:
    return str(get_access_token().claims["sub"])


def _know_facts() -> Call:
    return Call(_find_caller(_find_subject()), "mcp", clock.now())


async def get_award_release_window(airline: str) -> airlines.ReleaseWindow:
    return airlines.get_award_release_window(_know_facts(), airline)


async def get_pricing(
    program: str,
    origin: str,
    destination: str,
    cabin: str | None = None,
    partner_airline: str | None = None,
    date: Day | None = None,
) -> programs.Pricing:
    return programs.get_pricing(_know_facts(), program, origin, destination, cabin, partner_airline, date)


def list_my_cards(
    card_id: int | None = None,
    include_closed: bool = True,
    bonus_status: Literal["pending", "earned", "missed", "unknown"] | None = None,
    page: int = 1,
    per_page: int = 20,
) -> cards.Cards:
    with _open_session() as (call, session):
        mine = session.scalars(select(Card).where(Card.account_id == call.account_id).order_by(Card.id)).all()
        still_open = [row for row in mine if row.closed_on is None or row.closed_on > call.today]
        fits = [
            row
            for row in (mine if include_closed else still_open)
            if card_id in (None, row.id) and bonus_status in (None, row.bonus_status or "unknown")
        ]
        rows = fits[(page - 1) * per_page : page * per_page]
        opened = [row.opened_on for row in rows if row.opened_on and row.spend_requirement]
        spending = read_card_spending(session, min(opened)) if opened else {}
        fees = Counter((row.slug, row.annual_fee, row.currency) for row in still_open)
        return cards.Cards(
            message=f"{len(fits)} cards.",
            cards=[to_card(call, row, spending) for row in rows],
            totals=cards.CardTotals(
                open=len(still_open),
                closed=len(mine) - len(still_open),
                annual_fees_by_currency=sum_fees(call.reference, [OpenFee(*fee, n) for fee, n in fees.items()]),
                bonuses_pending=sum(row.bonus_status == "pending" for row in mine),
            ),
            paging=Paging.of(page, per_page, len(fits)),
            credits=[],
        )


def list_points_balances(
    program: str | None = None,
    kind: Literal["airline", "hotel", "bank", "all"] = "all",
    include_supported: bool = False,
) -> balances.Balances:
    with _open_session() as (call, session):
        mine = select(PointsBalance).where(PointsBalance.account_id == call.account_id)
        rows = session.scalars(mine.order_by(PointsBalance.program, PointsBalance.member)).all()
        zone = session.scalar(select(Profile.timezone).where(Profile.account_id == call.account_id))
        call.own_day = time_zones.find_local_day(call.now, zone or time_zones.UTC)
        every = [balances._to_balance(call, row) for row in rows]
        fits = [one for one in every if kind in ("all", one.kind) and program in (None, one.program)]
        return balances.Balances(
            message=f"{len(fits)} balances.",
            balances=fits,
            total_value=balances._sum_values(call, fits),
            expiring_soon=[],
            by_member=balances._sum_members(call, fits),
            household=[],
            supported_programs=None,
        )


def list_trips(
    state: Literal["active", "archived", "all"] = "active", page: int = 1, per_page: int = 20
) -> trips.Trips:
    with _open_session() as (call, session):
        mine, active = Trip.account_id == call.account_id, Trip.archived_at.is_(None)
        fits = {"active": active, "archived": ~active, "all": mine}[state]
        newest = select(Trip).where(mine, fits).order_by(Trip.id.desc())
        rows = session.scalars(newest.offset((page - 1) * per_page).limit(per_page)).all()
        counts = select(func.count().filter(fits), func.count().filter(active)).select_from(Trip).where(mine)
        total, still_active = session.execute(counts).one()
        filed = count_filed(session, [row.id for row in rows])
        return trips.Trips(
            message=f"{total} trips.",
            trips=[to_trip(row, filed[row.id]) for row in rows],
            active_count=still_active,
            cap=call.limits.active_trips,
            paging=Paging.of(page, per_page, total),
        )


def list_notifications(
    unread_only: bool = False,
    kind: notifications.Kind | None = None,
    since: Day | None = None,
    page: int = 1,
    per_page: int = 20,
) -> notifications.Notices:
    with _open_session() as (call, session):
        fits = [Notification.account_id == call.account_id, Notification.synthetic]
        unread = select(func.count()).select_from(Notification).where(*fits, Notification.read_at.is_(None))
        fits += [Notification.read_at.is_(None)] if unread_only else []
        fits += [Notification.kind == kind] if kind else []
        fits += [Notification.created_at >= since] if since else []
        newest = select(Notification).where(*fits).order_by(Notification.created_at.desc(), Notification.id)
        rows = session.scalars(newest.offset((page - 1) * per_page).limit(per_page)).all()
        total = session.scalar(select(func.count()).select_from(Notification).where(*fits)) or 0
        return notifications.Notices(
            message=f"{total} notices.",
            notifications=[notifications._to_notice(row) for row in rows],
            unread=session.scalar(unread) or 0,
            paging=Paging.of(page, per_page, total),
        )


def get_profile() -> profile.ShownProfile:
    with _open_session() as (call, session):
        account, row = session.get_one(Account, call.account_id), session.get(Profile, call.account_id)
        return profile.ShownProfile(message="Your profile.", profile=to_profile(account, row))


def add_card(
    card: str,
    nickname: str | None = None,
    opened_on: Day | None = None,
    closed_on: Day | None = None,
    notes: str | None = None,
    custom: bool = False,
    bonus_amount: int | None = None,
    bonus_currency: str | None = None,
    bonus_status: Literal["pending", "earned", "missed"] | None = None,
    bonus_earned_on: Day | None = None,
    spend_requirement: float | None = None,
    spend_deadline_on: Day | None = None,
    spend_window_months: int | None = None,
    annual_fee: float | None = None,
    currency: str = "USD",
    country: str | None = None,
    member: str | None = None,
) -> cards.AddedCard:
    values = pick_fields(locals())
    with _open_session() as (call, session):
        row = Card(name=card, custom=custom, account_id=call.account_id, member=member or "")
        store_fields(call, row, values)
        session.add(row)
        session.commit()
        return cards.AddedCard(
            message=f"Card {row.id} is saved.", card=to_card(call, row), saved=True, linked_to_catalogue=False
        )


def update_points_balance(
    program: str,
    balance: int,
    expires_on: Day | None = None,
    as_of: Day | None = None,
    notes: str | None = None,
    cents_per_point: float | None = None,
    member: str | None = None,
) -> balances.UpdatedBalance:
    with _open_session() as (call, session):
        key = {"account_id": call.account_id, "program": program, "member": member or ""}
        row = session.scalars(select(PointsBalance).filter_by(**key).with_for_update()).one_or_none()
        previous = row and balances.Previous(balance=row.balance, as_of=row.as_of)
        if row is None:
            row = PointsBalance(**key)
            session.add(row)
        row.balance, row.as_of, row.source, row.updated_at = balance, as_of or call.today, "manual", call.now
        for name, value in {"expires_on": expires_on, "notes": notes, "own_cents": cents_per_point}.items():
            if value is not None:
                setattr(row, name, value)
        session.commit()
        saved = balances._to_balance(call, row)
        return balances.UpdatedBalance(
            message=f"{balance} points.", balance=saved, created=previous is None, previous=previous
        )


WRITTEN: tuple[Callable[..., Any], ...] = (
    get_award_release_window,
    get_pricing,
    list_my_cards,
    list_points_balances,
    list_trips,
    list_notifications,
    get_profile,
    add_card,
    update_points_balance,
)


def build() -> ASGIApp:
    """The ten tools, and the entries of all others for the list."""
    verifier = IntrospectionTokenVerifier(
        introspection_url=f"{settings().web_url}/oauth/introspect",
        client_id=settings().service_client_id,
        client_secret=os.environ["SERVICE_CLIENT_SECRET"],
        required_scopes=[SCOPE],
        cache_ttl_seconds=CACHED_SECONDS,
        http_client=httpx2.AsyncClient(),  # one for each lookup would be dearer
    )
    server = FastMCP("peer", auth=verifier)
    functions = {function.__name__: function for function in WRITTEN}
    for name, tool in sorted(TOOLS.items()):
        meta = {"tier": tool.tier.label, "area": tool.area}
        said = {"title": tool.title, "description": tool.description, "meta": meta, "annotations": tool.hints}
        if name in functions:
            server.tool(functions[name], output_schema=None, **said)
        else:
            server.add_tool(ListedTool(name=name, parameters=tool.arguments.schema, **said))
    made: ASGIApp = server.http_app(json_response=True, stateless_http=True)
    return made
