"""Claim of an agent's account, in two steps: what the code stands for, and what becomes of the agent's key."""

from sqlalchemy import Select, func, inspect, select
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
LINK = "/claim/{code}"  # the link that agents give their person
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
    """Asks before it claims: a stranger could have sent the code (RFC 8628 5.4)."""
    return _show_agent(member, member.data.form_value("claim_code"))


def open_link(member: Member) -> FlowResult:
    """Does the same for the link with the code."""
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


def _select_count(model: type[Base], account_id: int) -> Select[int]:
    """Counts rows of a plain table, which no guard restricts to the person's own."""
    table, mapper = model.__table__, inspect(model)
    mine = table.c.account_id == account_id
    if mapper.polymorphic_on is not None:  # one table holds several kinds
        mine &= mapper.polymorphic_on == mapper.polymorphic_identity
    return select(func.count()).select_from(table).where(mine)


def describe_records(db: Session, account_id: int) -> str:
    """Describes the records, such as "2 trips, 1 points balance"; empty when there are none."""
    counts = [_select_count(model, account_id).scalar_subquery() for model in _NOUNS]
    rows = zip(db.execute(select(*counts)).one(), _NOUNS.values(), strict=True)
    return ", ".join(pluralize(count, *nouns) for count, nouns in rows if count)
