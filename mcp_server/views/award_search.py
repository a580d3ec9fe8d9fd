"""Rules the award searches share: cabins of a plan, routes, release windows, and whose price an airline's is."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Protocol, TypeVar

from mcp_server.toolkit import CallBase, Part, Result
from mcp_server.toolkit.parameters import Cabin
from shared.domain.airport_pairs import JourneyEnd, Pair
from shared.domain.dates import format_weekday
from shared.domain.plans import CABINS, FREE_CABINS, Plan, list_cabins
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData, Paywall
from shared.reference.airlines import Airline
from shared.reference.city_airports import list_pairs, require_airports

ALWAYS = ("BA", "QR", "CX")  # the specification's carrier tags: listed and accepted whether or not a source has them


class Priced(Protocol):
    @property
    def program(self) -> str: ...
    @property
    def points(self) -> int: ...


P = TypeVar("P", bound=Priced)


class SeatsAsked(Part):
    """What a search was asked, its names resolved: airports and airlines as codes, the whole party.

    `date` is of a day's search, in the middle of `flex_days` on either side; `month` (YYYY-MM) is of a month's.
    `airline` is null where several were asked.
    """

    origin: str
    destination: str
    date: date | None
    month: str | None
    flex_days: int
    cabins: list[str]
    passengers: int
    airline: str | None


class SeatSearch(Result):
    """A search for award seats says what it was asked, for anyone who reads the result alone."""

    asked: SeatsAsked


def build_asked(
    origin: str,
    destination: str,
    cabins: Sequence[str],
    passengers: int,
    airline: str | None,
    *,
    day: date | None = None,
    month: str | None = None,
    flex_days: int = 0,
) -> SeatsAsked:
    """What was asked: a day's search or a month's."""
    return SeatsAsked(
        origin=origin,
        destination=destination,
        date=day,
        month=month,
        flex_days=flex_days,
        cabins=list(cabins),
        passengers=passengers,
        airline=airline,
    )


def require_cabins(call: CallBase, cabin: Cabin | None) -> Sequence[str]:
    """The cabins to search. Raises Paywall for one the plan does not cover."""
    if cabin is not None and cabin not in list_cabins(call.plan):
        raise Paywall(
            f"{cabin.replace('_', ' ').capitalize()} award search needs the Premium plan; this account is on Free.",
            required="premium",
            current=call.plan.slug,
            feature="Award search in every cabin",
            upgrade_url=call.upgrade_url,
            free_alternative="Search again with cabin economy, which Free covers.",
        )
    return (cabin,) if cabin else list_cabins(call.plan)


def describe_hidden_cabins(call: CallBase) -> str:
    """A sentence, after others, about the cabins a Free account does not see; empty for others."""
    if call.plan is not Plan.FREE:
        return ""
    rest = ", ".join(c.replace("_", " ") for c in CABINS if c not in FREE_CABINS)
    return f" Economy only: {rest} need Premium."


def resolve_routes(call: CallBase, origin: str, destination: str) -> list[Pair]:
    """The airports to search between, of airports or cities. Raises NotFound, and Invalid if both share one."""
    facts = call.reference
    start, end = (JourneyEnd(code, tuple(require_airports(facts, code))) for code in (origin, destination))
    if set(start.airports) & set(end.airports):
        raise Invalid(Fault("destination", "is the origin too", "another airport"))
    return list_pairs(facts, start, end)


def last_day_on_sale(call: CallBase, airline: str) -> date:
    """The last day this airline has released seats for; date.max where that is not known."""
    window = call.reference.release_window(airline)
    return call.today + timedelta(days=window.days_before_departure) if window else date.max


def build_not_on_sale(call: CallBase, airline: Airline, day: date) -> NoData:
    last = last_day_on_sale(call, airline.iata)
    return NoData(
        f"{airline.name} releases award seats {pluralize((last - call.today).days, 'day')} ahead, today until"
        f" {format_weekday(last)}."
        f" {format_weekday(day)} is not on sale yet.",
        missing=["award seats"],
    )


def find_best_offer(airline: Airline, offers: Iterable[P]) -> P | None:
    """The lowest price of the airline's own programme, else of any: points of two programmes do not compare."""
    candidates = list(offers)
    own = [o for o in candidates if o.program == airline.program]
    return min(own or candidates, key=lambda o: o.points, default=None)


def list_searchable(call: CallBase) -> list[str]:
    """Every airline in live mode, since a source may know any; in the sandbox only those in a chart."""
    facts = call.reference
    if call.data_mode == "live":
        return sorted(facts.airlines)
    charts = [c for slug in facts.programs for c in facts.charts(slug, call.today)]
    codes = {code for c in charts for code in c.carriers}
    open_to = {c.program for c in charts if c.scope == "all_other_partners"}
    return sorted(
        code
        for code in facts.airlines
        if code in ALWAYS or code in codes or any(facts.partner(slug, code) for slug in open_to)
    )
