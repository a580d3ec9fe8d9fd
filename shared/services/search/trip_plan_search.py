"""Seats for a trip plan: which airports are searched on which days, and offers as seats of the whole party."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from shared.domain.airport_pairs import JourneyEnd, Pair, find_nearby
from shared.domain.exchange_rates import Rates
from shared.domain.hybrids import parse_local_time
from shared.domain.trip_plans import Journey, PlanSeat, pair_journeys
from shared.providers.ask import Ask
from shared.providers.contract import Reading, SeatsQuestion
from shared.reference.city_airports import list_pairs, require_airports
from shared.reference.reference import Reference
from shared.services.search import availability
from shared.services.search.ask_each import ask_each
from shared.services.search.availability import list_offers
from shared.services.search.award_options import AwardOption

CURRENCY = "USD"
OTHER_DAYS = 3  # before and after the days asked for, looked at when those hold no plan


@dataclass(frozen=True)
class TripWish:
    """What the caller wants, with names resolved. `max_cash` is for the whole party and the whole trip."""

    start: JourneyEnd
    end: JourneyEnd
    earliest: date
    latest: date
    nights: int | None
    cabin: str
    passengers: int
    programs: frozenset[str]
    max_cash: Decimal | None

    def widen(self, today: date) -> "TripWish":
        """The same some days earlier and later."""
        margin = timedelta(days=OTHER_DAYS)
        return replace(self, earliest=max(today, self.earliest - margin), latest=self.latest + margin)


@dataclass(frozen=True)
class TripSeats:
    """Readings of each direction."""

    pairs: Sequence[Pair]
    sides: Sequence[Sequence[Reading[Any]]]

    @property
    def readings(self) -> list[Reading[Any]]:
        return [r for side in self.sides for r in side]

    @property
    def currencies(self) -> set[str | None]:
        return {seat.taxes_currency for r in self.readings for seat in r.value or ()}


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
    """The return leaves `nights` after the outbound flight lands, which can be the day after its departure."""
    pairs = list_pairs(reference, wish.start, wish.end)
    questions = [SeatsQuestion(a, b, wish.earliest, wish.latest) for a, b in pairs]
    if wish.nights is not None:
        first = wish.earliest + timedelta(days=wish.nights)
        last = wish.latest + timedelta(days=wish.nights + 1)
        questions += [SeatsQuestion(b, a, first, last) for a, b in pairs]
    answers = await ask_each(ask, availability.VERB, questions)
    sides = [answers[: len(pairs)], answers[len(pairs) :]]
    return TripSeats(pairs, [[r for answer in side for r in answer] for side in sides if side])


def list_sides(
    values: Mapping[str, Decimal | None], account_id: int | None, wish: TripWish, seats: TripSeats, rates: Rates
) -> list[list[PlanSeat[AwardOption]]]:
    """The seats of each direction in the cabin, for everybody, with taxes in one currency.

    `values` is what a point of each programme is worth, in US cents.
    """
    return [
        [
            _to_seat(values, option, wish, rates)
            for option in list_offers(readings, account_id, (wish.cabin,), wish.passengers)
            if not wish.programs or option.program in wish.programs
        ]
        for readings in seats.sides
    ]


def _to_seat(
    values: Mapping[str, Decimal | None], option: AwardOption, wish: TripWish, rates: Rates
) -> PlanSeat[AwardOption]:
    taxes = rates.amount(option.taxes, option.taxes_currency, CURRENCY)
    lands = parse_local_time(option.arrives_at, "UTC")  # only the local day is used
    group = wish.start.find_group, wish.end.find_group
    ends = (option.origin, option.destination)
    if option.origin in wish.end.airports or wish.end.find_distance(option.origin) is not None:
        group = group[::-1]
    return PlanSeat(
        offer=option,
        program=option.program,
        flight=f"{option.airline}|{option.origin}|{option.date}",
        points=option.points * wish.passengers,
        taxes=None if taxes is None else taxes * wish.passengers,
        value=values.get(option.program),
        day=option.date,
        lands_on=lands.date() if lands else option.date,
        stops=option.stops,
        ends=frozenset(find(code) for find, code in zip(group, ends, strict=True)),
    )


def join_sides(sides: Sequence[Sequence[PlanSeat[AwardOption]]], wish: TripWish) -> Iterator[Journey[AwardOption]]:
    return pair_journeys(sides[0], sides[1] if len(sides) > 1 else None, wish.nights)
