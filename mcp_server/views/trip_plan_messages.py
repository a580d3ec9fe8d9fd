"""Sentences of plan_trip: the best plan, how its points are paid, and the nearest plan where none fits."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from mcp_server.toolkit.wording import airline_name, join_names, program_name
from mcp_server.views.household import describe_left_apart, describe_lent
from mcp_server.views.split_parties import describe_parts
from shared.domain.airport_pairs import JourneyEnd
from shared.domain.dates import format_short_weekday, format_weekday
from shared.domain.flight_times import format_days_later, format_flight_times
from shared.domain.funding import Funds, find_slowest
from shared.domain.household import add_member
from shared.domain.nearest_plans import NearestPlan
from shared.domain.party_prices import describe_party, describe_points, describe_travellers, format_amount
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Way
from shared.domain.transfers import POSTING, TransferPath
from shared.domain.trip_plans import Journey, PaidJourney
from shared.providers.contract import AwardSeat
from shared.reference.airports import load_metro_names
from shared.reference.reference import Reference
from shared.services.search.award_options import AwardOption
from shared.services.search.trip_plan_search import CURRENCY, TripWish

LONG_JOURNEY = 250  # characters; what follows it is said briefly
POSTING_WORDS = {
    "instant": "arrive at once",
    "hours": "arrive within hours",
    "days": "take days to arrive",
    "unknown": "take an unknown time to arrive",
}


def describe_place(place: JourneyEnd) -> str:
    """`BOS`, `New York (JFK, EWR, LGA)`."""
    if place.airports == (place.code,):
        return place.code
    return f"{load_metro_names().get(place.code, place.code)} ({', '.join(place.airports)})"


def describe_seat(reference: Reference, offer: AwardOption) -> str:
    """`Thu 20 May 2027, BOS-FCO with Delta Air Lines, landing +1`."""
    airline, later = airline_name(reference, offer.airline), format_days_later(offer.departs_at, offer.arrives_at)
    landing = f", landing{later}" if later else ""
    return f"{format_weekday(offer.date)}, {offer.origin}-{offer.destination} with {airline}{landing}"


def describe_journey(reference: Reference, journey: Journey[AwardOption], passengers: int) -> str:
    """The flights, the points of one person and of the party, and everyone's taxes."""
    if journey.onward:
        return f"{describe_tour(journey)}; {_describe_tour_points(reference, journey, passengers)}"
    flights = f"out on {describe_seat(reference, journey.out.offer)}"
    if journey.back:
        flights += f", back on {describe_seat(reference, journey.back.offer)}"
    if journey.cuts and len(journey.needs) > 1:
        return f"{flights}; {_describe_tour_points(reference, journey, passengers)}"
    points = " and ".join(_describe_need(reference, journey, program, passengers) for program in journey.needs)
    return f"{flights}; {points}, {describe_journey_taxes(journey, passengers)}"


def _describe_need(reference: Reference, journey: Journey[AwardOption], program: str, passengers: int) -> str:
    """`40,000 points of Aeroplan each, 80,000 for two`, and those of babies on laps."""
    each = sum(seat.offer.points for seat in journey.seats if seat.program == program)
    cut = sum(seat.cut.points for seat in journey.seats if seat.cut and seat.program == program)
    babies = journey.needs[program] + cut - each * passengers
    points = describe_points(each, passengers, program_name(reference, program))
    points += f" and {babies:,} for babies" if babies else ""
    return f"{points} less {cut:,} with your voucher" if cut else points


def describe_tour(journey: Journey[AwardOption]) -> str:
    """`BOS-FCO Sat 23 Jan, FCO-CDG Wed 27 Jan`."""
    offers = [seat.offer for seat in journey.seats]
    return ", ".join(f"{o.origin}-{o.destination} {format_short_weekday(o.date)}" for o in offers)


def _describe_tour_points(reference: Reference, journey: Journey[AwardOption], passengers: int) -> str:
    """`79,000 points for two (40,000 of Iberia Club, 39,000 of Aeroplan), 238 USD taxes in all`.

    For more than two programmes only their number: the answer's fields name them.
    """
    cut_programs = {seat.program for seat in journey.seats if seat.cut}
    parts = [
        f"{total:,} of {program_name(reference, program)}{' with your voucher' if program in cut_programs else ''}"
        for program, total in journey.needs.items()
    ]
    programs = ", ".join(parts) if len(parts) < 3 else pluralize(len(parts), "programme")
    whose = f" for {describe_party(passengers)}" if passengers > 1 else " per person"
    points = f"{pluralize(sum(journey.needs.values()), 'point')}{whose} ({programs})"
    taxes = "taxes not known" if journey.taxes is None else f"{format_amount(journey.taxes, CURRENCY)} taxes in all"
    return f"{points}, {taxes}"


def describe_journey_taxes(journey: Journey[AwardOption], passengers: int) -> str:
    if journey.taxes is None:
        return "taxes not known"
    everybody = f" for {describe_party(passengers)}" if passengers > 1 else ""
    return f"{format_amount(journey.taxes, CURRENCY)} taxes{everybody}{_describe_flights(journey)}"


def _describe_flights(journey: Journey[AwardOption]) -> str:
    """The scope of a sum: ` both ways`, ` of all 3 flights`; empty for a single one."""
    if journey.onward:
        return f" of all {len(journey.seats)} flights"
    return " both ways" if journey.back else ""


def describe_plan(reference: Reference, paid: PaidJourney[AwardOption], passengers: int) -> list[str]:
    ways = [w for of_program in paid.ways.values() for w in of_program]
    journey = f"Best: {describe_journey(reference, paid.journey, passengers)}."
    is_long = bool(paid.journey.onward) or len(journey) > LONG_JOURNEY
    return [journey, describe_payment(reference, ways, brief=is_long)]


def describe_payment(reference: Reference, ways: Sequence[Way], *, brief: bool = False) -> str:
    """Says which balances the points come from, and how long the slowest transfer takes."""
    points_by_source: dict[tuple[str, bool, str], int] = {}
    for way in ways:
        source = (way.purse.program, way.path is None, way.purse.member)
        points_by_source[source] = points_by_source.get(source, 0) + way.points_sent
    parts = []
    for (program, is_there, member), points in sorted(points_by_source.items(), key=lambda source: source[0][1:]):
        balance = add_member(program_name(reference, program), member)
        is_named = is_there and (program, False, member) in points_by_source
        whose = "already there" if is_named else f"{'already with' if is_there else 'points of'} {balance}"
        parts.append(f"{points:,} {whose}")
    slowest = find_slowest(ways)
    lent = describe_lent(reference, ways)
    sentence = f"Paid with {' and '.join(parts)}{f', {lent} pooled with yours' if lent else ''}"
    if any(way.purse.member for way in ways):
        sentence += ", each in a booking of its own"
    if not any(w.path for w in ways):
        return f"{sentence}; no transfer is needed. Confirm the seat before you book."
    sentence += f"; the points {POSTING_WORDS[slowest]}."
    if brief:
        return f"{sentence} Confirm the seat first: transfers cannot be undone."
    if slowest != POSTING[0]:
        sentence += " No faster transfer covers it, and the seat may be gone by then."
    return f"{sentence} Confirm the seat before you transfer: transfers cannot be undone."


def describe_pooling(reference: Reference, ways: Iterable[Way]) -> list[str]:
    """The step that pools other members' points with the person's; empty if nothing is lent."""
    lent = describe_lent(reference, ways)
    return [f"Then pool {lent} with yours, as the programme's household rules ask."] if lent else []


def describe_tickets(reference: Reference, paid: PaidJourney[AwardOption], travellers: int) -> list[str]:
    """The steps that say which tickets other members book, from points that cannot be joined with the person's."""
    steps = []
    for program, ways in paid.ways.items():
        price = paid.journey.needs[program] // travellers
        for member in dict.fromkeys(way.purse.member for way in ways if way.purse.member):
            count = sum(way.points_delivered for way in ways if way.purse.member == member) // price
            tickets = f"{pluralize(count, 'ticket')} from {member}'s account of {program_name(reference, program)}"
            steps.append(f"Of these, book {tickets}, {price:,} points each.")
    return steps


def describe_speed(path: TransferPath) -> str:
    """`takes days (up to 48 hours by the issuer's estimate), and the seat may be gone meanwhile`."""
    slowest = max(path.edges, key=lambda edge: POSTING.index(edge.posting))
    if slowest.posting == POSTING[0]:
        terms = [e.posting_text for e in path.edges if e.posting_text and " " in e.posting_text]
        return ", ".join(dict.fromkeys(terms)) or "arrives at once"
    words = {"hours": "takes hours", "days": "takes days"}.get(slowest.posting, "how long it takes is not known")
    estimate = f" ({slowest.posting_text})" if slowest.posting_text else ""
    return f"{words}{estimate}, and the seat may be gone meanwhile"


def describe_rest(reference: Reference, points: Mapping[str, int], used: Sequence[str]) -> str:
    """What is left of a plan's balances; a single one need not be named again."""
    programs = list(dict.fromkeys(used))
    if len(programs) == 1:
        return f"Points that stay: {points[programs[0]]:,}."
    parts = [f"{points[program]:,} of {program_name(reference, program)}" for program in programs]
    return f"Points that stay: {' and '.join(parts)}."


def explain_no_plan(
    reference: Reference,
    wish: TripWish,
    seen_sides: Sequence[bool],
    parts: Sequence[Sequence[AwardSeat]],
    considered: int,
    funds: Funds,
) -> list[str]:
    """Explains why there is no plan. `seen_sides`: whether any seat was seen there, and back.

    `parts`: where none was, the flights on which a part of the party could go.
    """
    party = "a seat" if wish.passengers == 1 else f"{wish.passengers} seats"
    seats = f"{party} in {wish.cabin.replace('_', ' ')}"
    ways = [(describe_place(leg.start), describe_place(leg.end)) for leg in wish.legs]
    unseen = [way for way, has_seats in zip(ways, seen_sides, strict=True) if not has_seats]
    reasons = [f"No award from {a} to {b} for {seats} was seen." for a, b in unseen]
    reasons += [words for of_leg in parts for words in describe_parts(reference, of_leg, wish.passengers)]
    if wish.programs:
        names = " and ".join(program_name(reference, slug) for slug in sorted(wish.programs))
        reasons.append(f"Only awards of {names} were considered.")
    if all(seen_sides) and not considered:
        cap = f" with taxes of at most {wish.max_cash:f} {CURRENCY} in all" if wish.max_cash is not None else ""
        back = f" and back after {pluralize(wish.nights, 'night')}" if wish.nights else ""
        unknown = " Unknown taxes count as too much." if cap else ""
        all_flights = "No awards fit together for all flights" if wish.is_tour else f"No award goes there{back}"
        reasons.append(f"{all_flights}{cap}.{unknown}")
    if not funds.purses and not funds.apart:
        reasons.append("No points balances are saved yet.")
    elif considered:
        pooled = " even pooled with those of your household" if funds.purses != funds.household_purses else ""
        left_apart = describe_left_apart(reference, funds.apart)
        journeys = "the only award journey" if considered == 1 else f"any of {considered} award journeys"
        reasons.append(f"The balances do not cover {journeys}{pooled}.{left_apart}")
    return reasons


def describe_nearest(reference: Reference, wish: TripWish, nearest: NearestPlan[AwardOption]) -> str:
    """`With 510 USD taxes instead of 300 USD: out on ...`."""
    journey, words = nearest.journey, describe_journey(reference, nearest.journey, wish.passengers)
    if nearest.limit == "max_cash":
        taxes = format_amount(journey.taxes or Decimal(0), CURRENCY)
        limit = format_amount(wish.max_cash or Decimal(0), CURRENCY)
        whole = f"{describe_travellers(wish.passengers)}{_describe_flights(journey)}"
        return f"The nearest plan: with {taxes} taxes for {whole} instead of {limit}: {words}."
    if nearest.limit == "points":
        lacking = " and ".join(
            f"{points:,} more points of {program_name(reference, slug)}" for slug, points in nearest.lacking.items()
        )
        return f"The nearest plan: with {lacking}: {words}."
    other_nights = [
        f"{pluralize(nights, 'night')} instead of {leg.nights} in {leg.start.code}"
        for leg, nights in zip(wish.legs[1:], journey.nights, strict=True)
        if nights != leg.nights
    ]
    other = f"with {join_names(other_nights)}" if other_nights else f"on {format_weekday(journey.out.day)} instead"
    return f"The nearest plan: {other}: {words}."


def describe_offer(reference: Reference, option: AwardOption) -> str:
    airline, program = airline_name(reference, option.airline), program_name(reference, option.program)
    times = format_flight_times(option.departs_at, option.arrives_at)
    day = " ".join(filter(None, [format_weekday(option.date), times]))
    return f"{airline}, {option.origin} to {option.destination} on {day}, with points of {program}"


def describe_transfer(reference: Reference, way: Way, path: TransferPath) -> str:
    route = " to ".join(program_name(reference, s) for s in [way.purse.program, *(e.target for e in path.edges)])
    points = pluralize(way.points_sent, "point")
    route = add_member(route, way.purse.member)
    return f"Only then transfer {points}, {route}: {describe_speed(path)}; {way.points_delivered:,} arrive."
