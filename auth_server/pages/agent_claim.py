"""Claim of an agent's account, in two steps: what the code stands for, and what becomes of the agent's key."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from auth_server.accounts import agents
from auth_server.accounts.security_events import record_event
from auth_server.pages import account
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared.db.balances import PointsBalance
from shared.db.base import Base
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.clients import ClientPortfolio
from shared.db.lounges import LoungeVisit
from shared.db.oauth import ApiKey
from shared.db.own_programs import OwnProgram
from shared.db.spending import SpendingStatement
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.db.watches import list_limited_models
from shared.domain.display_names import describe_alphabets
from shared.domain.plurals import pluralize
from shared.errors import Invalid, LimitReached

PATH = "/dashboard/claim"
LINK = "/claim/{code}"  # as agents hand it to their person
_NOUNS: dict[type[Base], tuple[str, str]] = {
    Trip: ("trip", ""),
    FlightBooking: ("flight booking", ""),
    HotelBooking: ("hotel booking", ""),
    PointsBalance: ("points balance", ""),
    OwnProgram: ("own programme", ""),
    Card: ("card", ""),
    LoyaltyStatus: ("elite status", "elite statuses"),
    Voucher: ("voucher", ""),
    **{model: (model.KIND.noun, "") for model in list_limited_models()},
    SpendingStatement: ("statement", ""),
    LoungeVisit: ("lounge visit", ""),
    ClientPortfolio: ("client portfolio", ""),
}


def ask(member: Member) -> FlowResult:
    """Nothing is claimed yet: the code could be one that a stranger sent (RFC 8628 5.4)."""
    return _show_agent(member, member.data.form_value("claim_code"))


def open_link(member: Member) -> FlowResult:
    """The same by the link that holds the code."""
    return _show_agent(member, member.data.path.rpartition("/")[2])


def _show_agent(member: Member, code: str) -> FlowResult:
    try:
        key = agents.find_unclaimed(member.uow, code)
    except Invalid:
        return _refuse_code(member)
    return _show(member, key, code)


def claim(member: Member) -> FlowResult:
    code, keep_key = member.data.form_value("claim_code"), member.data.form_value("key") == "keep"
    try:
        name = agents.claim(member.uow, member.account, code, keep_key=keep_key)
    except Invalid:
        return _refuse_code(member)
    except LimitReached as full:
        fault = f"{full.message} Revoke one of yours first, or end the agent's key."
        return _show(member, agents.find_unclaimed(member.uow, code), code, 422, fault)
    kind = "agent_claimed_with_key" if keep_key else "agent_claimed"
    record_event(member.uow, member.account, kind, subject=name, user_agent=member.data.user_agent)
    return redirect_back(account.PATH, "claimed_key" if keep_key else "claimed")


def _refuse_code(member: Member) -> FlowResult:
    fault = "This claim code fits no agent. It works once, and only as it was given."
    return account.show(member, 422, {"claim_code": fault})


def _show(member: Member, key: ApiKey, code: str, status: int = 200, fault: str | None = None) -> FlowResult:
    context = {"alphabets": describe_alphabets(key.name), "records": describe_records(member.db, key.account_id)}
    return member.show("agent_claim.html", status, key=key, code=code.strip(), fault=fault, **context)


def describe_records(db: Session, account_id: int) -> str:
    """Describes the records, such as "2 trips, 1 points balance"; empty when there are none."""
    tables = [model.__table__ for model in _NOUNS]
    counts = [select(func.count()).select_from(t).where(t.c.account_id == account_id).scalar_subquery() for t in tables]
    rows = zip(db.execute(select(*counts)).one(), _NOUNS.values(), strict=True)
    return ", ".join(pluralize(count, *nouns) for count, nouns in rows if count)
