"""Rows about travel: airlines, routes, cards, vouchers, hotels and lounges."""

from decimal import Decimal

from shared.domain import issuer_rules, welcome_offers
from shared.domain.card_credits import Credit
from shared.domain.cards import CatalogEntry
from shared.domain.vouchers import VoucherLimits
from shared.reference.rows.fact import Dated, Fact, OfferRow, rows_of


@rows_of("airlines.csv", key="iata icao")
class AirlineRow(Fact):
    """The codes and the name of an airline. `slug` and `program` are set where a known programme sells its seats."""

    iata: str
    icao: str
    name: str
    slug: str | None
    program: str | None
    in_alert_list: bool


@rows_of("airline_facts.csv", key="airline topic value")
class AirlineFact(Fact):
    """One statement about an airline, by its ICAO code: its country, a hub, the only cabin it has, or its last day."""

    airline: str
    topic: str
    value: str


@rows_of("alliance_members.csv", key="airline valid_from", about="airline")
class AllianceMember(Dated):
    """A full member of an alliance, by the airline's IATA code."""

    airline: str
    alliance: str


@rows_of("routes.csv", key="carrier origin destination")
class Route(Fact):
    """A non-stop flight, which counts both ways."""

    carrier: str
    origin: str
    destination: str


@rows_of("route_lists.csv", key="carrier area")
class RouteList(Fact):
    """That routes.csv has all international flights of a carrier to and from an area.

    `area` is a country, a continent as `continent-EU`, or `*` for all flights of the carrier.
    """

    carrier: str
    area: str


@rows_of("home_areas.csv", key="kind area")
class HomeArea(Fact):
    """Countries that count as one when deciding where an airline may fly.

    `kind` territories: of the country `area`; carrier: all homes of the carrier `area`; market: a common aviation
    market, in which carriers of a member fly between any two of its countries.
    """

    kind: str
    area: str
    countries: tuple[str, ...]


@rows_of("scheduled_airports.csv", key="country")
class ScheduledAirports(Fact):
    """The airports of a country with scheduled flights, even if routes.csv has none of them."""

    country: str
    airports: tuple[str, ...]


@rows_of("climate_normals.csv", key="airport")
class ClimateNormal(Fact):
    """Mean temperatures of the months at an airport, in degrees Celsius.

    `station` is the weather station they were measured at, that many kilometres off; `years` the least any month has.
    """

    airport: str
    station: str | None
    km: int | None
    years: int | None
    jan: Decimal
    feb: Decimal
    mar: Decimal
    apr: Decimal
    may: Decimal
    jun: Decimal
    jul: Decimal
    aug: Decimal
    sep: Decimal
    oct: Decimal
    nov: Decimal
    dec: Decimal

    def find_mean(self, month: int) -> Decimal:
        """The mean of a month, counted from 1."""
        name = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")[month - 1]
        mean: Decimal = getattr(self, name)
        return mean


@rows_of("cards.csv", key="slug", about="slug")
class CatalogCard(Dated, CatalogEntry):
    """`remark` is for readers of answers; `note` is for auditors."""

    network: str
    segment: str
    annual_fee: Decimal | None
    fee_currency: str
    program: str | None
    transferable: str
    status: str
    lounge: tuple[str, ...]
    voucher_slugs: tuple[str, ...]
    benefits: tuple[str, ...]
    issuer_url: str | None
    audit_flag: str | None
    remark: str | None


@rows_of("welcome_offers.csv", key="card_slug valid_from", about="card_slug")
class WelcomeOffer(OfferRow, welcome_offers.WelcomeOffer):
    card_slug: str


@rows_of("card_earn.csv", key="card_slug category valid_from", about="card_slug category")
class CardEarn(Dated):
    """`annual_cap` is the most in a year; `cap_months` the months it is counted by, a year where it is empty.

    `cap_group`: the rates of a card with the same group share one cap. `remark` is for readers of answers.
    """

    card_slug: str
    category: str
    multiplier: Decimal
    unit: str
    annual_cap: Decimal | None
    cap_months: int | None
    cap_group: str | None
    remark: str | None


@rows_of("card_credits.csv", key="card_slug credit valid_from", about="card_slug credit")
class CardCredit(Dated, Credit):
    card_slug: str
    remark: str | None


@rows_of("card_fees.csv", key="card_slug")
class CardFees(Fact):
    """A card's other fees: percent of a purchase abroad, and yearly for an additional card."""

    card_slug: str
    foreign_fee_percent: Decimal | None
    additional_card_fee: Decimal | None


@rows_of("issuer_rules.csv", key="rule valid_from", about="rule")
class IssuerRule(Dated, issuer_rules.IssuerRule):
    """When an issuer reportedly refuses a card or its bonus. `kind` says what is counted: domain.issuer_rules."""

    rule: str


@rows_of("voucher_types.csv", key="slug")
class VoucherType(Fact, VoucherLimits):
    slug: str
    name: str
    applies_to: tuple[str, ...]
    what_it_does: str
    validity_months: int | None
    how_earned: str


@rows_of("hotels.csv", key="slug")
class Hotel(Fact):
    """A hotel of a programme; `brand` and coordinates are empty if no list has them."""

    slug: str
    name: str
    brand: str
    program: str
    city: str
    country: str
    lat: Decimal | None
    lon: Decimal | None
    property_code: str | None
    status: str


@rows_of("hotel_categories.csv", key="hotel valid_from", about="hotel")
class HotelCategory(Dated):
    """The award category of a hotel: 1 to 8, or A to F on the chart of all-inclusive resorts."""

    hotel: str
    category: str


@rows_of("hotel_lists.csv", key="list")
class HotelList(Fact):
    """A card issuer's list of hotels that come with benefits; `benefits` are those of every hotel on it."""

    list: str
    title: str
    issuer: str
    benefits: str | None


@rows_of("hotel_list_members.csv", key="country city name")
class HotelListMember:
    """A hotel on such lists, by their name; `hotel` is its slug where it is one of hotels.csv."""

    country: str
    city: str
    name: str
    lists: tuple[str, ...]
    hotel: str | None


@rows_of("hotel_programmes.csv", names="name")
class HotelProgramme(Fact):
    program: str
    name: str
    award_pricing: str
    nth_night_free: str
    free_night_every: int | None  # one in this many award nights is free
    free_night_tier: str | None  # only for members of this tier and above
    free_night_cards: tuple[str, ...]  # only for holders of one of these
    mandatory_fees_on_award: str
    award_cancellation: str


@rows_of("hotel_point_values.csv", key="program points")
class HotelPointValue(Fact):
    """The value of points at any hotel of a programme.

    `kind` night: they pay a night, of one `unit`. `kind` bill: they pay the amount of any bill.
    """

    program: str
    kind: str
    points: int
    unit: str | None
    amount: Decimal | None
    currency: str | None


@rows_of("hyatt_award_chart.csv", names="program chart category level room", about="program category level room")
class HyattPrice(Dated):
    """Points of a night by category and level; the chart in force on the day of booking decides."""

    program: str
    chart: str
    category: int
    level: str
    points: int | None
    room: str


@rows_of("lounges.csv", key="slug")
class Lounge(Fact):
    """An airport lounge on the list of a lounge network; `slug` is the list's own id for it."""

    slug: str
    airport: str
    name: str
    networks: tuple[str, ...]


@rows_of("lounge_memberships.csv", key="membership")
class LoungeMembership:
    """Lounge access other than by a loyalty programme: a network, a club, a card, a cabin or a status."""

    membership: str


@rows_of("lounge_entry.csv", key="network holder valid_from", about="network holder")
class LoungeEntry(Dated):
    """Access to a network's lounges by a card or an alliance status, and the price of guests.

    `holder` is a card of the catalogue, or the alliance status that `network` itself is. `guests_on`: the flight that
    guests must be on, from `same_flight` to `same_day`. Empty values are unknown.
    """

    network: str
    holder: str
    lounges: str
    guests_free: int | None
    guests_most: int | None
    guest_fee: Decimal | None
    fee_currency: str | None
    hours_before: int | None
    guests_on: str | None
    visits_a_year: int | None
    condition: str | None


@rows_of("alliance_tiers.csv", key="program alliance_tier")
class AllianceTier(Fact):
    """The tiers of a programme that count as an alliance's own."""

    program: str
    alliance_tier: str
    tiers: tuple[str, ...]


@rows_of("continents.csv", key="continent countries")
class Continent(Fact):
    """Countries of one continent. One that lists disagree about has its own row."""

    continent: str
    countries: tuple[str, ...]


@rows_of("city_spellings.csv", key="name")
class CitySpelling:
    """Another name of a city, or a name missing from the airport data, with its airport or city code."""

    name: str
    code: str


@rows_of("mail_senders.csv", key="domain")
class MailSender(Fact):
    """Who sends confirmations from a domain, and how the letters are written. A value that varies is None."""

    domain: str
    name: str
    airline: str | None  # the IATA code of an airline's own domain
    dates: str | None  # dmy, mdy or ymd, where a date is only numbers
    languages: tuple[str, ...]
    decimal: str | None  # the sign before the hundredths


@rows_of("mail_forwarders.csv", key="domain")
class MailForwarder(Fact):
    """A forwarder that seals what it saw of the sender's signature (ARC), by the domain of its seals."""

    domain: str
    name: str


@rows_of("region_spellings.csv", key="country name")
class RegionSpelling:
    """The airport data's spelling of a region, where ISO 3166-2 differs from charts."""

    country: str
    name: str
    region: str


@rows_of("other_servers.csv", key="name")
class OtherServer(Fact):
    """A tool server of someone else that answers what this one does not."""

    name: str
    covers: tuple[str, ...]
    url: str
    auth: str
    maintained_by: str
