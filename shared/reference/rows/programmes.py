"""Rows about programmes: who they are, what they are called, whom they partner with, and their rules."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Fact


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Alias:
    alias: str
    program: str
    alias_kind: str


@dataclass(frozen=True, slots=True)
class AmbiguousAlias:
    alias: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutsideName(Fact):
    """A programme or bank that exists and of which nothing is known here, so that its name is taken for no other."""

    name: str
    kind: str
    country: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProgramPartner(Fact):
    """An airline a programme lists; `redeemable`: its awards can be used there, else they can only be earned."""

    program: str
    airline: str
    redeemable: bool
    via: str


@dataclass(frozen=True, slots=True)
class ProgramFact(Fact):
    program: str
    topic: str
    answer: str
    value: str | None


@dataclass(frozen=True, slots=True)
class PointsExpiry(Fact):
    """When the points of a programme end; `months` is None where no number of months decides it."""

    program: str
    months: int | None
    rule: str
    exceptions: str | None


@dataclass(frozen=True, slots=True)
class ProgramSite(Fact):
    """The programme's own site, where its members book awards."""

    program: str
    booking_url: str


@dataclass(frozen=True, slots=True)
class BookingLinkTemplate(Fact):
    """An address of the programme's award search; `date_format` is that of strftime, `cabins` as `economy=M`.

    It takes {origin}, {destination}, {date}, and often {passengers} and {cabin}; or it takes no route at all.
    """

    program: str
    url: str
    date_format: str | None
    cabins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhantomSeats(Fact):
    """A programme is reported to show seats of an airline that cannot be booked; `cabin` None: of any cabin."""

    program: str
    airline: str
    cabin: str | None


@dataclass(frozen=True, slots=True)
class PointsPooling(Fact):
    """Whether members can pool their balances: yes, no, conditional, or unknown for the reason in `terms`."""

    program: str
    pooling: str
    terms: str | None


@dataclass(frozen=True, slots=True)
class AuditItem:
    file: str
    key: str
    field: str
    reason: str
    priority: int


@dataclass(frozen=True, slots=True)
class PrimaryHost:
    """A host whose pages speak for their owner: an issuer, a carrier, a programme or an authority."""

    host: str
    owner: str
