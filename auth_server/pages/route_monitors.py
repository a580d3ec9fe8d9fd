"""Pages of route watches: terms, what was found, the log of checks, prices over time, and the form of the terms."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.flight_drawings import draw_ways, fill_slip
from auth_server.pages.forms import Field, ToolForm, write_value
from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_lines import Row, describe_route_monitor, describe_terms, read_moment
from auth_server.pages.watch_pages import Kind, Listing, list_routes
from auth_server.web.charts import draw_line
from auth_server.web.outcomes import FlowResult
from shared.domain.flight_times import format_flight_times
from shared.domain.look_bars import draw_looks
from shared.domain.party_prices import describe_party, format_money
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source
from shared.domain.watch_kinds import ROUTE_MONITOR

_CODE_HELP = "An airport or a city by its three letters, such as LHR or LON."
ANY_CABIN = "Any cabin"
TAXES_FIELD = Field("max_taxes", "Taxes per person, at most", "In the currency of your profile. Empty: any.", half=True)
DAYS_FIELDS = (
    Field("nonstop_only", "Non-stop flights only"),
    Field("weekdays", "Only on these days", "None ticked: on all."),
)
FORM = ToolForm(
    (
        Field("origin", "From", _CODE_HELP, half=True),
        Field("destination", "To", _CODE_HELP, half=True),
        Field("earliest_date", "First day", half=True),
        Field("latest_date", "Last day", half=True),
        Field("cabin", none=ANY_CABIN, half=True),
        Field("passengers", "Travellers", half=True),
        Field("max_points", "Points per person, at most", "Empty: at any price.", half=True),
        TAXES_FIELD,
        Field("airlines", help="Names or codes, with commas between. Empty: all."),
        *DAYS_FIELDS,
    ),
    add="create_route_monitor",
    change="update_route_monitor",
)
_LOOKS = {
    "find": "new seats",
    "done": "nothing new",
    "part": "answered in part",
    "fail": "without an answer",
    "due": "not looked at",
}
_STOPS = {None: "", 0: "non-stop"}


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    monitor, names = answer["monitor"], answer["names"]
    seats = [_describe_seat(seat, names) for seat in answer["matches"]]
    prices = [(datetime.fromisoformat(price["found_at"]), price["points"]) for price in answer["prices"]]
    values = {field.name: monitor.get(field.name) for field in FORM.fields if not field.name.endswith("_date")}
    texts = {name: ",".join(v) if isinstance(v, list) else write_value(v) for name, v in values.items()}
    return member.show(
        "route_watch.html",
        kind=kind,
        line=describe_route_monitor(monitor),
        terms=describe_terms(monitor),
        monitor=monitor,
        best=next((seat for seat in seats if seat["is_open"]), None),
        seats=seats,
        more=monitor["matches_total"] - len(seats),
        picture=draw_line(prices, "Fewest points per person", want=monitor["max_points"]),
        checks=[{"at": read_moment(check["checked_at"]), "words": _word_check(check)} for check in answer["checks"]],
        looks=draw_looks([_judge_check(check) for check in answer["checks"]][::-1], "check", _LOOKS),
        map=await draw_ways(member, [(monitor["origin"], monitor["destination"])]),
        party=describe_party(monitor["passengers"]),
        is_party=monitor["passengers"] > 1,
        ended_at=read_moment(monitor["cancelled_at"]),
        again=urlencode({name: text for name, text in texts.items() if text}),
        funding=answer["funding"],
    )


def _describe_seat(seat: Row, names: Mapping[str, str]) -> dict[str, Any]:
    """One seat as a row: the price for one and for everyone."""
    airline = names.get(seat["airline"], seat["airline"])
    times = format_flight_times(seat["departs_at"], seat["arrives_at"], " to ")
    stops = _STOPS[seat["stops"]] if seat["stops"] in _STOPS else pluralize(seat["stops"], "stop")
    return {
        "day": date.fromisoformat(seat["date"]),
        "flight": ", ".join(seat["flight_numbers"]) or airline,
        "about": ", ".join(
            filter(None, (f"{seat['origin']} to {seat['destination']}", times, stops, seat["cabin"].replace("_", " ")))
        ),
        "slip": fill_slip(seat),
        "stops": stops,
        "cabin": seat["cabin"].replace("_", " "),
        "airline": airline,
        "slug": seat["program"],
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
    """`+ $312`."""
    if taxes is None or not currency:
        return "+ taxes not known"
    return f"+ {format_money(taxes, currency)}"


def _judge_check(check: Row) -> str:
    """Returns the kind of its bar."""
    if check["outcome"] in ("connection_required", "not_configured"):
        return "due"
    if check["outcome"] == "backend_unavailable":
        return "fail"
    return "find" if check["new_matches"] else "part" if check["failed_sources"] else "done"


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


KIND = Kind(
    watch=ROUTE_MONITOR,
    noun="watch",
    number="monitor_id",
    listing=Listing(
        name="routes",
        drawing="trips",
        title="Routes",
        words="Watch a route",
        empty="No route is watched. A watch looks every few hours and mails award seats when they open.",
        tool="list_route_monitors",
        rows="monitors",
        arguments={"state": "all"},
    ),
    form=FORM,
    look="get_route_monitor",
    look_arguments={"detail": "full"},
    end="cancel_route_monitor",
    pick=lambda answer: answer["monitor"],
    show=_show,
    describe=describe_route_monitor,
    verb="Stop",
    end_words="It is not checked any longer and cannot be started again. What it found is kept.",
    is_kept=True,
)
ROUTES = list_routes(KIND)
