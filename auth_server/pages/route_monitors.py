"""Pages of route watches: terms, what was found, the log of checks, prices over time, and the form of the terms."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages import watch_forms
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_forms import Field, Kind
from auth_server.pages.watch_lines import DAY_NAMES, Row, describe_route_monitor, describe_terms, read_moment
from auth_server.web.charts import draw_line
from auth_server.web.outcomes import FlowResult
from shared.domain.flight_times import format_flight_times
from shared.domain.party_prices import describe_party, format_amount
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source

CABINS = (
    ("", "Any cabin"),
    ("economy", "Economy"),
    ("premium_economy", "Premium economy"),
    ("business", "Business"),
    ("first", "First"),
)
DAYS = tuple((day, name[:3]) for day, name in DAY_NAMES.items())
PATH = "/dashboard/watches/route"
CODE_HELP = "An airport or a city by its three letters, such as LHR or LON."
KIND = Kind(
    noun="watch",
    path=PATH,
    number="monitor_id",
    tools={
        "create": "create_route_monitor",
        "look": "get_route_monitor",
        "change": "update_route_monitor",
        "end": "cancel_route_monitor",
    },
    pick=lambda answer: answer["monitor"],
    pick_new=lambda answer: answer["monitor"],
    fields=(
        Field("origin", "From", "code", CODE_HELP, required=True, half=True, length=3),
        Field("destination", "To", "code", CODE_HELP, required=True, half=True, length=3),
        Field("earliest_date", "First day", "date", required=True, half=True, length=10),
        Field("latest_date", "Last day", "date", required=True, half=True, length=10),
        Field("cabin", "Cabin", "choice", options=CABINS, clearable=True, half=True),
        Field("passengers", "Travellers", "number", required=True, half=True, length=1),
        Field(
            "max_points",
            "Points per person, at most",
            "number",
            "Empty: at any price.",
            clearable=True,
            half=True,
            length=10,
        ),
        Field(
            "max_taxes",
            "Taxes per person, at most",
            "number",
            "In the currency of your profile. Empty: any.",
            clearable=True,
            half=True,
            length=10,
        ),
        Field(
            "airlines",
            "Airlines",
            "list",
            "Names or codes, with commas between. Empty: all.",
            clearable=True,
            length=300,
        ),
        Field("nonstop_only", "Non-stop flights only", "flag"),
        Field("weekdays", "Only on these days", "several", "None ticked: on all.", options=DAYS, clearable=True),
    ),
    look={"detail": "full"},
    defaults={"passengers": "1"},
    describe=describe_route_monitor,
    verb="Stop",
    end_words="It is not checked any longer and cannot be started again. What it found is kept.",
    is_kept=True,
)
_STOPS = {None: "", 0: "non-stop"}


def _show(member: Member, answer: Answer) -> FlowResult:
    monitor, names = answer["monitor"], answer["names"]
    seats = [_describe_seat(seat, names) for seat in answer["matches"]]
    prices = [(datetime.fromisoformat(price["found_at"]), price["points"]) for price in answer["prices"]]
    return member.show(
        "route_watch.html",
        side="",  # two columns need the width of the side tabs
        kind=KIND,
        line=describe_route_monitor(monitor),
        terms=describe_terms(monitor),
        monitor=monitor,
        best=next((seat for seat in seats if seat["is_open"]), None),
        seats=seats,
        more=monitor["matches_total"] - len(seats),
        picture=draw_line(prices, "Fewest points per person", want=monitor["max_points"]),
        checks=[_describe_check(check) for check in answer["checks"]],
        party=describe_party(monitor["passengers"]),
        is_party=monitor["passengers"] > 1,
        ended_at=read_moment(monitor["cancelled_at"]),
        again=urlencode(_list_terms(monitor)),
        funding=answer["funding"],
    )


def _list_terms(monitor: Row) -> dict[str, str]:
    """What the form for a new watch is filled with."""
    values = watch_forms.write_values(KIND.fields, monitor)
    return {name: text for name, text in values.items() if text and not name.endswith("_date")}


def _describe_seat(seat: Row, names: Mapping[str, str]) -> dict[str, Any]:
    """One seat in the words of a row: prices of a person and of everybody."""
    airline = names.get(seat["airline"], seat["airline"])
    times = format_flight_times(seat["departs_at"], seat["arrives_at"], " to ")
    stops = _STOPS[seat["stops"]] if seat["stops"] in _STOPS else pluralize(seat["stops"], "stop")
    return {
        "day": date.fromisoformat(seat["date"]),
        "flight": ", ".join(seat["flight_numbers"]) or airline,
        "about": ", ".join(
            filter(None, (f"{seat['origin']} to {seat['destination']}", times, stops, seat["cabin"].replace("_", " ")))
        ),
        "airline": airline,
        "program": names.get(seat["program"], seat["program"]),
        "seats": "" if seat["seats"] is None else pluralize(seat["seats"], "seat"),
        "points": seat["points"],
        "taxes": _describe_taxes(seat["taxes"], seat["taxes_currency"]),
        "party_points": seat["party_points"],
        "party_taxes": _describe_taxes(seat["party_taxes"], seat["taxes_currency"]),
        "is_open": seat["is_open"],
        "found_at": read_moment(seat["found_at"]),
        "seen_at": read_moment(seat["provider_checked_at"] or seat["found_at"]),
    }


def _describe_taxes(taxes: float | None, currency: str | None) -> str:
    """`+ 312 USD`."""
    if taxes is None or not currency:
        return "+ taxes not known"
    return f"+ {format_amount(Decimal(str(taxes)), currency)}"


def _describe_check(check: Row) -> dict[str, Any]:
    return {"at": read_moment(check["checked_at"]), "words": _word_check(check)}


def _word_check(check: Row) -> str:
    silent = name_source(", ".join(check["failed_sources"]))
    if check["outcome"] == "connection_required":
        return "Not looked at: a source has to be connected first."
    if check["outcome"] == "not_configured":
        return "Not looked at: there is no source of seats here."
    if check["outcome"] == "backend_unavailable":
        return f"No answer from {silent}." if silent else "No answer."
    result = (
        f"{pluralize(check['new_matches'], 'new seat')}."
        if check["new_matches"]
        else f"Nothing new among {pluralize(check['options_seen'], 'offer')}."
    )
    return f"{result} {silent} did not answer." if silent else result


ROUTES = [
    *watch_forms.build_routes(KIND),
    get_for_member(f"{PATH}/{{number}}", partial(watch_forms.show_one, KIND, _show)),
]
