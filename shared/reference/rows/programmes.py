"""Rows about programmes: their names, partners and rules."""

from decimal import Decimal

from shared.reference.rows.fact import Fact, rows_of


@rows_of("programs.csv", key="slug")
class Program(Fact):
    slug: str
    name: str
    currency: str
    kind: str
    home_country: str
    home_currency: str
    iata: tuple[str, ...]
    value_usd_cents: Decimal | None
    value_tpg: Decimal | None
    value_upgraded_points: Decimal | None
    value_omaat: Decimal | None
    value_basis: str | None


@rows_of("program_aliases.csv", key="alias")
class Alias:
    alias: str
    program: str
    alias_kind: str


@rows_of("ambiguous_aliases.csv", key="alias")
class AmbiguousAlias:
    alias: str
    candidates: tuple[str, ...]


@rows_of("outside_names.csv", key="name")
class OutsideName(Fact):
    """A programme or bank that exists but is unknown here, listed so that its name is taken for no other."""

    name: str
    kind: str
    country: str
    aliases: tuple[str, ...]


@rows_of("program_partners.csv", names="program airline")
class ProgramPartner(Fact):
    """An airline a programme lists; `redeemable`: awards can be booked there, else points can only be earned."""

    program: str
    airline: str
    redeemable: bool
    via: str


@rows_of("program_facts.csv", names="program topic")
class ProgramFact(Fact):
    program: str
    topic: str
    answer: str
    value: str | None


@rows_of("points_expiry.csv", key="program")
class PointsExpiry(Fact):
    """When the points of a programme end; `months` is None if no number of months decides it."""

    program: str
    months: int | None
    rule: str
    exceptions: str | None


@rows_of("program_sites.csv", key="program")
class ProgramSite(Fact):
    """The programme's own site, where its members book awards."""

    program: str
    booking_url: str


@rows_of("booking_links.csv", key="program")
class BookingLinkTemplate(Fact):
    """An address of the programme's award search; `date_format` is for strftime, `cabins` like `economy=M`.

    It takes {origin}, {destination}, {date}, and often {passengers} and {cabin}; or it takes no route at all.
    """

    program: str
    url: str
    date_format: str | None
    cabins: tuple[str, ...]


@rows_of("phantom_seats.csv", key="program airline")
class PhantomSeats(Fact):
    """A report that a programme shows an airline's unbookable seats; `cabin` None: any."""

    program: str
    airline: str
    cabin: str | None


@rows_of("points_pooling.csv", key="program")
class PointsPooling(Fact):
    """Whether members can pool their balances: yes, no, conditional, or unknown for the reason in `terms`."""

    program: str
    pooling: str
    terms: str | None


@rows_of("audit_queue.csv", names="file key field")
class AuditItem:
    file: str
    key: str
    field: str
    reason: str
    priority: int


@rows_of("primary_hosts.csv", key="host")
class PrimaryHost:
    """A host whose pages are their owner's word: an issuer, a carrier, a programme or an authority."""

    host: str
    owner: str
