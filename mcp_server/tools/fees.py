"""Tools about the cash part of awards: a route goes in, averages of what past searches showed come out."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import ARRAY, Text, any_, func, literal, select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import Airport, Cabin
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Marked, Money, Result
from shared.db.observations import AwardObservation as Row
from shared.domain.airports import Airport as Place
from shared.domain.fees import Seen, merged
from shared.domain.plurals import some
from shared.errors import Fault, Invalid, NoData
from shared.services.search.provenance import Freshness

CODES = ARRAY(Text)  # one parameter however many airports a continent has


class Fee(Marked):
    program: str
    average: Money
    currency: str
    low: Money
    high: Money
    samples: int
    newest: datetime
    oldest: datetime
    basis: Literal["route", "region"]
    area: str


class FeeEstimates(Result):
    fees: list[Fee]
    total_found: int
    freshness: Freshness


def _seen(call: Call, starts: Iterable[str], ends: Iterable[str], cabin: str, programs: Sequence[str]) -> list[Seen]:
    """Sums per programme and currency over all routes between two sets of airports, in this direction."""
    columns = (
        Row.program,
        Row.taxes_currency,
        func.sum(Row.taxes),
        func.min(Row.taxes),
        func.max(Row.taxes),
        func.count(),
        func.max(Row.seen_at),
        func.min(Row.seen_at),
    )
    asked = select(*columns).where(
        Row.origin == any_(literal(sorted(starts), CODES)),
        Row.destination == any_(literal(sorted(ends), CODES)),
        Row.cabin == cabin,
        Row.taxes.is_not(None),
        Row.taxes_currency.is_not(None),
    )
    if programs:
        asked = asked.where(Row.program.in_(programs))
    rows: Iterable[Any] = call.db.execute(asked.group_by(Row.program, Row.taxes_currency))
    return merged(Seen(*row) for row in rows)


def _ends(call: Call, code: str) -> frozenset[str]:
    """The airport, or all airports of a city code."""
    return frozenset(call.reference.city(code))


def _in(call: Call, field: Literal["country", "continent"], place: Place) -> frozenset[str]:
    wanted = getattr(place, field)
    return frozenset(c for c, a in call.reference.airports.items() if getattr(a, field) == wanted)


def _areas(call: Call, origin: str, destination: str) -> Iterable[tuple[str, frozenset[str], frozenset[str]]]:
    """From the route itself to ever wider areas: countries, then continents."""
    yield f"{origin} to {destination}", _ends(call, origin), _ends(call, destination)
    start, end = call.reference.airport(origin), call.reference.airport(destination)
    yield f"{start.country} to {end.country}", _in(call, "country", start), _in(call, "country", end)
    if start.continent and end.continent:
        name = f"{start.continent} to {end.continent} (continents)"
        yield name, _in(call, "continent", start), _in(call, "continent", end)


def _fees(call: Call, origin: str, destination: str, cabin: str, programs: Sequence[str]) -> list[Fee]:
    """For each programme the narrowest area that was ever seen."""
    out: dict[str, list[Fee]] = {}
    for number, (area, starts, ends) in enumerate(_areas(call, origin, destination)):
        basis: Literal["route", "region"] = "region" if number else "route"
        wider: dict[str, list[Fee]] = {}
        for seen in _seen(call, starts, ends, cabin, programs):
            wider.setdefault(seen.program, []).append(_fee(call, seen, basis, area))
        out = wider | out
        if out and (not programs or set(out) >= set(programs)):
            break
    return sorted((f for fees in out.values() for f in fees), key=lambda f: (f.basis == "region", f.average, f.program))


def _fee(call: Call, seen: Seen, basis: Literal["route", "region"], area: str) -> Fee:
    return Fee(
        program=seen.program,
        average=seen.average,
        currency=seen.currency,
        low=seen.low,
        high=seen.high,
        samples=seen.samples,
        newest=seen.newest,
        oldest=seen.oldest,
        basis=basis,
        area=area,
        generated_at=call.invented(seen.newest),
    )


def _freshness(call: Call, newest: datetime) -> Freshness:
    return Freshness(
        mode="sandbox" if call.data_mode == "sandbox" else "cached",
        source="award seats seen in past searches",
        fetched_at=newest,
        age_seconds=max(0, int((call.now - newest).total_seconds())),
        provider_checked_at=None,
        provider_age_seconds=None,
        cached_until=None,
        note="Averages of what was seen, of any age; each row says from when to when.",
    )


def _message(shown: Sequence[Fee], total: int, origin: str, destination: str) -> str:
    samples = sum(f.samples for f in shown)
    words = [f"Taxes and surcharges {origin}-{destination}, one way per person, from {some(samples, 'seat')} seen."]
    if areas := sorted({f.area for f in shown if f.basis == "region"}):
        words.append(f"Where the route itself was never seen the average is of {' and '.join(areas)}.")
    if total > (told := len({f.program for f in shown})):
        words.append(f"{told} of {total} programmes are shown on the free plan.")
    return " ".join(words)


@tool(area="search", tier=Tier.FREE, effect=Effect.READS)
def estimate_award_fees(
    call: Call,
    origin: Airport,
    destination: Airport,
    cabin: Cabin = "economy",
    programs: Annotated[list[str] | None, Field(max_length=60)] = None,
) -> FeeEstimates:
    """Estimates taxes and surcharges per programme on a route from past award searches.

    One way, per person. basis region: the average of area, since the route was never seen. Free accounts: top 3. Free.
    """
    wanted = list(dict.fromkeys(call.reference.program(p).slug for p in programs or ()))
    start, end = call.reference.airport(origin), call.reference.airport(destination)
    if start.code == end.code:
        raise Invalid(Fault("destination", "is the origin", "another airport"))
    found = _fees(call, origin, destination, cabin, wanted)
    if not found:
        raise NoData(
            f"No search has seen taxes or surcharges of {cabin} awards from {origin} to {destination} or between their"
            " regions yet; searches fill this in.",
            missing=["observed fees"],
        )
    shown_programs = list(dict.fromkeys(f.program for f in found))[: call.limits.results]
    shown = [f for f in found if f.program in shown_programs]
    total = len({f.program for f in found})
    return FeeEstimates(
        message=_message(shown, total, origin, destination),
        fees=shown,
        total_found=total,
        freshness=_freshness(call, max(f.newest for f in found)),
    )
