"""Welcome offers of cards: which still count on a day, and how they are put into words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeVar

from shared.domain.dates import format_day, format_days, format_iso_day, parse_loose_day
from shared.domain.offers import find_state
from shared.domain.plurals import pluralize


@dataclass(frozen=True)
class WelcomeOffer:
    """A card's bonus for new holders, in its points. `as_of` is the day it was seen; few offers have a last day.

    `is_maximum`: the issuer sets the amount for each applicant, and it may be less.
    """

    amount: int | None
    spend: Decimal | None
    months: int | None
    is_maximum: bool
    extra: str | None
    as_of: str | None
    valid_from: date | None
    valid_to: date | None


AnyOffer = TypeVar("AnyOffer", bound=WelcomeOffer)


def pick_offer(offers: Iterable[AnyOffer], today: date) -> AnyOffer | None:
    """The offer to speak of on a day: one that still counts, else the latest of the past."""

    def order(offer: AnyOffer) -> tuple[bool, date]:
        last = offer.valid_to or (parse_loose_day(offer.as_of) if offer.as_of else date.min)
        return (find_state(offer, today) != "past", last)

    public = [o for o in offers if o.valid_from is None or o.valid_from <= today]
    return max(public, key=order, default=None)


def describe_terms(offer: WelcomeOffer, unit: str, currency: str) -> str:
    """`up to 100,000 points for 8,000 USD within 6 months`, and what comes with it."""
    amount = f"{'up to ' if offer.is_maximum else ''}{offer.amount:,} {unit}" if offer.amount else ""
    extra = offer.extra or ""
    what = f"{amount}, {extra}" if amount and extra and not offer.spend else amount or extra
    asks = f" for {offer.spend:,} {currency}" if offer.spend else ""
    months = f" within {pluralize(offer.months, 'month')}" if offer.months else ""
    return f"{what}{asks}{months}{f', {extra}' if amount and extra and offer.spend else ''}"


def _describe_sight(as_of: str) -> str:
    """`seen on 30 Sep 2026`, or `seen in May 2026` where the source has no day."""
    return f"seen {'on' if len(as_of) == len('2026-09-30') else 'in'} {format_iso_day(as_of)}"


def describe_age(offer: WelcomeOffer) -> str:
    """`until 13 Jan 2027, as seen on 30 Sep 2026`: an offer is always told with the day it was seen."""
    age = f"as {_describe_sight(offer.as_of)}" if offer.as_of else "undated"
    return f"until {format_day(offer.valid_to)}, {age}" if offer.valid_to else age


def describe_past(offer: WelcomeOffer, unit: str, currency: str) -> str:
    """A sentence about an offer that no longer counts."""
    terms = describe_terms(offer, unit, currency)
    if offer.valid_to:
        return f"This offer has ended on {format_day(offer.valid_to)}: {terms}. No current one is known."
    age = _describe_sight(offer.as_of) if offer.as_of else "undated"
    return f"No current welcome offer is known; the last one, {terms}, is history ({age})."


def describe_ages(offers: Sequence[WelcomeOffer]) -> str:
    """A sentence about when the offers of a list were seen; empty without a dated one."""
    days = sorted(parse_loose_day(o.as_of) for o in offers if o.as_of)
    if not days:
        return ""
    return f"Welcome offers as seen on {format_days(days[0], days[-1])}; they change often."
