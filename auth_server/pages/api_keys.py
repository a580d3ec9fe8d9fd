"""API keys on the dashboard: a name goes in, a key shown once comes out; any key can be revoked."""

from auth_server.accounts import api_keys
from auth_server.pages.member import Member, back
from auth_server.web.outcomes import FlowResult
from shared.errors import Refusal

PATH = "/dashboard/keys"


def page(me: Member, status: int = 200, fault: str | None = None, new: str | None = None) -> FlowResult:
    keys = api_keys.living(me.server.db, me.account.id)
    return me.page("keys.html", status, keys=keys, fault=fault, new=new, most=api_keys.MOST)


def create(me: Member) -> FlowResult:
    try:
        _, key = api_keys.issue(me.server.db, me.account.id, me.inc.form_value("name"))
    except Refusal as no:
        return page(me, 422, no.message)
    return page(me, new=key)


def revoke(me: Member) -> FlowResult:
    wanted = me.inc.form_value("key_id")
    if not wanted.isdecimal() or not api_keys.revoke(me.server, me.account.id, int(wanted[:18])):
        return page(me, 404, "That key is not among yours any more.")
    return back(PATH, "revoked")
