"""Filters of watched award seats: tool parameters, their columns, and their form in results."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from mcp_server.toolkit import Call, Money, Part
from mcp_server.toolkit.parameters import Amount
from mcp_server.views.profile import CURRENCY
from shared.db.profile import Profile
from shared.db.seat_filters import SeatFilters
from shared.domain.award_matches import WEEKDAYS, Weekday
from shared.domain.party_prices import format_amount

Weekdays = list[Weekday] | None
MaxTaxes = Annotated[Amount | None, Field(description="Per person, profile's currency.")]
COLUMNS = ("nonstop_only", "weekdays", "max_taxes", "max_taxes_currency")
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_NAMES: dict[str, str] = dict(zip(WEEKDAYS, _NAMES, strict=True))


class Filters(Part):
    """Taxes are per person."""

    nonstop_only: bool
    weekdays: list[Weekday] | None
    max_taxes: Money | None
    max_taxes_currency: str | None


def build_filters(
    call: Call, nonstop_only: bool | None, weekdays: Sequence[Weekday] | None, max_taxes: Decimal | None
) -> dict[str, Any]:
    """The SeatFilters columns for the arguments: None if not sent, weekdays in the order of the week."""
    return {
        "nonstop_only": nonstop_only,
        "weekdays": None if weekdays is None else [day for day in WEEKDAYS if day in weekdays] or "",
        "max_taxes": max_taxes,
        "max_taxes_currency": None if max_taxes is None else find_currency(call),
    }


def find_currency(call: Call) -> str:
    """The currency of the profile, in which people name amounts."""
    profile = call.db.get(Profile, call.account_id)
    return (profile and profile.currency) or CURRENCY


def list_cleared(clear: Sequence[str] | None) -> list[str]:
    """The columns to clear: a limit on taxes and its currency go together."""
    return [*(clear or ()), *(["max_taxes_currency"] if "max_taxes" in (clear or ()) else ())]


def describe_filters(row: SeatFilters) -> str:
    """A sentence on what the filters leave out; empty without any."""
    limits = []
    if row.nonstop_only:
        limits.append("non-stop flights")
    if row.weekdays:
        limits.append(f"days that are a {' or '.join(_DAY_NAMES[d] for d in row.weekdays)}")
    if row.max_taxes is not None and row.max_taxes_currency:
        limits.append(f"taxes of at most {format_amount(row.max_taxes, row.max_taxes_currency)} per person")
    if not limits:
        return ""
    unstated = " Offers that do not state these do not count." if row.nonstop_only or row.max_taxes is not None else ""
    return f" Only {', '.join(limits)}.{unstated}"
