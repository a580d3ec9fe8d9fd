"""API keys page of the dashboard: keys are created, shown once, listed and revoked."""

from auth_server.accounts import api_keys
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared.errors import Refusal

PATH = "/dashboard/keys"


def show(member: Member, status: int = 200, fault: str | None = None, new: str | None = None) -> FlowResult:
    keys = api_keys.list_active(member.db, member.account.id)
    return member.show("keys.html", status, keys=keys, fault=fault, new=new, most=api_keys.MAX_KEYS)


def create(member: Member) -> FlowResult:
    try:
        _, key = api_keys.issue(member.db, member.account.id, member.data.form_value("name"))
    except Refusal as refusal:
        return show(member, 422, refusal.message)
    return show(member, new=key)


def revoke(member: Member) -> FlowResult:
    key_id = member.data.form_value("key_id")
    if not key_id.isdecimal() or not api_keys.revoke(member.uow, member.account.id, int(key_id[:18])):
        return show(member, 404, "That key is not among yours any more.")
    return redirect_back(PATH, "revoked")
