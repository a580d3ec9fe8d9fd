"""A hotel for results: its place and codes, its award chart, and what its nights and stays cost."""

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from mcp_server.toolkit.provenance import Audited, describe_audited
from mcp_server.toolkit.results import NO_DATA, Marked, Money, NoDataWord, Part
from mcp_server.views.award_charts import describe_values
from mcp_server.views.vouchers import build_stay_use, judge_voucher
from shared.db.vouchers import Voucher
from shared.domain.dates import format_day, format_iso_day
from shared.domain.hotel_prices import State, StayPrice
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.plurals import pluralize
from shared.reference import hotel_awards, hotel_lists, hotels
from shared.reference.hotel_awards import FreeNight
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, HotelList, HotelListMember
from shared.reference.rows.travel import Hotel as HotelRow
from shared.services.search.hotel_prices import HotelReadings
from shared.services.search.provenance import Freshness, describe_unasked

# Card issuers' lists of hotels, for results.

MAX_LISTED = 10  # hotels of no programme in one answer


class CardList(Audited):
    title: str
    issuer: str
    benefits: str | None


class ListedHotel(Part):
    """A hotel on a list that belongs to no programme known here; no source is asked for its prices."""

    name: str
    city: str
    country: str
    lists: list[str]


def to_card_list(row: HotelList) -> CardList:
    return CardList.from_row(row, **describe_audited(row))


def to_listed_hotel(facts: Reference, member: HotelListMember) -> ListedHotel:
    titles = [row.title for row in hotel_lists.select_lists(facts, member.lists)]
    return ListedHotel.from_row(member, lists=titles)


def list_titles(facts: Reference, hotel: Hotel) -> list[str]:
    return [row.title for row in hotel_lists.find_lists(facts, hotel)]


def collect_lists(facts: Reference, hotels: Sequence[Hotel], members: Sequence[HotelListMember]) -> list[CardList]:
    """The lists that any of these hotels is on."""
    keys = {row.list for hotel in hotels for row in hotel_lists.find_lists(facts, hotel)}
    keys |= {key for member in members for key in member.lists}
    return [to_card_list(row) for row in hotel_lists.select_lists(facts, keys)]


def describe_lists(rows: Sequence[HotelList]) -> str:
    """A sentence about the lists a hotel is on; empty if it is on none."""
    titles = " and ".join(f"{row.title} of {row.issuer}" for row in rows)
    return f"It is on {titles}{_describe_day(rows)}." if rows else ""


def describe_member(facts: Reference, member: HotelListMember) -> str:
    """Sentences about a listed hotel that belongs to no programme known here."""
    lists = describe_lists(hotel_lists.select_lists(facts, member.lists))
    return f"{member.name} ({member.city}, {member.country}) belongs to no programme known here. {lists}"


def describe_others(facts: Reference, members: Sequence[HotelListMember]) -> str:
    """A sentence on a place's hotels that only the lists name."""
    if not members:
        return ""
    rows = hotel_lists.select_lists(facts, {key for member in members for key in member.lists})
    titles = ", ".join(row.title for row in rows)
    count = pluralize(len(members), "other hotel there is", "other hotels there are")
    return f" {count} on card lists ({titles}){_describe_day(rows)}."


def _describe_day(rows: Sequence[HotelList]) -> str:
    days = [row.as_of for row in rows if row.as_of]
    return f", as of {format_iso_day(min(days))}" if days else ""


Category = int | Literal["A", "B", "C", "D", "E", "F"]  # letters: all-inclusive resorts, on their own chart


class PricedRow(Marked):
    """Where a price is from; invented ones say so in the row."""

    source: str
    mode: Literal["live", "cached", "sandbox"]


class StayRates(PricedRow):
    nights: int
    points_total: int | NoDataWord
    cash_total: Money | NoDataWord
    currency: str
    cents_per_point: Money | NoDataWord
    free_night_rule_applied: str | None
    room_type: str | None


class Night(PricedRow):
    date: date
    state: State
    points: int | None
    cash: Money | None
    currency: str
    room_type: str | None
    cents_per_point: Money | None


class Paying(Part):
    """A free night certificate of the user's; `added_points`: what it costs besides."""

    voucher_id: int
    name: str
    added_points: int


class Described(Part):
    hotel_id: str
    name: str
    chain: str
    brand: str
    address: str | None
    city: str
    country: str
    latitude: float | None
    longitude: float | None
    property_codes: list[str]


class Level(Part):
    level: str
    points: int | NoDataWord


class Award(Audited):
    hotel_code: str
    category: Category | None
    levels: list[Level]
    chart_from: str | None
    dynamic: bool | None


class FoundHotel(PricedRow):
    hotel_id: str
    hotel_code: str
    name: str
    chain: str
    brand: str
    city: str
    country: str
    category: Category | None
    lists: list[str]
    points_per_night: int | NoDataWord
    cash_per_night: Money | NoDataWord
    currency: str
    cents_per_point: Money | NoDataWord
    nights_available: int | None  # None where no source knows the stay
    free_night_rule_applied: str | None
    certificates: list[Paying]


def build_source_fields(answer: HotelReadings) -> dict[str, Any]:
    """Builds the fields of Sourced for all rows of one answer."""
    freshness = answer.freshness
    generated_at = freshness.fetched_at if freshness.mode == "sandbox" else None
    return {"source": freshness.source, "mode": freshness.mode, "generated_at": generated_at}


def to_stay_rates(stay: StayPrice, free: FreeNight, marks: dict[str, Any]) -> StayRates:
    best = stay.best
    worth = best.cents_per_point
    return StayRates(
        **marks,
        nights=stay.nights,
        points_total=NO_DATA if best.points is None else best.points,
        cash_total=NO_DATA if best.cash is None else best.cash,
        currency=best.currency,
        cents_per_point=NO_DATA if worth is None else worth,
        free_night_rule_applied=free.rule if stay.free_night else None,
        room_type=best.room_type,
    )


def list_paying(
    facts: Reference,
    vouchers: Sequence[Voucher],
    hotel: HotelRow,
    dates: tuple[date, date],
    stay: StayPrice,
    today: date,
) -> list[Paying]:
    """A person's free night certificates that cover a night of this stay."""
    if stay.best.state == "none":
        return []
    points = None if stay.best.points is None else stay.best.points // stay.nights
    use, paying = build_stay_use(facts, hotel, dates, points, today), []
    for voucher in vouchers:
        kind = facts.voucher_types.get(voucher.voucher_slug)
        if kind is None or kind.kind != "free_night" or kind.program != hotel.program:
            continue
        if kind.max_points and points is None:  # no award price is known to be under its limit
            continue
        fit = judge_voucher(facts, voucher, kind, use)
        if not fit.clashes:
            paying.append(Paying(voucher_id=voucher.id, name=kind.name, added_points=fit.added_points))
    return paying


def describe_paying(paying: Sequence[Paying], stay: StayPrice) -> str:
    """A sentence on certificates that cover a night; empty without any. They need a night available for points."""
    if not paying:
        return ""
    names = [p.name + (f" and {p.added_points:,} points" if p.added_points else "") for p in paying]
    condition = "" if stay.best.points is not None else ", where an award night is free"
    return f" Your {', or your '.join(names)} can pay a night of it{condition}."


def describe_stay(stay: StayPrice, free: FreeNight, every: int) -> str:
    """Sentences on the price of a stay; unknowns are said, not guessed."""
    best = stay.best
    if best.state != "available":
        return "No room is free for these nights." if best.state == "none" else "No source knows this stay."
    points, cash = "no award price", "no cash price"
    if best.points is not None:
        points = pluralize(best.points, "point")
        points += f" ({best.points // stay.nights:,} a night)" if stay.nights > 1 else ""
    if best.cash is not None:
        cash = f"{best.cash:,.2f} {best.currency}"
        cash += f" ({best.cash / stay.nights:,.2f} a night)" if stay.nights > 1 else ""
    sentences = [f"{pluralize(stay.nights, 'night')}: {points}, {cash}."]
    if stay.free_night:
        sentences.append(f"Taken off: {free.rule}.")
    elif free.rule and not every and stay.nights >= free.nights:
        whose = "none of your cards here gives it" if free.cards else "no such status of yours is saved here"
        sentences.append(f"Not taken off, since {whose}: {free.rule}.")
    if stay.added_up:
        sentences.append("The points are those of single nights, added up.")
    return " ".join(sentences)


def to_description(hotel: HotelRow) -> Described:
    return Described.from_row(
        hotel,
        hotel_id=hotels.number(hotel),
        chain=hotels.chain(hotel),
        address=None,
        latitude=None if hotel.lat is None else float(hotel.lat),
        longitude=None if hotel.lon is None else float(hotel.lon),
        property_codes=[hotel.property_code] if hotel.property_code else [],
    )


def to_category(category: str | None) -> Category | None:
    """The category for results: a number, or the letter of an all-inclusive resort."""
    return int(category) if category and category.isdigit() else category  # type: ignore[return-value]


def to_award(facts: Reference, hotel: HotelRow, on: date) -> Award:
    award = hotel_awards.build_award(facts, hotel, on)
    return Award(
        hotel_code=hotels.code(hotel),
        category=to_category(award.category),
        levels=[Level(level=r.level, points=NO_DATA if r.points is None else r.points) for r in award.prices],
        chart_from=award.chart_from,
        dynamic=award.dynamic,
        **describe_audited(award.fact),
    )


def describe_award(facts: Reference, hotel: HotelRow, on: date) -> str:
    """How the award nights of a hotel are priced, in sentences."""
    award = hotel_awards.build_award(facts, hotel, on)
    category = f"Award category {award.category}" + (f" since {format_day(award.since)}" if award.since else "")
    if award.category in hotel_awards.INCLUSIVE:
        return f"{category}, one of the all-inclusive resorts; the points of their chart are not known."
    points = sorted(r.points for r in award.prices if r.points is not None)
    if points:
        return f"{category}: {points[0]:,} to {points[-1]:,} points a night, by level."
    if award.category is not None:
        return f"{category}."
    if award.values:
        return f"Award nights: {describe_values(award.values)}."
    rules = hotel_awards.find_programme(facts, hotel.program)
    unknown = "Its award category is not known. " if award.chart_from else ""
    return (
        f"{unknown}Award nights: {rules.award_pricing}." if rules else "How its award nights are priced is not known."
    )


def describe_opening(hotel: HotelRow) -> str:
    """A sentence if a list announced the hotel before it opened."""
    return f"It was not open on {format_iso_day(hotel.as_of)}." if hotel.status == "announced" and hotel.as_of else ""


def facts_freshness(hotel: HotelRow) -> Freshness:
    """The freshness of an answer made without asking a source."""
    day = f"Source dated {format_iso_day(hotel.as_of)}." if hotel.as_of else "Source undated."
    return describe_unasked("static", hotel.source_url, f"{day} No live source was asked.")


def to_found_hotel(
    hotel: HotelRow,
    category: str | None,
    lists: list[str],
    stay: StayPrice,
    perks: tuple[str | None, list[Paying]],
    marks: dict[str, Any],
) -> FoundHotel:
    """`perks`: the free night rule applied, and the certificates that cover one."""
    best, worth = stay.best, stay.best.cents_per_point
    points = None if best.points is None else Decimal(best.points) / stay.nights
    free = {"available": stay.nights, "none": 0, "unknown": None}[best.state]
    return FoundHotel(
        **marks,
        **hotels.to_card(hotel),
        brand=hotel.brand,
        category=to_category(category),
        lists=lists,
        points_per_night=NO_DATA if points is None else int(points.quantize(Decimal(1), ROUND_HALF_UP)),
        cash_per_night=NO_DATA if best.cash is None else round_to_minor_unit(best.cash / stay.nights, best.currency),
        currency=best.currency,
        cents_per_point=NO_DATA if worth is None else worth,
        nights_available=free,
        free_night_rule_applied=perks[0],
        certificates=perks[1],
    )
