"""API keys page of the dashboard: keys are created, shown once, listed and revoked."""

from auth_server.accounts import api_keys, step_up
from auth_server.accounts.security_events import record_event
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult
from shared.db.sign_in_methods import has_second_factor
from shared.domain.display_names import MAX_CHARACTERS
from shared.errors import Invalid, LimitReached

PATH = "/dashboard/keys"


_NAME_EXPECTED = f"Give the key a name of 1 to {MAX_CHARACTERS} visible characters."


def show(
    member: Member, status: int = 200, fault: str | None = None, new: str | None = None, name_fault: str = ""
) -> FlowResult:
    keys = api_keys.list_active(member.db, member.account.id)
    name, ticked = (member.read_field("name"), member.read_field("administer")) if new is None else ("", "")
    return member.show(
        "keys.html",
        status,
        keys=keys,
        fault=fault,
        new=new,
        most=api_keys.MAX_KEYS,
        name=name,
        name_fault=name_fault,
        has_factor=member.account.is_admin and has_second_factor(member.db, member.account.id),
        administer=ticked == "yes",
    )


def create(member: Member) -> FlowResult:
    administer = member.account.is_admin and member.data.form_value("administer") == "yes"
    if administer and not step_up.may_administer(member.db, member.session, member.account):
        return step_up.ask_for_form(member.data, member.account, PATH)
    if not member.take_form_once():
        return redirect_back(PATH, "made_before")
    try:
        name = member.data.form_value("name")
        row, key = api_keys.issue(member.db, member.account.id, name, administer=administer)
    except Invalid:
        return show(member, 422, name_fault=_NAME_EXPECTED)
    except LimitReached as refusal:
        return show(member, 422, f"{refusal.message} Revoke one that you do not need.")
    record_event(member.uow, member.account, "key_created", subject=row.name, user_agent=member.data.user_agent)
    return show(member, new=key)


def revoke(member: Member) -> FlowResult:
    key_id = member.data.form_value("key_id")
    if not key_id.isdecimal() or not api_keys.revoke(member.uow, member.account.id, int(key_id[:18])):
        return show(member, 404, "That key is not among yours any longer.")
    return redirect_back(PATH, "revoked")
