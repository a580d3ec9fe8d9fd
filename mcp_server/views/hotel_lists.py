"""Card issuers' lists of hotels as results show them."""

from collections.abc import Sequence

from mcp_server.toolkit.provenance import Audited, describe_audited
from mcp_server.toolkit.results import Part
from shared.domain.dates import format_iso_day
from shared.domain.plurals import pluralize
from shared.reference import hotel_lists
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, HotelList, HotelListMember

MAX_LISTED = 50  # hotels of no programme in one answer


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
    return CardList(title=row.title, issuer=row.issuer, benefits=row.benefits, **describe_audited(row))


def to_listed_hotel(facts: Reference, member: HotelListMember) -> ListedHotel:
    titles = [row.title for row in hotel_lists.select_lists(facts, member.lists)]
    return ListedHotel(name=member.name, city=member.city, country=member.country, lists=titles)


def list_titles(facts: Reference, hotel: Hotel) -> list[str]:
    return [row.title for row in hotel_lists.find_lists(facts, hotel)]


def collect_lists(facts: Reference, hotels: Sequence[Hotel], members: Sequence[HotelListMember]) -> list[CardList]:
    """The lists that any of these hotels is on."""
    keys = {row.list for hotel in hotels for row in hotel_lists.find_lists(facts, hotel)}
    keys |= {key for member in members for key in member.lists}
    return [to_card_list(row) for row in hotel_lists.select_lists(facts, keys)]


def describe_lists(rows: Sequence[HotelList]) -> str:
    """A sentence about the lists a hotel is on; empty where it is on none."""
    named = " and ".join(f"{row.title} of {row.issuer}" for row in rows)
    return f"It is on {named}{_describe_day(rows)}." if rows else ""


def describe_member(facts: Reference, member: HotelListMember) -> str:
    """Sentences about a listed hotel that belongs to no programme known here."""
    lists = describe_lists(hotel_lists.select_lists(facts, member.lists))
    return f"{member.name} ({member.city}, {member.country}) belongs to no programme known here. {lists}"


def describe_others(facts: Reference, members: Sequence[HotelListMember]) -> str:
    """A sentence about hotels of a place that only the lists name."""
    if not members:
        return ""
    rows = hotel_lists.select_lists(facts, {key for member in members for key in member.lists})
    named = ", ".join(row.title for row in rows)
    count = pluralize(len(members), "other hotel there is", "other hotels there are")
    return f" {count} on card lists ({named}){_describe_day(rows)}."


def _describe_day(rows: Sequence[HotelList]) -> str:
    days = [row.as_of for row in rows if row.as_of]
    return f", as of {format_iso_day(min(days))}" if days else ""
