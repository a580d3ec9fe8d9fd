"""The sandbox's carriers: their cabins on a route, and their charges on top of the points.

Cabins follow from three short lists; a carrier in none of them is one with economy and business. Surcharges follow the
facts where there are any, else the carrier's usual level.
"""

from datetime import date
from decimal import Decimal
from functools import lru_cache

from shared.reference.departure_duty import find_duty_rates
from shared.reference.load import reference
from shared.reference.rows.award_charts import Surcharge


def _split(codes: str) -> frozenset[str]:
    return frozenset(codes.split())


# The carriers of the reference data whose fleets have these cabins.
WITH_FIRST = _split("AA AF AI BA CA CX EK EY GA JL KE LH LX MU NH QF QR SQ SV TG")
WITH_PREMIUM = _split(
    "AA AC AF AI AY AZ BA BR CA CI CX CZ DE DL EK HU IB JL JX KL LA LH LO LX MU NH NZ OS QF SK SQ TN UA VN VS WS"
)
ONLY_ECONOMY = _split("F9 FZ G3 GK JQ LL LS PD TR U2 VY WN")
US_CARRIERS = _split("AA AS DL HA UA")  # at home the cabin in front is called first class
NORTH_AMERICA = frozenset(("US", "CA", "MX"))
LONG_MILES, COAST_MILES, FIRST_MILES = 2_500, 2_000, 1_500

LEVELS = {"none": 0, "low": 35, "moderate": 140, "high": 330, "very_high": 620}  # dollars one way in business, far
HIGH = _split("AF BA EK KL LH LX OS SN VS")
MODERATE = _split("AY CX EI FI JL LY MH NH OZ QF TG TK TP")
_OF_BUSINESS = {"economy": 0.4, "premium_economy": 0.65, "business": 1.0, "first": 1.15}
_OF_DISTANCE = ((1_500, 0.1), (3_000, 0.5))  # of the surcharge on flights that are shorter
# United Kingdom duty at a rate above that of all these years, so that no sum is below it.
DOLLARS_PER_POUND = Decimal("1.40")
AIRPORT_DOLLARS, DOLLARS_PER_MILE = 9.0, 0.006


@lru_cache(maxsize=16_384)
def list_cabins(airline: str, origin: str, destination: str) -> frozenset[str]:
    """The cabins the carrier has between two airports."""
    facts = reference()
    if only := facts.one_cabin.get(airline):
        return frozenset((only,))
    if airline in ONLY_ECONOMY:
        return frozenset(("economy",))
    countries = {facts.airport(origin).country, facts.airport(destination).country}
    miles = facts.miles(origin, destination)
    if airline == "B6":
        return frozenset(("economy", "business") if miles >= COAST_MILES else ("economy",))
    if airline in US_CARRIERS and (countries == {"US"} or (countries <= NORTH_AMERICA and miles < COAST_MILES)):
        return frozenset(("economy", "first", *(["business"] if miles >= COAST_MILES else [])))
    cabins = {"economy", "business"}
    if airline in WITH_PREMIUM and miles >= LONG_MILES:
        cabins.add("premium_economy")
    if airline in WITH_FIRST and (miles >= LONG_MILES or (airline not in US_CARRIERS and miles >= FIRST_MILES)):
        cabins.add("first")
    return frozenset(cabins)


def estimate_taxes(airline: str, program: str, origin: str, destination: str, cabin: str, day: date) -> Decimal:
    """Dollars on top of the points: charges of airports, the departure duty, and the carrier's surcharge."""
    own = _estimate_charges(airline, program, origin, destination, cabin)
    return (own + _find_duty(origin, destination, cabin, day)).quantize(Decimal("0.01"))


@lru_cache(maxsize=16_384)
def _find_duty(origin: str, destination: str, cabin: str, day: date) -> Decimal:
    facts = reference()
    rates = find_duty_rates(facts, facts.airport(origin), facts.airport(destination), cabin, day)
    return rates[-1].amount * DOLLARS_PER_POUND if rates else Decimal(0)


@lru_cache(maxsize=16_384)
def _estimate_charges(airline: str, program: str, origin: str, destination: str, cabin: str) -> Decimal:
    miles = reference().miles(origin, destination)
    share = next((part for limit, part in _OF_DISTANCE if miles < limit), 1.0) * _OF_BUSINESS[cabin]
    return Decimal(round(AIRPORT_DOLLARS + DOLLARS_PER_MILE * miles + share * _find_surcharge(airline, program)))


@lru_cache(maxsize=1024)
def _find_surcharge(airline: str, program: str) -> float:
    """Dollars one way in business on a long flight."""
    rows = reference().rows("carrier_surcharges.csv")
    own = reference().airlines[airline].program == program
    named = [row for row in rows if airline in row.operating_carrier.split("|")]
    for fits in (
        [row for row in named if row.booked_with == program],
        [row for row in rows if row.operating_carrier == "*" and row.booked_with == program],
        [row for row in named if row.booked_with is None and own],
    ):
        if fits:
            return _read_amount(next((row for row in fits if "business" in row.cabin), fits[0]))
    return LEVELS["high" if airline in HIGH else "moderate" if airline in MODERATE else "low"]


def _read_amount(row: Surcharge) -> float:
    """The mean of a row's amounts in business, else the usual amount of its level."""
    if row.usd_low is None or (row.usd_high is None and row.usd_low == 0):
        return LEVELS[row.level]
    middle = (row.usd_low + (row.usd_high or row.usd_low)) / 2
    return middle / 2 if row.per == "round_trip" else middle
