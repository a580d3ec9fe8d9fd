"""Sentences of plan_trip: the best plan, how its points are paid, and the nearest plan where none fits."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from mcp_server.toolkit.wording import airline_name, program_name
from shared.domain.airport_pairs import JourneyEnd
from shared.domain.dates import format_weekday
from shared.domain.flight_times import format_flight_times
from shared.domain.funding import Funds, find_slowest
from shared.domain.nearest_plans import NearestPlan
from shared.domain.party_prices import describe_party, describe_points, describe_travellers, format_amount
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Way
from shared.domain.transfers import POSTING, TransferPath
from shared.domain.trip_plans import Journey, PaidJourney
from shared.reference.airports import load_metro_names
from shared.reference.reference import Reference
from shared.services.search.award_options import AwardOption
from shared.services.search.trip_plan_search import CURRENCY, TripWish

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
    """`Thu 20 May 2027, BOS-FCO with Delta Air Lines`."""
    airline = airline_name(reference, offer.airline)
    return f"{format_weekday(offer.date)}, {offer.origin}-{offer.destination} with {airline}"


def describe_journey(reference: Reference, journey: Journey[AwardOption], passengers: int) -> str:
    """The flights, the points of one person and of the party, and the taxes of everybody."""
    flights = f"out on {describe_seat(reference, journey.out.offer)}"
    if journey.back:
        flights += f", back on {describe_seat(reference, journey.back.offer)}"
    points = " and ".join(
        describe_points(total // passengers, passengers, program_name(reference, program))
        for program, total in journey.needs.items()
    )
    return f"{flights}; {points}, {describe_journey_taxes(journey, passengers)}"


def describe_journey_taxes(journey: Journey[AwardOption], passengers: int) -> str:
    if journey.taxes is None:
        return "taxes not known"
    everybody = f" for {describe_party(passengers)}" if passengers > 1 else ""
    return f"{format_amount(journey.taxes, CURRENCY)} taxes{everybody}" + (" both ways" if journey.back else "")


def describe_plan(reference: Reference, paid: PaidJourney[AwardOption], passengers: int) -> list[str]:
    sentences = [f"Best: {describe_journey(reference, paid.journey, passengers)}."]
    if paid.cost is not None:
        cost = f"{paid.cost:,.2f} {CURRENCY}"
        sentences.append(f"It costs about {cost}, taxes and the value of the points included.")
    sentences.append(describe_payment(reference, [w for ways in paid.ways.values() for w in ways]))
    return sentences


def describe_payment(reference: Reference, ways: Sequence[Way]) -> str:
    """Says which balances the points come from, and how long the slowest transfer takes."""
    parts = [
        f"{pluralize(w.points_sent, 'point')} {'of' if w.path else 'already with'}"
        f" {program_name(reference, w.purse.program)}"
        for w in ways
    ]
    slowest = find_slowest(ways)
    sentence = f"Paid with {' and '.join(parts)}"
    if not any(w.path for w in ways):
        return f"{sentence}; no transfer is needed. Confirm the seat before you book."
    sentence += f"; the points {POSTING_WORDS[slowest]}."
    if slowest != POSTING[0]:
        sentence += " No faster transfer covers it, and the seat may be gone in the meantime."
    return f"{sentence} Confirm the seat before you transfer: transfers cannot be undone."


def describe_speed(path: TransferPath) -> str:
    """`takes days (up to 48 hours by the issuer's estimate), and the seat may be gone meanwhile`."""
    slowest = max(path.edges, key=lambda edge: POSTING.index(edge.posting))
    if slowest.posting == POSTING[0]:
        terms = [e.posting_text for e in path.edges if e.posting_text and " " in e.posting_text]
        return ", ".join(dict.fromkeys(terms)) or "arrives at once"
    words = {"hours": "takes hours", "days": "takes days"}.get(slowest.posting, "how long it takes is not known")
    estimate = f" ({slowest.posting_text})" if slowest.posting_text else ""
    return f"{words}{estimate}, and the seat may be gone in the meantime"


def describe_rest(reference: Reference, points: Mapping[str, int], used: Iterable[str]) -> str:
    """What stays of the balances a plan uses."""
    parts = [f"{points[program]:,} of {program_name(reference, program)}" for program in dict.fromkeys(used)]
    return f"Points that stay: {' and '.join(parts)}."


def describe_search(wish: TripWish, considered: int) -> str:
    where = f"{describe_place(wish.start)} to {describe_place(wish.end)}"
    days = f"{format_weekday(wish.earliest)} to {format_weekday(wish.latest)}"
    return f"{where}, {days}: {pluralize(considered, 'award journey')} considered."


def explain_no_plan(
    reference: Reference,
    wish: TripWish,
    seen_sides: Sequence[bool],
    considered: int,
    funds: Funds,
) -> list[str]:
    """Sentences that say why there is no plan. `seen_sides`: whether any seat was seen there, and back."""
    start, end = describe_place(wish.start), describe_place(wish.end)
    party = "a seat" if wish.passengers == 1 else f"{wish.passengers} seats"
    seats = f"{party} in {wish.cabin.replace('_', ' ')}"
    ways = zip([(start, end), (end, start)], seen_sides, strict=False)
    reasons = [f"No award from {a} to {b} for {seats} was seen." for (a, b), has_seats in ways if not has_seats]
    if wish.programs:
        names = " and ".join(program_name(reference, slug) for slug in sorted(wish.programs))
        reasons.append(f"Only awards of {names} were considered.")
    if all(seen_sides) and not considered:
        cap = f" with taxes of at most {wish.max_cash:f} {CURRENCY} in all" if wish.max_cash is not None else ""
        back = f" and back after {pluralize(wish.nights, 'night')}" if wish.nights else ""
        unknown = " Unknown taxes count as too much." if cap else ""
        reasons.append(f"No award goes there{back}{cap}.{unknown}")
    if not funds.purses:
        reasons.append("No points balances are saved yet.")
    elif considered:
        reasons.append("The balances do not cover any of them.")
    return reasons


def describe_nearest(reference: Reference, wish: TripWish, nearest: NearestPlan[AwardOption]) -> str:
    """`With 510 USD taxes instead of 300 USD: out on ...`."""
    journey, words = nearest.journey, describe_journey(reference, nearest.journey, wish.passengers)
    if nearest.limit == "max_cash":
        taxes = format_amount(journey.taxes or Decimal(0), CURRENCY)
        limit = format_amount(wish.max_cash or Decimal(0), CURRENCY)
        whole = f"{describe_travellers(wish.passengers)}{' both ways' if journey.back else ''}"
        return f"The nearest plan: with {taxes} taxes for {whole} instead of {limit}: {words}."
    if nearest.limit == "points":
        lacking = " and ".join(
            f"{points:,} more points of {program_name(reference, slug)}" for slug, points in nearest.lacking.items()
        )
        return f"The nearest plan: with {lacking}: {words}."
    return f"The nearest plan: on {format_weekday(journey.out.day)} instead: {words}."


def describe_offer(reference: Reference, option: AwardOption) -> str:
    airline, program = airline_name(reference, option.airline), program_name(reference, option.program)
    times = format_flight_times(option.departs_at, option.arrives_at)
    day = " ".join(filter(None, [format_weekday(option.date), times]))
    return f"{airline}, {option.origin} to {option.destination} on {day}, with points of {program}"


def describe_transfer(reference: Reference, way: Way, path: TransferPath) -> str:
    route = " to ".join(program_name(reference, s) for s in [way.purse.program, *(e.target for e in path.edges)])
    points = pluralize(way.points_sent, "point")
    return f"Only then transfer {points}, {route}: {describe_speed(path)}; {way.points_delivered:,} arrive."
