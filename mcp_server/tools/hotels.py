"""Hotels: a place or a hotel and dates go in; what its nights cost in points and in money comes out."""

import calendar
from collections.abc import Sequence
from datetime import date as Date
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import Day, HotelName, Month, Page, PerPage, Points
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Paging, Result
from mcp_server.views.hotels import (
    Award,
    Described,
    FoundHotel,
    Night,
    StayRates,
    build_source_fields,
    describe_award,
    describe_stay,
    facts_freshness,
    to_award,
    to_description,
    to_found_hotel,
    to_night,
    to_stay_rates,
)
from mcp_server.views.profile import CURRENCY
from shared.db.profile import Profile
from shared.domain import hotel_prices, time_zones
from shared.domain.hotel_prices import StayPrice
from shared.domain.plurals import some
from shared.errors import Fault, Invalid, NoData
from shared.reference import hotel_awards, hotel_places, hotels
from shared.reference.hotel_awards import FreeNight
from shared.reference.hotel_places import Place
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel as HotelRow
from shared.services.search.hotel_prices import Seen, night_prices, require_prices, stay_prices
from shared.services.search.provenance import Coverage, Freshness

Guests = Annotated[int, Field(ge=1, le=8)]
Sort = Literal["value", "points", "cash", "name"]


class HotelDetails(Result):
    hotel: Described
    award: Award
    rates: StayRates | None
    freshness: Freshness


class HotelNights(Result):
    nights: list[Night]
    stay: StayRates | None
    freshness: Freshness


class FoundHotels(Result):
    hotels: list[FoundHotel]
    coverage: Coverage
    freshness: Freshness
    paging: Paging


async def _currency(call: LiveCall) -> str:
    """In which money prices are asked for: the profile's."""

    def read(session: Session) -> str:
        row = session.get(Profile, call.account_id)
        return (row.currency if row else None) or CURRENCY

    return await call.in_session(read)


def _today(call: LiveCall, hotel: HotelRow) -> Date:
    return time_zones.day(call.now, hotels.zone(call.reference, hotels.code(hotel)))


def _check(check_in: Date, check_out: Date, today: Date) -> None:
    if wrong := hotel_prices.faults(check_in, check_out, today):
        raise Invalid(*wrong)


def _both(check_in: Date | None, check_out: Date | None) -> tuple[Date, Date] | None:
    """Raises Invalid when one is missing."""
    if check_in and check_out:
        return check_in, check_out
    if check_in or check_out:
        missing = "check_out_date" if check_in else "check_in_date"
        raise Invalid(Fault(missing, "is missing", "both dates of the stay"))
    return None


@tool(area="hotels", tier=Tier.FREE, effect=Effect.READS, live=True, open_world=True)
async def get_hotel(
    call: LiveCall, hotel_id: HotelName, check_in_date: Day | None = None, check_out_date: Day | None = None
) -> HotelDetails:
    """Describes one hotel, its award category, levels and codes, with rates when both dates are given. Free."""
    dates = _both(check_in_date, check_out_date)
    found = hotels.find(call.reference, hotel_id)
    free = hotel_awards.free_night(call.reference, found)
    if dates is None:
        return _to_details(
            call,
            found,
            None,
            f"{describe_award(call.reference, found)} Send both dates for rates.",
            facts_freshness(found),
        )
    _check(*dates, _today(call, found))
    seen = await _ask(call, found, dates, free, stays_only=True)
    stay = seen.stay(hotels.code(found), *dates, free.every)
    words = f"{describe_stay(stay, free)}{_rest(seen)}"
    freshness = seen.freshness
    return _to_details(
        call, found, to_stay_rates(stay, free, build_source_fields(seen)), words, freshness, partial=bool(seen.failed)
    )


async def _ask(
    call: LiveCall, found: HotelRow, dates: tuple[Date, Date], free: FreeNight, guests: int = 2, *, stays_only: bool
) -> Seen:
    """The stay as a whole, and its single nights where they are shown or decide which of them is free."""
    by_night = not stays_only or 0 < free.every <= (dates[1] - dates[0]).days
    currency = await _currency(call)
    seen = await stay_prices(call.ask, [found], *dates, guests=guests, currency=currency, by_night=by_night)
    require_prices(seen, found.name, known=not stays_only and not seen.failed)
    return seen


def _to_details(
    call: LiveCall, hotel: HotelRow, shown: StayRates | None, words: str, freshness: Freshness, *, partial: bool = False
) -> HotelDetails:
    return HotelDetails(
        status="partial" if partial else "ok",
        message=f"{hotel.name}, {hotel.city}, {hotel.country}. {words}",
        hotel=to_description(hotel),
        award=to_award(call.reference, hotel),
        rates=shown,
        freshness=freshness,
    )


def _rest(seen: Seen) -> str:
    return f" Not answered by {', '.join(seen.failed)}, so this may not be all." if seen.failed else ""


@tool(area="hotels", tier=Tier.FREE, effect=Effect.READS, live=True, open_world=True, meter="search")
async def get_hotel_availability(
    call: LiveCall,
    hotel_id: HotelName,
    check_in_date: Day | None = None,
    check_out_date: Day | None = None,
    month: Annotated[Month | None, Field(description="Instead of dates.")] = None,
    guests: Guests = 2,
) -> HotelNights:
    """Shows the nights of a stay or a month at one hotel: points, cash, or unknown where no source knows. Free."""
    dates = _both(check_in_date, check_out_date)
    if (dates is None) == (month is None):
        raise Invalid(Fault("month", "is needed where no dates are given, and goes with none", "both dates, or month"))
    found = hotels.find(call.reference, hotel_id)
    free = hotel_awards.free_night(call.reference, found)
    code, today = hotels.code(found), _today(call, found)
    stay: StayPrice | None = None
    if dates:
        _check(*dates, today)
        seen = await _ask(call, found, dates, free, guests, stays_only=False)
        wanted, stay = hotel_prices.days(*dates), seen.stay(code, *dates, free.every)
    else:
        first, last = _window(str(month), today)
        seen = await night_prices(call.ask, found, first, last, guests, await _currency(call))
        require_prices(seen, found.name, known=not seen.failed)
        wanted = hotel_prices.days(first, last + timedelta(days=1))
    marks = build_source_fields(seen)
    shown = [to_night(day, seen.night(code, day), marks) for day in wanted]
    words = [_counted(found, shown), describe_stay(stay, free) if stay and stay.nights > 1 else ""]
    return HotelNights(
        status="partial" if seen.failed else "ok",
        message=" ".join(filter(None, words)) + _rest(seen),
        nights=shown,
        stay=to_stay_rates(stay, free, marks) if stay else None,
        freshness=seen.freshness,
    )


def _window(month: str, today: Date) -> tuple[Date, Date]:
    """The nights of a month that are to come."""
    year, number = int(month[:4]), int(month[5:])
    last = Date(year, number, calendar.monthrange(year, number)[1])
    if last < today:
        raise Invalid(Fault("month", "is in the past", f"{today:%Y-%m} or later"))
    if last > today + hotel_prices.FARTHEST:
        raise Invalid(Fault("month", "is too far ahead", f"{today + hotel_prices.FARTHEST:%Y-%m} or earlier"))
    return max(Date(year, number, 1), today), last


def _counted(found: HotelRow, shown: Sequence[Night]) -> str:
    free = sum(n.state == "available" for n in shown)
    awards = sum(n.points is not None for n in shown)
    unknown = sum(n.state == "unknown" for n in shown)
    rest = f"; of {unknown} no source knows" if unknown else ""
    return f"{found.name}: {free} of {len(shown)} nights are free, {awards} of them with an award price{rest}."


@tool(area="hotels", tier=Tier.FREE, effect=Effect.READS, live=True, open_world=True, meter="search")
async def search_hotels(
    call: LiveCall,
    destination: Annotated[str, Field(max_length=120, description="City, area or airport.")],
    check_in_date: Day,
    check_out_date: Day,
    chains: Annotated[list[str] | None, Field(max_length=20)] = None,
    guests: Guests = 2,
    max_points_per_night: Points | None = None,
    sort: Sort = "value",
    page: Page = 1,
    per_page: PerPage = 20,
) -> FoundHotels:
    """Finds hotels of the supported chains in a place for dates, with points, cash and value. Free."""
    facts = call.reference
    place = await call.in_session(lambda _session: hotel_places.place(facts, destination))
    wanted = _of_chains(facts, place, chains)
    _check(check_in_date, check_out_date, min(_today(call, h) for h in wanted))
    currency = await _currency(call)
    seen = await stay_prices(call.ask, wanted, check_in_date, check_out_date, guests=guests, currency=currency)
    require_prices(seen, f"hotels in {place.name}", known=not seen.failed)
    rows = [(h, seen.stay(hotels.code(h), check_in_date, check_out_date)) for h in wanted]
    rows = sorted((r for r in rows if _fits(r[1], max_points_per_night)), key=lambda r: _rank(sort, *r))
    shown, marks = rows[(page - 1) * per_page : page * per_page], build_source_fields(seen)
    return FoundHotels(
        status="partial" if seen.failed else "ok",
        message=_summary(place, rows, max_points_per_night) + _rest(seen),
        hotels=[to_found_hotel(h, stay, marks) for h, stay in shown],
        coverage=seen.coverage,
        freshness=seen.freshness,
        paging=Paging.of(page, per_page, len(rows)),
    )


def _of_chains(facts: Reference, place: Place, chains: Sequence[str] | None) -> list[HotelRow]:
    """Raises NoData where none is known, NotFound or Candidates for a chain's name."""
    meant = {code for text in chains or () for code in hotels.codes_of_chain(facts, text)}
    found = [h for h in place.hotels if not chains or hotels.code(h) in meant]
    if not found:
        whose = "these chains" if chains else "a supported chain"
        raise NoData(f"No hotel of {whose} is known in {place.name}.", missing=[f"hotels in {place.name}"])
    return found


def _fits(stay: StayPrice, most: int | None) -> bool:
    points = stay.best.points
    return most is None or (points is not None and points <= most * stay.nights)


def _rank(sort: Sort, hotel: HotelRow, stay: StayPrice) -> tuple[bool, Decimal, str]:
    """What is not known comes last; ties go by name."""
    best = stay.best
    worth = best.cents_per_point
    key = {
        "value": None if worth is None else -worth,
        "points": None if best.points is None else Decimal(best.points),
        "cash": best.cash,
        "name": Decimal(0),
    }[sort]
    return key is None, key or Decimal(0), hotel.name


def _summary(place: Place, rows: Sequence[tuple[HotelRow, StayPrice]], most: int | None) -> str:
    free = sum(s.best.state == "available" for _, s in rows)
    awards = sum(s.best.points is not None for _, s in rows)
    unknown = sum(s.best.state == "unknown" for _, s in rows)
    cap = f" at up to {some(most, 'point')} a night" if most else ""
    count = f"{some(len(rows), 'hotel')} in {place.name}{cap}"
    rest = f"; of {unknown} no source knows" if unknown else ""
    said = f"{count}: {free} with a room for the whole stay, {awards} with an award price{rest}."
    return f"{said} A night is the average."
