"""A day's award offers: a live search of one day, the price for the party, and how the person's points cover it."""

from asyncio import gather
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages import connections
from auth_server.pages.flight_drawings import fill_slip
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.search import (
    CABIN_WORDS,
    NO_ANSWER,
    PATH,
    read_passengers,
    read_query,
    wait_for_answer,
)
from auth_server.pages.tool_calls import Answer, look, read_faults, search
from auth_server.web.outcomes import FlowResult, show_problem
from shared import clock
from shared.domain.dates import format_weekday
from shared.domain.flight_times import format_days_later, format_flight_times
from shared.domain.party_prices import format_money
from shared.domain.plans import Plan
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source

DAY_PATH = f"{PATH}/day"
FIELDS = ("origin", "destination", "airline", "day", "cabin", "passengers")
MAX_OFFERS = 16  # rows of up to a kilobyte each
MAX_PAYMENTS = 6  # prices for which the person's balances are asked
_BACK = ((PATH, "Back to the search"), ("/dashboard", "Home"))
_Price = tuple[str, int]  # the programme, and the points of the whole party


@dataclass(frozen=True)
class Payment:
    """How a price can be paid; `kind` is the style of its pill."""

    kind: str
    word: str
    text: str


@dataclass(frozen=True)
class Offer:
    """An offer in words, one row of the table."""

    route: str
    about: str
    cabin: str
    seats: str
    age: str
    points: int
    taxes: str
    party_points: int
    party_taxes: str
    payment: Payment | None
    watch: str
    booking_page: str | None
    slug: str  # of the programme
    program: str
    slip: Mapping[str, str]


async def show(member: Member) -> FlowResult:
    typed = read_query(member, FIELDS)
    answer = await _search(member, typed)
    if answer.is_waiting:
        words = f"Looking for award seats from {typed['origin']} to {typed['destination']} on {typed['day']}."
        return wait_for_answer(member, DAY_PATH, typed, words)
    if (refusal := _show_refusal(answer, typed)) is not None:
        return refusal
    if "options" not in answer:
        fault = " ".join(_name_faults(answer)) or NO_ANSWER
        status = 200 if answer.is_good else 422 if answer else 503
        return show_problem("This day could not be looked at", fault, status, links=_BACK)
    # Those of the cabin first, and in each the cheapest.
    wanted_cabin, cabins = typed["cabin"], [name for name, _ in CABIN_WORDS]
    options = sorted(
        answer["options"],
        key=lambda row: (row["cabin"] != wanted_cabin, cabins.index(row["cabin"]), row["points"]),
    )
    prices = list(dict.fromkeys((row["program"], _price_party(row, answer)) for row in options))[:MAX_PAYMENTS]
    if member.plan < Plan.PREMIUM:
        prices = []
    way = partial(look, member, "compare_transfer_options", detail="full")
    payments = await gather(*(way(target_program=program, points_needed=points) for program, points in prices))
    return _show_offers(member, typed, answer, options, dict(zip(prices, payments, strict=True)))


async def _search(member: Member, typed: Mapping[str, str]) -> Answer:
    """One airline in every cabin of the plan, or every airline in one cabin."""
    arguments: dict[str, Any] = {name: typed[name] for name in ("origin", "destination")}
    arguments |= {"date": typed["day"], "passengers": read_passengers(typed), "detail": "full"}
    if typed["airline"]:
        return await search(member, "search_availability", **arguments, airline=typed["airline"])
    cabin = typed["cabin"] or "economy"
    return await search(member, "search_all_airlines", **arguments, cabin=cabin, limit=2 * MAX_OFFERS)


def _show_refusal(answer: Answer, typed: Mapping[str, str]) -> FlowResult | None:
    """Says what to do about an answer that needs another plan, another day or a connected account."""
    plans = ("/plans", "See the plans")
    if answer.status == "paywall":
        economy = (f"{DAY_PATH}?{urlencode({**typed, 'cabin': 'economy'})}", "Look at economy instead")
        text = "Free looks at economy, five times a day."
        return show_problem("Part of the Premium plan", text, 402, links=(plans, economy, *_BACK))
    if answer.status == "limit_reached":
        return show_problem("No search left for now", str(answer["message"]), 429, links=(plans, *_BACK))
    if answer.status == "connection_required":
        links = ((connections.PATH, "To your integrations"), *_BACK)
        return show_problem("Connect your account first", str(answer["message"]), 409, links=links)
    return None


def _name_faults(answer: Answer) -> list[str]:
    """Names the field of each fault, because this page shows no fields."""
    words = {"date": "Day", "origin": "From", "destination": "To", "": ""}
    faults = read_faults(answer).items() if answer else ()
    named = [f"{words.get(name, name.capitalize())}: {text}".removeprefix(": ") for name, text in faults]
    return named or ([str(answer["message"])] if "message" in answer else [])


def _price_party(row: Mapping[str, Any], answer: Mapping[str, Any]) -> int:
    return int(row["points"]) * int(answer["asked"]["passengers"])


def _show_offers(
    member: Member,
    typed: Mapping[str, str],
    answer: Answer,
    options: Sequence[dict[str, Any]],
    payments: Mapping[_Price, Answer],
) -> FlowResult:
    question = answer["asked"]
    ways = {price: describe_payment(payment) for price, payment in payments.items()}
    offers = [
        _describe_offer(row, answer, ways.get((row["program"], _price_party(row, answer))))
        for row in options[:MAX_OFFERS]
    ]
    day = date.fromisoformat(question["date"])
    days_around = {n: date.fromordinal(day.toordinal() + n) for n in (-1, 1)}
    query = {name: typed[name] for name in FIELDS if typed[name] and name != "day"}
    has_cabin = not typed["cabin"] or any(row["cabin"] == typed["cabin"] for row in options)
    month = {name: typed[name] for name in ("origin", "destination", "airline", "passengers") if typed[name]}
    return member.show(
        "search_day.html",
        question=question,
        day=day,
        offers=offers,
        missing="" if has_cabin else dict(CABIN_WORDS).get(typed["cabin"], ""),
        more=len(options) - len(offers),
        message=answer["message"],
        failed=[name_source(row["name"]) for row in answer["coverage"]["failed"]],
        is_free=member.plan < Plan.PREMIUM,
        left=answer["searches_left_today"],
        days_around=[
            (format_weekday(near)[:-5], urlencode({**query, "day": near.isoformat()}))
            for near in days_around.values()
            if near >= clock.today()
        ],
        month=urlencode({**month, "month": f"{day:%Y-%m}"}),
    )


def _measure_elapsed(answer: Mapping[str, Any]) -> int:
    """Seconds since the tool answered: the ages in a cached answer are as of that moment."""
    fetched_at, age = (answer["freshness"][name] for name in ("fetched_at", "age_seconds"))
    if fetched_at is None:
        return 0
    return max(0, int((clock.now() - datetime.fromisoformat(fetched_at)).total_seconds()) - (age or 0))


def _describe_offer(row: Mapping[str, Any], answer: Mapping[str, Any], payment: Payment | None) -> Offer:
    names, passengers = answer["names"], answer["asked"]["passengers"]
    program = names.get(row["program"], row["program"])
    stops = {None: "stops not known", 0: "nonstop"}.get(row["stops"]) or pluralize(row["stops"], "stop")
    flights = " and ".join(row["flight_numbers"]) or "flight not known"
    terms = {
        "origin": row["origin"],
        "destination": row["destination"],
        "earliest_date": row["date"],
        "latest_date": row["date"],
        "cabin": row["cabin"],
        "airlines": row["airline"],
        "passengers": passengers,
        "max_points": row["points"],
    }
    return Offer(
        route=_describe_times(row),
        about=f"{names.get(row['airline'], row['airline'])}, {flights}, {stops}",
        cabin=dict(CABIN_WORDS)[row["cabin"]],
        seats="seats not counted" if row["seats"] is None else pluralize(row["seats"], "seat"),
        age=f"{_describe_age(row['age_seconds'] + _measure_elapsed(answer))}, {name_source(row['source'])}",
        points=row["points"],
        taxes=_format_taxes(row, 1),
        party_points=row["points"] * passengers,
        party_taxes=_format_taxes(row, passengers),
        payment=payment,
        watch=urlencode(terms),
        booking_page=answer["booking_pages"].get(row["program"]),
        slug=row["program"],
        program=program,
        slip=fill_slip(row),
    )


def _describe_times(row: Mapping[str, Any]) -> str:
    """`LHR 20:55 to JFK 01:15 +1`; hours are local to the place."""
    start, end = format_flight_times(row["departs_at"], None), format_flight_times(None, row["arrives_at"])
    if not start or not end:
        return f"{row['origin']} to {row['destination']}, times not known"
    later = format_days_later(row["departs_at"], row["arrives_at"])
    return f"{row['origin']} {start} to {row['destination']} {end}{later}"


def _describe_age(seconds: int) -> str:
    if seconds < 60:
        return "right now"
    minutes, hours = seconds // 60, seconds // 3600
    return f"{minutes} min ago" if minutes < 100 else f"{hours} h ago" if hours < 49 else f"{hours // 24} days ago"


def _format_taxes(row: Mapping[str, Any], passengers: int) -> str:
    if row["taxes"] is None or row["taxes_currency"] is None:
        return "taxes not known"
    return f"+ {format_money(row['taxes'] * passengers, row['taxes_currency'])}"


def describe_payment(answer: Mapping[str, Any]) -> Payment | None:
    """Describes an answer of compare_transfer_options; None without one."""
    if answer.get("status") == "no_data":
        return Payment("", "No way", "None of your balances becomes points of this programme.")
    if "options" not in answer:
        return None
    names, lent = answer["names"], answer.get("pooled_with") or ()
    owners = " and ".join(dict.fromkeys(f"{share['member']}'s" for share in lent))
    together = f" Pool {owners} points with yours first." if lent else ""
    whole = next((way for way in answer["options"] if way["covers_target"]), None)
    if whole is not None and whole["route"] is None:
        return Payment(
            "good", "Covered", f"You and your household hold enough.{together}" if lent else "You hold enough."
        )
    if whole is not None:
        speed = "" if whole["posting_time"] in ("no_data", None) else f", {whole['posting_time']}"
        return Payment("good", "Covered", f"Transfer {_describe_part(whole, names)}{speed}.{together}")
    parts = next((way["parts"] for way in answer["combinations"] if way["covers_target"]), None)
    if parts is not None:
        return Payment(
            "good", "Covered", f"Put together {' and '.join(_describe_part(p, names) for p in parts)}.{together}"
        )
    return Payment("warn", f"{answer['shortfall']:,} short", "with all your balances together.")


def _describe_part(part: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """`60,000 from Chase Ultimate Rewards by way of AerClub`."""
    text = f"{part['source_points']:,} from {names.get(part['from_program'], part['from_program'])}"
    steps = part["route"]["steps"][:-1] if part["route"] else ()
    between = " and ".join(names.get(step["to_program"], step["to_program"]) for step in steps)
    return f"{text} by way of {between}" if between else text


ROUTES = [get_for_member(DAY_PATH, show)]
