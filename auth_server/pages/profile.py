"""Profile page: from where and how the person travels, in which currency and time zone, and who is in the household."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import (
    BEFORE,
    mark_values,
    name_faults,
    pick_changes,
    read_typed,
    show_away,
    write_values,
)
from auth_server.web.outcomes import FlowResult, PageResult

PATH = "/dashboard/profile"
LABELS = {
    "home_airport": "Home airport",
    "default_cabin": "Usual cabin",
    "default_passengers": "Usual number of travellers",
    "currency": "Currency",
    "country": "Country",
    "timezone": "Time zone",
    "preferred_airlines": "Airlines you prefer",
    "avoided_airlines": "Airlines you avoid",
}
LISTS = ("preferred_airlines", "avoided_airlines")
CABINS = (
    ("", "None"),
    ("economy", "Economy"),
    ("premium_economy", "Premium economy"),
    ("business", "Business"),
    ("first", "First"),
)
MAX_PASSENGERS = 9
MESSAGES = {"saved": "Your profile is saved."}
_AWAY = show_away("Your profile")


def _look(member: Member) -> dict[str, Any]:
    return {"profile": prepare_look(member, "get_profile"), "portfolio": prepare_look(member, "get_portfolio")}


def show(member: Member) -> PageResult:
    return show_when_answered(_look(member), partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    profile = answers["profile"].get("profile")
    if not profile:
        return _AWAY
    typed = write_values(profile, LABELS) | {name: ", ".join(profile[name]) for name in LISTS}
    return _show_fields(member, typed, mark_values(typed), answers)


def _show_fields(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    answers: Mapping[str, Answer],
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    return member.show(
        "profile.html",
        422 if faults else 200,
        typed=typed,
        before=before,
        labels=LABELS,
        cabins=CABINS,
        passengers=[(str(number), str(number)) for number in range(1, MAX_PASSENGERS + 1)],
        household=answers["portfolio"].get("by_member", ()),
        faults=faults or {},
        messages=MESSAGES,
    )


def save(member: Member) -> PageResult:
    typed, before = read_typed(member, LABELS), read_typed(member, LABELS, BEFORE)
    changes = pick_changes(typed, before, clearable=LABELS)
    for name in LISTS:
        if name in changes:
            changes[name] = [part.strip() for part in typed[name].split(",") if part.strip()]
    if changes.get("default_passengers", "").isdecimal():
        changes["default_passengers"] = int(changes["default_passengers"])
    calls = {"saved": prepare_change(member, "update_profile", **changes)}
    return show_when_answered(calls, partial(_finish_saving, member, typed, before))


def _finish_saving(
    member: Member, typed: Mapping[str, str], before: Mapping[str, str], answers: Mapping[str, Answer]
) -> PageResult:
    faults = name_faults(answers["saved"], LABELS)
    if not faults:
        return redirect_back(PATH, "saved")
    return show_when_answered(_look(member), lambda looks: _show_fields(member, typed, before, looks, faults))


ROUTES = [get_for_member(PATH, show), post_for_member(PATH, save)]
