"""The search for destinations among seats seen: the wish, and the statement that finds the lowest prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ARRAY, ColumnElement, Select, Text

from shared.db.observations import AwardObservation as Row
from shared.db.sightings import Fits, lowest_pairs, lowest_prices, newest_cells
from shared.domain.dates import add_months
from shared.reference.exchange_rates import convert_amount, list_currencies
from shared.reference.load import Reference

WARM_CELSIUS = 20
WEEKEND_NIGHTS = (2, 3)
MONDAY, FRIDAY, SATURDAY, SUNDAY = 1, 5, 6, 7  # by ISO 8601
_CODES = ARRAY(Text)  # one SQL parameter for all airports of a region


@dataclass(frozen=True)
class DestinationSearch:
    """Where a journey starts, when, and what it must be. Limits are per person and for the whole journey.

    `nights` are the allowed numbers between the way there and back; empty means one way.
    """

    airports: Sequence[str]
    cabin: str
    first: date
    last: date
    region: frozenset[str] | None = None  # airports
    warm: bool = False
    nonstop: bool = False
    max_taxes: Decimal | None = None
    currency: str = "USD"
    nights: tuple[int, ...] = ()
    weekend: bool = False
    passengers: int = 1

    @property
    def latest(self) -> date:
        """The last possible day of the return."""
        return self.last + timedelta(days=max(self.nights, default=0))

    @property
    def months(self) -> list[int]:
        """The months of the days, counted from 1."""
        firsts = (add_months(self.first.replace(day=1), ahead) for ahead in range(12))
        return [first.month for first in firsts if first <= self.last]

    def may_lead_to(self, reference: Reference, airport: str) -> bool:
        """Whether the airport is in the region, and, if it must be warm, is known to be in one of the months."""
        if self.region is not None and airport not in self.region:
            return False
        return not self.warm or any(is_warm(reference, airport, month) for month in self.months)


def is_warm(reference: Reference, airport: str, month: int) -> bool | None:
    """Whether a month is usually warm there; None if its temperature is unknown."""
    mean = reference.mean_celsius(airport, month)
    return None if mean is None else mean >= WARM_CELSIUS


def select_offers(reference: Reference, search: DestinationSearch, account_id: int, since: datetime) -> Select[Any]:
    """The lowest price of each destination and programme. Places of unknown temperature are included."""
    fits = _build_fits(search)
    common = (Row.cabin == search.cabin,)
    out = (Row.origin.in_(search.airports), Row.date <= search.last, *_list_places(reference, search, Row.destination))
    weekends = (_is_on(FRIDAY, SATURDAY),) if search.weekend else ()
    there = newest_cells(account_id, since, search.first, *common, *out, *weekends, fits=fits)
    if not search.nights:
        return lowest_prices(there)
    home = (Row.destination.in_(search.airports), Row.date <= search.latest)
    ends = (_is_on(SUNDAY, MONDAY),) if search.weekend else ()
    back = newest_cells(account_id, since, search.first, *common, *home, *ends, fits=fits)
    return lowest_pairs(there, back, search.nights, _build_tax_limit(search))


def _is_on(*days: int) -> ColumnElement[bool]:
    return sa.extract("isodow", Row.date).in_(days)


def _list_places(reference: Reference, search: DestinationSearch, end: Any) -> list[ColumnElement[bool]]:
    """The condition on places: in the region, and not in a month known to be cold there."""
    conditions = [] if search.region is None else [end == sa.any_(sa.literal(sorted(search.region), _CODES))]
    if search.warm:
        measured = [row.airport for row in reference.rows("climate_normals.csv")]
        cold = {month: [code for code in measured if not is_warm(reference, code, month)] for month in search.months}
        conditions += [
            sa.not_(sa.and_(sa.extract("month", Row.date) == month, end == sa.any_(sa.literal(codes, _CODES))))
            for month, codes in cold.items()
        ]
    return conditions


def _build_fits(search: DestinationSearch) -> Fits | None:
    """Conditions on each flight; unknown values do not fit, except for the number of seats."""
    limit = None if search.nights else _build_tax_limit(search)
    if not (search.nonstop or search.passengers > 1 or limit):
        return None

    def fits(row: Any) -> ColumnElement[bool]:
        conditions = [row.stops == 0] if search.nonstop else []
        if search.passengers > 1:
            conditions.append(sa.func.coalesce(row.seats, search.passengers) >= search.passengers)
        return sa.and_(*conditions, *([limit(row)] if limit else []))

    return fits


def _build_tax_limit(search: DestinationSearch) -> Fits | None:
    if search.max_taxes is None:
        return None
    limits: Mapping[str, Decimal] = {
        currency: amount
        for currency in list_currencies()
        if (amount := convert_amount(search.max_taxes, search.currency, currency)) is not None
    }
    return lambda row: row.taxes <= sa.case(limits, value=row.taxes_currency)
