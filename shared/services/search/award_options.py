"""Award offers for searches, route monitors and results: the source's facts, their source and their age."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any

from pydantic import PlainSerializer

from shared.domain.party_prices import PER, Per, price_party
from shared.services.search.provenance import PUBLISHED, Mode

# The fields shared by an option, a provider's row and a stored match of a route monitor.
OFFER_FIELDS = (
    "airline",
    "program",
    "origin",
    "destination",
    "date",
    "cabin",
    "points",
    "taxes",
    "taxes_currency",
    "seats",
    "stops",
    "flight_numbers",
    "departs_at",
    "arrives_at",
)
_read_offer = attrgetter(*OFFER_FIELDS)
Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


@dataclass(frozen=True)
class AwardOption:
    """One award seat offer. `trip_id` is ours and bound to the account whose connection saw the row.

    Points and taxes are per person; those of the party are null for one traveller, or if the taxes are unknown.
    """

    __pydantic_config__ = PUBLISHED

    generated_at: datetime | None  # of invented rows only
    trip_id: str | None
    airline: str
    program: str
    origin: str
    destination: str
    date: date
    cabin: str
    points: int
    taxes: Money | None
    taxes_currency: str | None
    per: Per
    party_points: int | None
    party_taxes: Money | None
    seats: int | None
    stops: int | None
    flight_numbers: tuple[str, ...]
    departs_at: str | None
    arrives_at: str | None
    bookable_with: tuple[str, ...]
    source: str
    mode: Mode
    provider_checked_at: datetime | None
    age_seconds: int


def build_option(
    offer: Any,
    *,
    trip_id: str | None,
    source: str,
    mode: Mode,
    checked_at: datetime | None,
    seen_at: datetime,
    now: datetime,
    passengers: int = 1,
) -> AwardOption:
    """Builds an option from anything with the fields of an offer. `checked_at`: when the source last looked."""
    price = price_party(offer, passengers)
    facts = dict(zip(OFFER_FIELDS, _read_offer(offer), strict=True))
    facts["flight_numbers"] = tuple(facts["flight_numbers"])  # the database gives a list
    return AwardOption(
        **facts,
        per=PER,
        party_points=price.party_points,
        party_taxes=price.party_taxes,
        trip_id=trip_id,
        bookable_with=(offer.program,),
        source=source,
        mode=mode,
        provider_checked_at=checked_at,
        age_seconds=max(0, int((now - (checked_at or seen_at)).total_seconds())),
        generated_at=seen_at if mode == "sandbox" else None,
    )
