"""Status points a flight earns, by fare, distance band or extras per segment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

Metric = Literal["tier_points", "xp", "loyalty_points"]
Method = Literal["revenue", "fixed_by_distance"]
LONG_HAUL_OVER = 3_000  # miles; the limit in the table a partner publishes for the same carrier
NEXT_CABIN_DOWN = {
    "first": "business",
    "premium": "economy",
}  # the cabin sold if the aircraft lacks the requested one


@dataclass(frozen=True)
class FlownLeg:
    """One flight from take-off to landing."""

    miles: int
    domestic: bool  # both ends in one country
    european: bool  # both ends in Europe


@dataclass(frozen=True)
class EarningBand:
    """Points of each cabin for flights of a length; without a length for domestic flights."""

    name: str
    min_miles: int | None
    max_miles: int | None
    cabins: Mapping[str, int]

    def holds(self, leg: FlownLeg) -> bool:
        if self.min_miles is None:
            return leg.domestic
        return not leg.domestic and self.fits(leg.miles)

    def fits(self, miles: int) -> bool:
        least = self.min_miles
        return least is not None and least <= miles and (self.max_miles is None or miles <= self.max_miles)


@dataclass(frozen=True)
class Scheme:
    """How one programme counts: points per unit of fare by tier, extras per flight by haul and cabin, or bands."""

    program: str
    metric: Metric
    method: Method
    currency: str
    per_unit: Mapping[str, Decimal] = field(default_factory=dict)  # by tier; one entry if it is the same for all
    base_tier: str = ""
    extras: Mapping[tuple[str, str], int] = field(default_factory=dict)
    bands: tuple[EarningBand, ...] = ()


@dataclass(frozen=True)
class EarnedPoints:
    """`fixed` needs no fare; `amount` is the total, None if a needed fare was not given."""

    amount: Decimal | None
    fixed: Decimal
    notes: tuple[str, ...]


def count_points(
    scheme: Scheme, legs: Sequence[FlownLeg], cabin: str, fare: Decimal | None = None, tier: str = ""
) -> EarnedPoints:
    """The points a ticket of these legs gets; `fare` is the whole ticket's, in the scheme's currency, without taxes."""
    parts = [_count_leg(scheme, leg, cabin) for leg in legs]
    fixed = Decimal(sum(points for points, _ in parts))
    notes = list(dict.fromkeys(note for _, texts in parts for note in texts))
    if scheme.method == "fixed_by_distance":
        return EarnedPoints(fixed, fixed, tuple(notes))
    rate, counted_tier = find_rate(scheme, tier)
    whose = f" for {counted_tier}" if len(scheme.per_unit) > 1 else ""
    unit = scheme.metric.replace("_", " ").removesuffix("s") + ("" if rate == 1 else "s")
    notes.insert(0, f"{rate:f} {unit} per {scheme.currency} of base fare and carrier surcharges{whose}.")
    return EarnedPoints(None if fare is None else fare * rate + fixed, fixed, tuple(notes))


def find_rate(scheme: Scheme, tier: str) -> tuple[Decimal, str]:
    """Points per unit of fare, and their tier: the lowest if the tier is not listed."""
    counted_tier = tier if tier in scheme.per_unit else scheme.base_tier
    return scheme.per_unit[counted_tier], counted_tier


def classify_haul(leg: FlownLeg) -> tuple[str, bool]:
    """short-haul or long-haul, and whether that is sure."""
    if leg.european:
        return "short-haul", True
    return ("long-haul", True) if leg.miles > LONG_HAUL_OVER else ("short-haul", False)


def _count_leg(scheme: Scheme, leg: FlownLeg, cabin: str) -> tuple[int, list[str]]:
    if scheme.bands:
        return _count_by_band(scheme.bands, leg, cabin)
    return _count_extra(scheme.extras, leg, cabin) if scheme.extras else (0, [])


def _count_by_band(bands: Sequence[EarningBand], leg: FlownLeg, cabin: str) -> tuple[int, list[str]]:
    band = next(b for b in bands if b.holds(leg))
    notes = [f"{band.cabins[cabin]} XP a segment: band {band.name}, {cabin}."]
    by_miles = next(b for b in bands if b.fits(leg.miles))
    if leg.domestic and by_miles.cabins[cabin] != band.cabins[cabin] and leg.miles >= 2_000:
        notes.append(
            f"A flight within one country is counted as domestic; by its {leg.miles:,} miles alone it would be band"
            f" {by_miles.name} with {by_miles.cabins[cabin]} XP."
        )
    return band.cabins[cabin], notes


def _count_extra(extras: Mapping[tuple[str, str], int], leg: FlownLeg, cabin: str) -> tuple[int, list[str]]:
    kind, sure = classify_haul(leg)
    flown = cabin if (kind, cabin) in extras else NEXT_CABIN_DOWN.get(cabin, cabin)
    points = extras.get((kind, flown), 0)
    notes = [f"{points} extra tier points for each {kind} flight in {flown}."]
    if flown != cabin:
        notes.append(f"No extra is published for {cabin} on {kind} flights, which have no such cabin; {flown} counts.")
    if not sure:
        other = extras.get(("long-haul", cabin), 0)
        notes.append(
            f"{leg.miles:,} miles and leaving Europe: counted as short-haul, being at most {LONG_HAUL_OVER:,} miles;"
            f" where the carrier sells it as long-haul the extra is {other}."
        )
    return points, notes
