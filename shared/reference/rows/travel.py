"""Rows about the travel world: airlines, routes, cards, vouchers, hotels and lounges."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, OfferRow


@dataclass(frozen=True, slots=True)
class AirlineRow(Fact):
    """The codes and the name of an airline. `slug` and `program` are set where a known programme sells its seats."""

    iata: str
    icao: str
    name: str
    slug: str | None
    program: str | None
    in_alert_list: bool


@dataclass(frozen=True, slots=True)
class AirlineFact(Fact):
    """One statement about an airline, by its ICAO code: its country, a hub, the only cabin it has, or its last day."""

    airline: str
    topic: str
    value: str


@dataclass(frozen=True, slots=True)
class AllianceMember(Dated):
    """A full member of an alliance, by the airline's IATA code."""

    airline: str
    alliance: str


@dataclass(frozen=True, slots=True)
class Route(Fact):
    """A non-stop flight, which counts both ways."""

    carrier: str
    origin: str
    destination: str


@dataclass(frozen=True, slots=True)
class RouteList(Fact):
    """That routes.csv has all international flights of a carrier to and from an area.

    `area` is a country, a continent as `continent-EU`, or `*` for all flights of the carrier.
    """

    carrier: str
    area: str


@dataclass(frozen=True, slots=True)
class HomeArea(Fact):
    """Countries that count as one for the question where an airline may fly.

    `kind` territories: of the country `area`; carrier: all homes of the carrier `area`; market: a common aviation
    market, in which carriers of a member fly between any two of its countries.
    """

    kind: str
    area: str
    countries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduledAirports(Fact):
    """The airports of a country with scheduled flights, whether or not routes.csv has any of them."""

    country: str
    airports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClimateNormal(Fact):
    """Mean temperatures of the months at an airport, in degrees Celsius.

    `station` is the weather station they were measured at, so many kilometres off; `years` the least any month has.
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


@dataclass(frozen=True, slots=True)
class CatalogCard(Dated):
    """`remark` is for readers of answers; `note` is for anyone who audits the row."""

    slug: str
    name: str
    issuer: str
    country: str
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


@dataclass(frozen=True, slots=True)
class WelcomeOffer(OfferRow):
    """What a card pays a new holder, in its own points. `as_of` is the day it was seen; few offers name a last day.

    `is_maximum`: the issuer tells each applicant the amount, and it may be less.
    """

    card_slug: str
    amount: int | None
    spend: Decimal | None
    months: int | None
    is_maximum: bool
    extra: str | None


@dataclass(frozen=True, slots=True)
class CardEarn(Dated):
    """`annual_cap` is what a year holds; `cap_months` the months it is counted by, a year where it is empty.

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


@dataclass(frozen=True, slots=True)
class CardCredit(Dated):
    """Money a card gives back each cycle. `cycle` yearly: once a year, and which year it is was not seen.

    `counts`: it pays for travel of any kind, so it counts in the value of the card; the others depend on the person.
    `merchants`: words by which a statement names where it is spent; empty where none are sure.
    """

    card_slug: str
    credit: str
    name: str
    amount: Decimal
    currency: str
    cycle: str
    enrolment: bool
    counts: bool
    remark: str | None
    merchants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardFees(Fact):
    """What a card costs besides its annual fee: in percent of a purchase abroad, and a year for an additional card."""

    card_slug: str
    foreign_fee_percent: Decimal | None
    additional_card_fee: Decimal | None


@dataclass(frozen=True, slots=True)
class IssuerRule(Dated):
    """When an issuer refuses a card or its bonus, as it is told. `kind` says what is counted: domain.issuer_rules.

    `cards`: those it is about, `*` all cards of the issuer in the country.
    """

    rule: str
    issuer: str
    country: str
    kind: str
    cards: tuple[str, ...]
    blockers: tuple[str, ...]  # the cards that stand against it, where they are not those of `cards`
    personal_only: bool
    limit: int | None
    months: int | None
    days: int | None
    text: str


@dataclass(frozen=True, slots=True)
class VoucherType(Fact):
    slug: str
    name: str
    program: str | None
    kind: str
    applies_to: tuple[str, ...]
    booking_kind: str | None  # award or cash, where the voucher needs it
    what_it_does: str
    validity_months: int | None
    validity_rule: str
    how_earned: str
    limits: str | None  # in words: what no field below says
    used_by: str | None  # what must be done by its last day: booking or travel
    cabins: tuple[str, ...]
    airlines: tuple[str, ...]
    min_people: int | None
    max_people: int | None
    max_nights: int | None
    categories: tuple[str, ...]  # of hotels
    max_points: int | None  # of a night
    added_points: str | None  # what a person may add to max_points: a number, or any


@dataclass(frozen=True, slots=True)
class Hotel(Fact):
    """A hotel of a programme; `brand` is empty where no list names it, the coordinates where no list has them."""

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


@dataclass(frozen=True, slots=True)
class HotelCategory(Dated):
    """The award category of a hotel: 1 to 8, or A to F on the chart of all-inclusive resorts."""

    hotel: str
    category: str


@dataclass(frozen=True, slots=True)
class HotelList(Fact):
    """A card issuer's list of hotels that come with benefits; `benefits` are those of every hotel on it."""

    list: str
    title: str
    issuer: str
    benefits: str | None


@dataclass(frozen=True, slots=True)
class HotelListMember:
    """A hotel on such lists, as they name it; `hotel` is its slug where it is one of hotels.csv."""

    country: str
    city: str
    name: str
    lists: tuple[str, ...]
    hotel: str | None


@dataclass(frozen=True, slots=True)
class HotelProgramme(Fact):
    program: str
    name: str
    award_pricing: str
    nth_night_free: str
    free_night_every: int | None  # of so many award nights one is free
    free_night_tier: str | None  # for members of this tier and above alone
    free_night_cards: tuple[str, ...]  # for holders of one of these alone
    mandatory_fees_on_award: str
    award_cancellation: str


@dataclass(frozen=True, slots=True)
class HotelPointValue(Fact):
    """What points are worth at every hotel of a programme.

    `kind` night: they pay a night, of one `unit`. `kind` bill: they pay the amount of any bill.
    """

    program: str
    kind: str
    points: int
    unit: str | None
    amount: Decimal | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class HyattPrice(Dated):
    """Points of a night by category and level; the chart in force on the day of booking decides."""

    program: str
    chart: str
    category: int
    level: str
    points: int | None
    room: str


@dataclass(frozen=True, slots=True)
class Lounge(Fact):
    """An airport lounge on the list of a lounge network; `slug` is the list's own name of it."""

    slug: str
    airport: str
    name: str
    networks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoungeMembership:
    """What opens lounge doors besides a loyalty programme: a network, a club, a card, a cabin or a status."""

    membership: str


@dataclass(frozen=True, slots=True)
class LoungeEntry(Dated):
    """Whom a card or an alliance status lets into the lounges of a network, and what guests cost.

    `holder` is a card of the catalogue, or the alliance status that `network` itself is. `guests_on`: the flight that
    guests must be on, from `same_flight` to `same_day`. What is empty is not known.
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


@dataclass(frozen=True, slots=True)
class AllianceTier(Fact):
    """The tiers of a programme that an alliance treats as its own."""

    program: str
    alliance_tier: str
    tiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Continent(Fact):
    """Countries of one continent. One that lists disagree about stands in its own row."""

    continent: str
    countries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitySpelling:
    """Another name of a city, or a name the airport data does not carry, with the airport or city code it means."""

    name: str
    code: str


@dataclass(frozen=True, slots=True)
class MailSender(Fact):
    """Who sends confirmations from a domain, and how the letters are written. What is not the same in all is None."""

    domain: str
    name: str
    airline: str | None  # the IATA code of an airline's own domain
    dates: str | None  # dmy, mdy or ymd, where a date is in numbers alone
    languages: tuple[str, ...]
    decimal: str | None  # the sign before the hundredths


@dataclass(frozen=True, slots=True)
class MailForwarder(Fact):
    """Who forwards mail and seals what it saw of the sender's signature (ARC), by the domain of its seals."""

    domain: str
    name: str


@dataclass(frozen=True, slots=True)
class RegionSpelling:
    """How the airport data spells a region where ISO 3166-2 spells or codes it otherwise than charts do."""

    country: str
    name: str
    region: str


@dataclass(frozen=True, slots=True)
class OtherServer(Fact):
    """A tool server of someone else that answers what this one does not."""

    name: str
    covers: tuple[str, ...]
    url: str
    auth: str
    maintained_by: str
