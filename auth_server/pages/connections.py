"""Integrations pages: the accounts elsewhere that a person connected are listed, connected, synchronised and ended."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import NO_ANSWER, Answer, prepare_change, prepare_look, show_when_answered
from auth_server.web.outcomes import FlowResult, PageResult, Redirect, show_problem
from shared.domain.plans import INTEGRATIONS, Plan

PATH = "/dashboard/integrations"
CONNECT, SYNC, END = f"{PATH}/connect", f"{PATH}/sync", f"{PATH}/end"
MESSAGES = {
    "ended": "The connection is ended, and its keys are deleted here. Your notices say if anything is left to do there."
}
SYNC_SECONDS = 40.0  # the tool waits 30 for the other service
_AWAY = show_problem("Back in a moment", "Your integrations could not be read right now. Please try again.", 503, 5)
_GONE = show_problem(
    "There is no such connection",
    "It may have been ended in the meantime; the others are as they were.",
    404,
    links=((PATH, "To your integrations"),),
)
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


def show(member: Member) -> PageResult:
    return show_when_answered({"integrations": prepare_look(member, "list_integrations")}, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer], fault: str = "") -> FlowResult:
    answer = answers["integrations"]
    if not answer.is_good:
        return (
            show_problem("That was not possible", fault, 422, links=((PATH, "To your integrations"),))
            if fault
            else _AWAY
        )
    rows = [_describe(member, row) for row in answer["integrations"] if row["state"] in _STATES]
    absent = [row["name"] for row in answer["integrations"] if row["state"] not in _STATES]
    context = {"rows": rows, "absent": absent, "fault": fault, "messages": MESSAGES}
    return member.show("connections.html", 422 if fault else 200, **context)


def _describe(member: Member, row: Mapping[str, Any]) -> dict[str, Any]:
    """A connection as the list shows it, with what can be done about it on this plan."""
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


def connect(member: Member) -> PageResult:
    """On to the page that says what is shared; its one-time link is made now."""
    call = prepare_change(member, "connect_integration", provider=member.data.form_value("provider"))
    return show_when_answered({"link": call}, partial(_finish_connecting, member))


def _finish_connecting(member: Member, answers: Mapping[str, Answer]) -> PageResult:
    link = answers["link"]
    if not link.is_good:
        text = str(link.get("message", NO_ANSWER))
        look = {"integrations": prepare_look(member, "list_integrations")}
        return show_when_answered(look, partial(_show, member, fault=text))
    url = urlsplit(link["authorize_url"])
    return Redirect(f"{url.path}?{url.query}")  # on this host, under the name the browser has for it


def sync(member: Member) -> PageResult:
    provider = member.data.form_value("provider")
    call = prepare_change(member, "sync_integration", seconds=SYNC_SECONDS, provider=provider)
    return show_when_answered({"synced": call}, partial(_finish_sync, member))


def _finish_sync(member: Member, answers: Mapping[str, Answer]) -> PageResult:
    answer = answers["synced"]
    if not answer.is_good:
        look = {"integrations": prepare_look(member, "list_integrations")}
        return show_when_answered(look, partial(_show, member, fault=_describe_failure(answer)))
    skipped = [(_name_row(row), _REASONS.get(row["reason"], row["reason"])) for row in answer["conflicts"]]
    changed = [_name_row(row) for row in answer["changes"]]
    return member.show("connection_synced.html", message=answer["message"], changed=changed, skipped=skipped)


def _name_row(row: Mapping[str, Any]) -> str:
    """As people read it: "balance united mileageplus", "hotel booking 17"."""
    return f"{row['kind']} {row['id']}".replace("_", " ").replace("-", " ").replace(":", " ")


def _describe_failure(answer: Answer) -> str:
    if any(outage["reason"] == "broken" for outage in answer.get("backends") or ()):
        return "The other service no longer accepts the connection. Connect it again below."
    return str(answer.get("message", NO_ANSWER))


def ask_end(member: Member) -> PageResult:
    return show_when_answered({"integrations": prepare_look(member, "list_integrations")}, partial(_ask_end, member))


def _ask_end(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer, provider = answers["integrations"], member.data.query_value("provider")
    if not answer.is_good:
        return _AWAY
    states = ("connected", "broken", "pending")
    row = next((r for r in answer["integrations"] if r["provider"] == provider and r["state"] in states), None)
    return member.show("connection_end.html", row=_describe(member, row)) if row else _GONE


def end(member: Member) -> PageResult:
    call = prepare_change(member, "disconnect_integration", provider=member.data.form_value("provider"))
    return show_when_answered({"ended": call}, _finish_ending)


def _finish_ending(answers: Mapping[str, Answer]) -> FlowResult:
    ended = answers["ended"]
    if not ended:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5)
    if not ended.is_good:
        return _GONE
    return redirect_back(PATH, "ended")


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(CONNECT, connect),
    post_for_member(SYNC, sync),
    get_for_member(END, ask_end),
    post_for_member(END, end),
]
