"""Seats for a trip plan: which airports are searched on which days, and offers as seats of the whole party."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from math import ceil
from typing import Any

from shared.domain.airport_pairs import JourneyEnd, Pair, find_nearby
from shared.domain.exchange_rates import Rates
from shared.domain.hybrids import parse_local_time
from shared.domain.trip_plans import Leg, PlanSeat
from shared.providers.ask import Ask
from shared.providers.contract import Reading, SeatsQuestion
from shared.reference.city_airports import list_pairs, require_airports
from shared.reference.reference import Reference
from shared.services.search import availability
from shared.services.search.ask_each import ask_each
from shared.services.search.availability import list_offers
from shared.services.search.award_options import AwardOption

CURRENCY = "USD"
MAX_LEG_PAIRS = 3  # pairs of airports of each leg of a longer trip
OTHER_DAYS = 3  # before and after the requested days, searched if those have no plan


@dataclass(frozen=True)
class TripWish:
    """What the caller wants, with names resolved. `max_cash` is for the whole party and the whole trip.

    Of the passengers, `children` are from 2 to 15 years old; `infants` sit on laps and are not counted among them.
    `baby_shares`: what an infant costs of an adult's points, of programmes that say so.
    """

    legs: tuple[Leg, ...]
    destination: str
    earliest: date
    latest: date
    nights: int | None
    cabin: str
    passengers: int
    programs: frozenset[str]
    max_cash: Decimal | None
    children: int = 0
    infants: int = 0
    return_from: str | None = None
    baby_shares: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def start(self) -> JourneyEnd:
        return self.legs[0].start

    @property
    def end(self) -> JourneyEnd:
        """The destination of the first flight."""
        return self.legs[0].end

    @property
    def goes_home(self) -> bool:
        return len(self.legs) > 1 and self.legs[-1].end.code == self.start.code

    @property
    def is_tour(self) -> bool:
        """Whether it is more than a way there and back."""
        return bool(self.return_from or self.list_stops())

    @property
    def is_return(self) -> bool:
        """Whether it is a way there and back that money does not limit."""
        return self.goes_home and not self.is_tour and self.max_cash is None

    def list_stops(self) -> list[tuple[str, int | None]]:
        """The places of a trip with several, and the nights at each; None for the last if the trip ends there."""
        nights = [*(leg.nights for leg in self.legs[1:]), None]
        places = [(leg.end.code, spent) for leg, spent in zip(self.legs, nights, strict=True)]
        if self.goes_home:
            places.pop()
        return places if len(places) > 1 else []

    def widen(self, today: date) -> "TripWish":
        """The same wish some days earlier and later."""
        margin = timedelta(days=OTHER_DAYS)
        return replace(self, earliest=max(today, self.earliest - margin), latest=self.latest + margin)


@dataclass(frozen=True)
class TripSeats:
    """Readings of each leg, and the airports searched, which for the way back are those of the way there."""

    pairs: Sequence[Pair]
    sides: Sequence[Sequence[Reading[Any]]]

    @property
    def readings(self) -> list[Reading[Any]]:
        return [r for side in self.sides for r in side]

    @property
    def currencies(self) -> set[str | None]:
        return {seat.taxes_currency for r in self.readings for seat in r.value or ()}


_SHARE = re.compile(r"(\d{1,2})%")


def find_baby_shares(reference: Reference, today: date) -> Mapping[str, Decimal]:
    """The share of an adult's points for a baby on the lap, by programme; those in money or in doubt are left out."""
    facts = (row for row in reference.fresh_rows("program_facts.csv", today) if row.topic == "infants")
    sure = ((row.program, _SHARE.fullmatch(row.value or "")) for row in facts if row.confidence != "low")
    return {program: Decimal(match[1]) / 100 for program, match in sure if match}


def find_place(reference: Reference, code: str, nearby_km: int | None) -> JourneyEnd:
    """The airports of an airport or city code, and those within a radius. Raises NotFound."""
    asked_airports = tuple(require_airports(reference, code))
    if nearby_km is None:
        return JourneyEnd(code, asked_airports)
    centre, others = reference.airports[asked_airports[0]], reference.airports.values()
    members = set(reference.city(code))
    near = find_nearby(
        centre, (a for a in others if a.code not in members), nearby_km, reference.kilometres, reference.count_flights
    )
    return JourneyEnd(code, asked_airports, near)


async def search_seats(ask: Ask, reference: Reference, wish: TripWish) -> TripSeats:
    """Searches seats; each leg leaves its nights after the previous one lands, maybe a day after departure."""
    pairs = _list_leg_pairs(reference, wish.legs)
    questions, nights = [], 0
    for at, leg in enumerate(wish.legs):
        nights += leg.nights
        first = wish.earliest + timedelta(days=nights)
        last = wish.latest + timedelta(days=nights + at)
        questions += [SeatsQuestion(*pair, first, last) for pair in pairs[at]]
    answers = iter(await ask_each(ask, availability.VERB, questions))
    sides = [[r for answer in islice(answers, len(of_leg)) for r in answer] for of_leg in pairs]
    searched = dict.fromkeys(pair for of_leg in pairs for pair in of_leg)
    return TripSeats([p for at, p in enumerate(searched) if p[::-1] not in list(searched)[:at]], sides)


def _list_leg_pairs(reference: Reference, legs: Sequence[Leg]) -> list[Sequence[Pair]]:
    """The airports to search between on each leg. A return leg uses those of its outbound leg."""
    pairs: list[Sequence[Pair]] = []
    for at, leg in enumerate(legs):
        ends = [(other.end, other.start) for other in legs[:at]]
        if (leg.start, leg.end) in ends:
            pairs.append([pair[::-1] for pair in pairs[ends.index((leg.start, leg.end))]])
        else:
            of_leg = list_pairs(reference, leg.start, leg.end)
            pairs.append(of_leg if len(legs) <= 2 else of_leg[:MAX_LEG_PAIRS])
    return pairs


def list_sides(
    values: Mapping[str, Decimal | None], account_id: int | None, wish: TripWish, seats: TripSeats, rates: Rates
) -> list[list[PlanSeat[AwardOption]]]:
    """The seats of each leg in the cabin, for all passengers, with taxes in one currency.

    `values` is the worth of a point of each programme, in US cents.
    """
    return [
        [
            _to_seat(values, option, leg, wish, rates)
            for option in list_offers(readings, account_id, (wish.cabin,), wish.passengers)
            if not wish.programs or option.program in wish.programs
        ]
        for leg, readings in zip(wish.legs, seats.sides, strict=True)
    ]


def _to_seat(
    values: Mapping[str, Decimal | None], option: AwardOption, leg: Leg, wish: TripWish, rates: Rates
) -> PlanSeat[AwardOption]:
    taxes = rates.amount(option.taxes, option.taxes_currency, CURRENCY)
    lands = parse_local_time(option.arrives_at, "UTC")  # only the local day is used
    baby = ceil(option.points * wish.baby_shares.get(option.program, 0))
    return PlanSeat(
        offer=option,
        program=option.program,
        flight=f"{option.airline}|{option.origin}|{option.date}",
        points=option.points * wish.passengers + baby * wish.infants,
        taxes=None if taxes is None else taxes * wish.passengers,
        value=values.get(option.program),
        day=option.date,
        lands_on=lands.date() if lands else option.date,
        stops=option.stops,
        ends=(leg.start.find_group(option.origin), leg.end.find_group(option.destination)),
    )
