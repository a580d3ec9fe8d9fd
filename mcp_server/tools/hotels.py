"""Hotels of the supported chains: facts, award categories, and prices of nights in points and cash."""

import calendar
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Paging, Result, Tier, tool
from mcp_server.toolkit.parameters import Day, HotelName, Month, Page, PerPage, Points
from mcp_server.views.hotels import (
    MAX_LISTED,
    Award,
    CardList,
    Described,
    FoundHotel,
    ListedHotel,
    Night,
    Paying,
    StayRates,
    build_source_fields,
    collect_lists,
    describe_award,
    describe_lists,
    describe_member,
    describe_opening,
    describe_others,
    describe_paying,
    describe_stay,
    facts_freshness,
    list_paying,
    list_titles,
    to_award,
    to_card_list,
    to_description,
    to_found_hotel,
    to_listed_hotel,
    to_stay_rates,
)
from mcp_server.views.profile import CURRENCY
from shared.db.hotel_perks import HotelPerks, load_perks
from shared.domain import hotel_prices, time_zones
from shared.domain.dates import format_short_weekday
from shared.domain.hotel_prices import StayPrice
from shared.domain.plurals import pluralize
from shared.errors import Ambiguity, Candidates, Fault, Invalid, NoData, NotFound
from shared.reference import hotel_awards, hotel_lists, hotel_places, hotels
from shared.reference.hotel_awards import FreeNight
from shared.reference.hotel_places import HotelPlace
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel as HotelRow
from shared.services.search.hotel_prices import HotelReadings, require_prices, search_nights, search_stays
from shared.services.search.provenance import Coverage, Freshness

Guests = Annotated[int, Field(ge=1, le=8)]
Sort = Literal["value", "points", "cash", "name"]
MAX_HOTELS = 150  # of one search: a source is asked about each of them
MAX_DAYS_NAMED = 4
MAX_BY_NIGHT = 10  # nights of a stay that are each asked about at all hotels with a free night


class HotelDetails(Result):
    hotel: Described
    award: Award
    card_lists: list[CardList]
    rates: StayRates | None
    certificates: list[Paying]  # of the user's, that pay a night of the stay
    freshness: Freshness


class HotelNights(Result):
    nights: list[Night]
    stay: StayRates | None
    freshness: Freshness


class FoundHotels(Result):
    hotels: list[FoundHotel]
    card_lists: list[CardList]
    other_hotels_listed: list[ListedHotel]
    coverage: Coverage
    freshness: Freshness
    paging: Paging


async def _read_perks(call: LiveCall) -> HotelPerks:
    return await call.in_session(lambda session: load_perks(session, call.account_id, call.today))


@dataclass(frozen=True)
class _Offered:
    """A person's benefits at a hotel: its programme's rule, and in how many nights one is free for them."""

    free: FreeNight
    every: int
    perks: HotelPerks

    @property
    def currency(self) -> str:
        """The currency of the profile, in which prices are asked for."""
        return self.perks.currency or CURRENCY


def _find_offered(facts: Reference, hotel: HotelRow, perks: HotelPerks) -> _Offered:
    free = hotel_awards.find_free_night(facts, hotel)
    return _Offered(free, free.find_every(facts, perks.tiers.get(hotel.program), perks.cards), perks)


def _find_local_day(call: LiveCall, hotel: HotelRow) -> Date:
    return time_zones.find_local_day(call.now, hotels.find_time_zone(call.reference, hotels.code(hotel)))


def _check_dates(check_in: Date, check_out: Date, today: Date) -> None:
    if wrong := hotel_prices.find_date_faults(check_in, check_out, today):
        raise Invalid(*wrong)


def _pair_dates(check_in: Date | None, check_out: Date | None) -> tuple[Date, Date] | None:
    """Raises Invalid when one is missing."""
    if check_in and check_out:
        return check_in, check_out
    if check_in or check_out:
        missing = "check_out_date" if check_in else "check_in_date"
        raise Invalid(Fault(missing, "is missing", "both dates of the stay"))
    return None


@tool("hotels", Tier.FREE, Effect.READS, "Show a hotel", live=True, open_world=True)
async def get_hotel(
    call: LiveCall, hotel_id: HotelName, check_in_date: Day | None = None, check_out_date: Day | None = None
) -> HotelDetails:
    """Describes one hotel or resort by name: award category, points per night (standard, peak, off-peak), cash rates.

    For "How many points does a night at the Park Hyatt cost?" Free.
    """
    dates = _pair_dates(check_in_date, check_out_date)
    hotel = _find_hotel(call.reference, hotel_id)
    if dates is None:
        return _to_details(
            call,
            hotel,
            None,
            f"{describe_award(call.reference, hotel, call.today)} Send both dates for rates.",
            facts_freshness(hotel),
        )
    _check_dates(*dates, _find_local_day(call, hotel))
    offered = _find_offered(call.reference, hotel, await _read_perks(call))
    prices = await _ask_prices(call, hotel, dates, offered, stays_only=True)
    stay = prices.stay(hotels.code(hotel), *dates, offered.every)
    paying = list_paying(call.reference, offered.perks.vouchers, hotel, dates, stay, call.today)
    words = (
        f"{describe_stay(stay, offered.free, offered.every)}{describe_paying(paying, stay)}{_describe_failures(prices)}"
    )
    freshness = prices.freshness
    return _to_details(
        call,
        hotel,
        to_stay_rates(stay, offered.free, build_source_fields(prices)),
        words,
        freshness,
        paying=paying,
        partial=bool(prices.unanswered_sources),
    )


def _find_hotel(facts: Reference, text: str) -> HotelRow:
    """Raises NotFound or Candidates; the refusal says if a card list has the hotel."""
    try:
        return hotels.find_hotel(facts, text)
    except NotFound as refusal:
        if member := hotel_lists.find_other_member(facts, text):
            raise NotFound("hotel", text, refusal.facts["nearest"], describe_member(facts, member)) from None
        raise


async def _ask_prices(
    call: LiveCall, hotel: HotelRow, dates: tuple[Date, Date], offered: _Offered, guests: int = 2, *, stays_only: bool
) -> HotelReadings:
    """Asks for prices of the whole stay, and of single nights if they are shown or decide which is free."""
    by_night = not stays_only or 0 < offered.every <= (dates[1] - dates[0]).days
    prices = await search_stays(
        call.ask,
        [hotel],
        *dates,
        guests=guests,
        currency=offered.currency,
        by_night=[hotel] if by_night else (),
    )
    require_prices(prices, hotel.name, need_price=not stays_only and not prices.unanswered_sources)
    return prices


def _to_details(
    call: LiveCall,
    hotel: HotelRow,
    rates: StayRates | None,
    sentences: str,
    freshness: Freshness,
    *,
    paying: Sequence[Paying] = (),
    partial: bool = False,
) -> HotelDetails:
    place = f"{hotel.name}, {hotel.city}, {hotel.country}."
    lists = hotel_lists.find_lists(call.reference, hotel)
    return HotelDetails(
        status="partial" if partial else "ok",
        message=" ".join(filter(None, (place, describe_opening(hotel), describe_lists(lists), sentences))),
        hotel=to_description(hotel),
        award=to_award(call.reference, hotel, call.today),
        card_lists=[to_card_list(row) for row in lists],
        rates=rates,
        certificates=list(paying),
        freshness=freshness,
    )


def _describe_failures(prices: HotelReadings) -> str:
    return (
        f" No answer from {', '.join(prices.unanswered_sources)}, so this may not be all."
        if prices.unanswered_sources
        else ""
    )


@tool("hotels", Tier.FREE, Effect.READS, "Check award nights at a hotel", live=True, open_world=True, meter="search")
async def get_hotel_availability(
    call: LiveCall,
    hotel_id: HotelName,
    check_in_date: Day | None = None,
    check_out_date: Day | None = None,
    month: Annotated[Month | None, Field(description="Instead of dates.")] = None,
    guests: Guests = 2,
) -> HotelNights:
    """Checks award nights at one hotel: rooms available on points or cash for a stay, or open nights of a month.

    For "Is the Conrad open on points in May?" Free.
    """
    dates = _pair_dates(check_in_date, check_out_date)
    if (dates is None) == (month is None):
        raise Invalid(Fault("month", "is needed where no dates are given, and goes with none", "both dates, or month"))
    hotel = hotels.find_hotel(call.reference, hotel_id)
    offered = _find_offered(call.reference, hotel, await _read_perks(call))
    code, today = hotels.code(hotel), _find_local_day(call, hotel)
    stay: StayPrice | None = None
    if dates:
        _check_dates(*dates, today)
        prices = await _ask_prices(call, hotel, dates, offered, guests, stays_only=False)
        days, stay = hotel_prices.list_nights(*dates), prices.stay(code, *dates, offered.every)
    else:
        first, last = _find_nights(str(month), today)
        prices = await search_nights(call.ask, hotel, first, last, guests, offered.currency)
        require_prices(prices, hotel.name, need_price=not prices.unanswered_sources)
        days = hotel_prices.list_nights(first, last + timedelta(days=1))
    source_fields = build_source_fields(prices)
    nights = [Night.from_row(prices.night(code, day), **source_fields, date=day) for day in days]
    open_nights = {day: price for day in days if (price := prices.night(code, day)).points is not None}
    payable = Counter(
        paying.name
        for day, price in open_nights.items()
        for paying in list_paying(
            call.reference,
            offered.perks.vouchers,
            hotel,
            (day, day + timedelta(days=1)),
            StayPrice(1, price),
            call.today,
        )
    )
    sentences = [
        _describe_nights(hotel, nights),
        describe_stay(stay, offered.free, offered.every) if stay and stay.nights > 1 else "",
        *(f"Your {name} can pay one of {n} of these nights." for name, n in payable.most_common(2)),
    ]
    return HotelNights(
        status="partial" if prices.unanswered_sources else "ok",
        message=" ".join(filter(None, sentences)) + _describe_failures(prices),
        nights=nights,
        stay=to_stay_rates(stay, offered.free, source_fields) if stay else None,
        freshness=prices.freshness,
    )


def _find_nights(month: str, today: Date) -> tuple[Date, Date]:
    """The first and last night of the month that are not past."""
    year, number = int(month[:4]), int(month[5:])
    last = Date(year, number, calendar.monthrange(year, number)[1])
    if last < today:
        raise Invalid(Fault("month", "is in the past", f"{today:%Y-%m} or later"))
    if last > today + hotel_prices.MAX_AHEAD:
        raise Invalid(Fault("month", "is too far ahead", f"{today + hotel_prices.MAX_AHEAD:%Y-%m} or earlier"))
    return max(Date(year, number, 1), today), last


def _describe_nights(hotel: HotelRow, nights: Sequence[Night]) -> str:
    available = sum(n.state == "available" for n in nights)
    awards = sum(n.points is not None for n in nights)
    unknown = sum(n.state == "unknown" for n in nights)
    rest = f" For {pluralize(unknown, 'night')} no source has an answer." if unknown else ""
    count = f"{pluralize(len(nights), 'night')}, {available} available, {awards} with an award price"
    return f"{hotel.name}: {count}.{_describe_cheapest(nights)}{rest}"


def _describe_cheapest(nights: Sequence[Night]) -> str:
    """The nights of a month with the fewest points; empty where all cost the same or none is an award."""
    points = {night.date: night.points for night in nights if night.points is not None}
    fewest = min(points.values(), default=0)
    days = [day for day, price in points.items() if price == fewest]
    if not days or len(days) == len(points):
        return ""
    more = f" and {len(days) - MAX_DAYS_NAMED} more" if len(days) > MAX_DAYS_NAMED else ""
    return f" Fewest points: {fewest:,} on {', '.join(map(format_short_weekday, days[:MAX_DAYS_NAMED]))}{more}."


@tool(
    "hotels",
    Tier.FREE,
    Effect.READS,
    "Search hotels on points",
    live=True,
    open_world=True,
    meter="search",
    condenses=True,
)
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
    per_page: PerPage = 10,
) -> FoundHotels:
    """Searches hotels in a city or near a place, on points or cash: Hyatt, Hilton, Marriott, IHG and other chains.

    For "Where could we stay in Rome on points?" Free.
    """
    facts = call.reference
    place = await call.in_session(lambda _session: hotel_places.find_place(facts, destination))
    candidates = _filter_by_chains(facts, place, chains)
    _check_dates(check_in_date, check_out_date, min(_find_local_day(call, h) for h in candidates))
    dates, perks = (check_in_date, check_out_date), await _read_perks(call)
    every = {h.slug: _find_offered(facts, h, perks).every for h in candidates}
    nights = min((check_out_date - check_in_date).days, MAX_BY_NIGHT)
    prices = await search_stays(
        call.ask,
        candidates,
        *dates,
        guests=guests,
        currency=perks.currency or CURRENCY,
        by_night=[h for h in candidates if 0 < every[h.slug] <= nights],
    )
    require_prices(prices, f"hotels in {place.name}", need_price=not prices.unanswered_sources)
    rows = [(h, prices.stay(hotels.code(h), *dates, every[h.slug])) for h in candidates]
    rows = sorted((r for r in rows if _is_within_points(r[1], max_points_per_night)), key=lambda r: _sort_key(sort, *r))
    rows_shown, source_fields = rows[(page - 1) * per_page : page * per_page], build_source_fields(prices)
    others, paging = hotel_lists.find_other_members(facts, place.hotels), Paging.of(page, per_page, len(rows))
    summary = _describe_matches(place, rows, sort, max_points_per_night) + describe_others(facts, others)
    hotels_shown = [_to_found_hotel(call, h, stay, (dates, perks), source_fields) for h, stay in rows_shown]
    return FoundHotels(
        status="partial" if prices.unanswered_sources else "ok",
        message=summary + _describe_certificates(hotels_shown) + _describe_failures(prices) + paging.more,
        hotels=hotels_shown,
        card_lists=collect_lists(facts, [h for h, _ in rows_shown], others[:MAX_LISTED]),
        other_hotels_listed=[to_listed_hotel(facts, member) for member in others[:MAX_LISTED]],
        coverage=prices.coverage,
        freshness=prices.freshness,
        paging=paging,
    )


def _describe_certificates(found: Sequence[FoundHotel]) -> str:
    """At how many shown hotels the user's certificates cover a night, grouped by kind; empty without any."""
    owned = Counter(name for name, _ in {(p.name, p.voucher_id) for hotel in found for p in hotel.certificates})
    counts = Counter(name for hotel in found for name in {paying.name for paying in hotel.certificates})
    number = {name: f" (you have {times})" if times > 1 else "" for name, times in owned.items()}
    return "".join(
        f" Your {name}{number[name]} can pay a night at {hotels} of those shown."
        for name, hotels in counts.most_common(2)
    )


def _to_found_hotel(
    call: LiveCall,
    hotel: HotelRow,
    stay: StayPrice,
    asked: tuple[tuple[Date, Date], HotelPerks],
    source_fields: dict[str, Any],
) -> FoundHotel:
    row = hotel_awards.find_category(call.reference, hotel, call.today)
    lists = list_titles(call.reference, hotel)
    dates, perks = asked
    free = hotel_awards.find_free_night(call.reference, hotel).rule if stay.free_night else None
    paying = list_paying(call.reference, perks.vouchers, hotel, dates, stay, call.today)
    return to_found_hotel(hotel, row.category if row else None, lists, stay, (free, paying), source_fields)


def _filter_by_chains(facts: Reference, place: HotelPlace, chains: Sequence[str] | None) -> list[HotelRow]:
    """Raises NoData if none is known, Candidates if there are too many, and NotFound or Candidates for a chain."""
    codes = {code for text in chains or () for code in hotels.list_chain_codes(facts, text)}
    matches = [h for h in place.hotels if not chains or hotels.code(h) in codes]
    if not matches:
        whose = "these chains" if chains else "a supported chain"
        raise NoData(f"No hotel of {whose} is known in {place.name}.", missing=[f"hotels in {place.name}"])
    if len(matches) > MAX_HOTELS:
        count = f"{place.name} has {len(matches)} hotels, and at most {MAX_HOTELS} are searched at once"
        most = Counter(f"{h.city}, {h.country}" for h in matches).most_common(20)
        which = Ambiguity.of_names("city", place.name, cities := [city for city, _ in most])
        raise Candidates(f"{count}; call again with a city.", cities, which)
    return matches


def _is_within_points(stay: StayPrice, most: int | None) -> bool:
    points = stay.best.points
    return most is None or (points is not None and points <= most * stay.nights)


def _sort_key(sort: Sort, hotel: HotelRow, stay: StayPrice) -> tuple[bool, Decimal, str]:
    """Unknown values come last; ties are sorted by name."""
    best = stay.best
    worth = best.cents_per_point
    key = {
        "value": None if worth is None else -worth,
        "points": None if best.points is None else Decimal(best.points),
        "cash": best.cash,
        "name": Decimal(0),
    }[sort]
    return key is None, key or Decimal(0), hotel.name


_FIRST: dict[Sort, str] = {"value": "Best value: ", "points": "Fewest points: ", "cash": "Lowest price: ", "name": ""}


def _describe_matches(
    place: HotelPlace, rows: Sequence[tuple[HotelRow, StayPrice]], sort: Sort, most: int | None
) -> str:
    """The first of them with its price, and of how many; what is not known is said."""
    rooms = [(hotel, stay) for hotel, stay in rows if stay.best.state == "available"]
    unknown = sum(s.best.state == "unknown" for _, s in rows)
    cap = f" at up to {pluralize(most, 'point')} a night" if most else ""
    rest = f" For {pluralize(unknown, 'hotel')} no source has an answer." if unknown else ""
    count = f"{pluralize(len(rows), 'hotel')} in {place.name}{cap}"
    if not rooms:
        return f"No room for the whole stay was found: {count}.{rest}"
    hotel, stay = rooms[0]
    best, prices = stay.best, []
    if best.points is not None:
        prices.append(pluralize(best.points // stay.nights, "point"))
    if best.cash is not None:
        prices.append(f"{best.cash / stay.nights:,.2f} {best.currency}")
    average = " a night on average" if stay.nights > 1 else " for the night"
    price = f"{' or '.join(prices)}{average}" if prices else "without a known price"
    full = f", {len(rooms)} with a room for the whole stay" if len(rooms) < len(rows) else ""
    return f"{_FIRST[sort]}{hotel.name}, {price}. Of {count}{full}.{rest}"
