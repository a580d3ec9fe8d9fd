"""Claim of an agent's account, in two steps: what the code stands for, and what becomes of the agent's key."""

from auth_server.accounts import agents
from auth_server.accounts.agent_records import describe_records
from auth_server.accounts.security_events import record_event
from auth_server.pages import account
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared.db.oauth import ApiKey
from shared.domain.display_names import describe_alphabets
from shared.errors import Invalid, LimitReached

PATH = "/dashboard/claim"
LINK = "/claim/{code}"  # as agents hand it to their person


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
