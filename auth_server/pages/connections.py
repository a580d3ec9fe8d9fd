"""Integrations pages: the accounts elsewhere that a person connected are listed, connected, synchronised and ended."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import NO_ANSWER, Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult, Redirect, show_problem
from shared.domain.plans import INTEGRATIONS, Plan

PATH = "/dashboard/integrations"
CONNECT, SYNC, END = f"{PATH}/connect", f"{PATH}/sync", f"{PATH}/end"
MESSAGES = {
    "ended": "The connection is ended, and its keys are deleted here. Your notices say if anything is left to do there."
}
SYNC_SECONDS = 40.0  # the tool waits 30 for the other service
CONNECTIONS = Subject("connection", PATH, "Your integrations")
_STATES = {
    "connected": ("Connected", "good"),
    "broken": ("Has to be connected again", "bad"),
    "pending": ("Begun, not finished", "warn"),
    "disconnected": ("Not connected", ""),
}
_USES = {
    "searches": "searches",
    "route_monitors": "route monitors",
    "flight_alerts": "flight alerts",
    "points_balances": "balances",
    "loyalty_statuses": "statuses",
    "flight_bookings": "flights",
    "hotel_bookings": "stays",
}
_COPIES_NOTHING = ("seats_aero",)  # it is asked when the person searches
_REASONS = {
    "unknown_program": "the programme is not known here",
    "several_accounts": "there are several accounts of this programme",
    "not_checked_lately": "the other service has not looked recently",
    "newer_here": "what stands here is newer",
    "unknown_tier": "the tier is not known here",
    "not_accepted": "something in it does not fit",
    "changed_here": "you changed it here",
    "gone_there": "it is gone at the other service",
    "unreadable": "it could not be read",
}


async def show(member: Member) -> FlowResult:
    return await _show(member)


async def _show(member: Member, fault: str = "") -> FlowResult:
    answer = await look(member, "list_integrations")
    if not answer.is_good and fault:
        return show_problem("That was not possible", fault, 422, links=((PATH, "To your integrations"),))
    if not answer.is_good:
        return CONNECTIONS.show_away()
    rows = [_describe(member, row) for row in answer["integrations"] if row["state"] in _STATES]
    absent = [row["name"] for row in answer["integrations"] if row["state"] not in _STATES]
    context = {"rows": rows, "absent": absent, "fault": fault, "messages": MESSAGES}
    return member.show("connections.html", 422 if fault else 200, **context)


def _describe(member: Member, row: Mapping[str, Any]) -> dict[str, Any]:
    """A connection for the list, with what can be done on this plan."""
    words, kind = _STATES[row["state"]]
    uses = [_USES.get(use, use.replace("_", " ")) for use in row["used_by"]]
    is_open, name = row["state"] in ("connected", "broken"), row["provider"]
    return {
        "provider": name,
        "name": row["name"],
        "words": words,
        "kind": kind,
        "uses": " and ".join(", ".join(uses).rsplit(", ", 1)),
        "synced": datetime.fromisoformat(row["last_sync_at"]) if row["last_sync_at"] else None,
        "is_open": is_open,
        "failed": row["state"] == "connected" and row["last_error"] is not None,
        "may_connect": row["state"] != "connected" and member.plan >= INTEGRATIONS[name],
        "may_sync": row["state"] == "connected" and name not in _COPIES_NOTHING and member.plan >= Plan.PREMIUM,
        "needs": "" if is_open or member.plan >= INTEGRATIONS[name] else INTEGRATIONS[name].slug.title(),
    }


async def connect(member: Member) -> FlowResult:
    """Leads to the page that says what is shared; its one-time link is made now."""
    link = await change(member, "connect_integration", provider=member.data.form_value("provider"))
    if not link.is_good:
        return await _show(member, fault=str(link.get("message", NO_ANSWER)))
    url = urlsplit(link["authorize_url"])
    return Redirect(f"{url.path}?{url.query}")  # on this host, by the name the browser uses


async def sync(member: Member) -> FlowResult:
    provider = member.data.form_value("provider")
    answer = await change(member, "sync_integration", SYNC_SECONDS, provider=provider)
    if not answer.is_good:
        return await _show(member, fault=_describe_failure(answer))
    skipped = [(_name_row(row), _REASONS.get(row["reason"], row["reason"])) for row in answer["conflicts"]]
    changed = [_name_row(row) for row in answer["changes"]]
    return member.show("connection_synced.html", message=answer["message"], changed=changed, skipped=skipped)


def _name_row(row: Mapping[str, Any]) -> str:
    """Names a row for people: "balance united mileageplus", "hotel booking 17"."""
    return f"{row['kind']} {row['id']}".replace("_", " ").replace("-", " ").replace(":", " ")


def _describe_failure(answer: Answer) -> str:
    if any(outage["reason"] == "broken" for outage in answer.get("backends") or ()):
        return "The other service no longer accepts the connection. Connect it again below."
    return str(answer.get("message", NO_ANSWER))


async def ask_end(member: Member) -> FlowResult:
    answer, provider = await look(member, "list_integrations"), member.data.query_value("provider")
    if not answer.is_good:
        return CONNECTIONS.show_away()
    states = ("connected", "broken", "pending")
    row = next((r for r in answer["integrations"] if r["provider"] == provider and r["state"] in states), None)
    return member.show("connection_end.html", row=_describe(member, row)) if row else CONNECTIONS.show_gone()


async def end(member: Member) -> FlowResult:
    ended = await change(member, "disconnect_integration", provider=member.data.form_value("provider"))
    return redirect_back(PATH, "ended") if ended.is_good else CONNECTIONS.refuse(ended)


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(CONNECT, connect),
    post_for_member(SYNC, sync),
    get_for_member(END, ask_end),
    post_for_member(END, end),
]
