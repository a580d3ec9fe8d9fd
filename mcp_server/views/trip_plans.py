"""A plan of plan_trip for results: awards, where the points come from, steps and warnings."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from mcp_server.toolkit import NO_DATA, CallBase, Money, NoDataWord, Part
from mcp_server.toolkit.wording import join_names, list_airline_names, list_program_names, program_name
from mcp_server.views.cash_flights import Fare, to_fare
from mcp_server.views.program_rules import is_allowed, parse_counts
from mcp_server.views.transfers import TransferRoute, to_transfer_route
from mcp_server.views.trip_plan_messages import (
    POSTING_WORDS,
    describe_offer,
    describe_pooling,
    describe_tickets,
    describe_tour,
    describe_transfer,
)
from shared.domain import departure_duty
from shared.domain.dates import format_day, format_weekday
from shared.domain.funding import find_leftovers
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.nearest_plans import Limit, NearestPlan
from shared.domain.party_prices import describe_party, describe_points
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Purse
from shared.domain.transfers import POSTING
from shared.domain.trip_plans import Journey, PaidJourney, PlanSeat
from shared.reference.ages import describe_left_out
from shared.reference.booking_links import list_booking_links
from shared.reference.reference import Reference
from shared.reference.rows.duty import DutyRate
from shared.reference.rows.programmes import ProgramFact
from shared.reference.transfer_rates import describe_all_rates
from shared.services.search.award_options import AwardOption
from shared.services.search.fares import FareOption
from shared.services.search.trip_plan_search import CURRENCY, TripWish

STALE_SECONDS = int(timedelta(hours=6).total_seconds())


class AskedStop(Part):
    """A place on the way, and the nights spent there; null where the trip ends there."""

    place: str
    nights: int | None


class TripAsked(Part):
    """What was asked, its names resolved."""

    origin: str
    destination: str
    earliest_date: date
    latest_date: date
    nights: int | None
    cabin: str
    passengers: int
    max_cash: Money | None
    stops: list[AskedStop]
    return_from: str | None
    children: int
    infants: int


class BalanceUse(Part):
    """Points spent from a saved balance that is in the right programme already."""

    program: str
    points: int
    balance: int


class MemberUse(Part):
    """Points another member spends on whole tickets, because they cannot be joined with the person's."""

    program: str
    member: str
    points: int
    balance: int


class PayWith(Part):
    """From where the points come: a balance, a transfer, or both; further transfers where two are needed."""

    program: str
    points: int
    balance: BalanceUse | None
    route: TransferRoute | None
    more_routes: list[TransferRoute]
    from_members: list[MemberUse]

    def shorten(self) -> "PayWith":
        first, *others = [
            route and route.model_copy(update={"steps": [], "warnings": []})
            for route in (self.route, *self.more_routes)
        ]
        return self.model_copy(update={"route": first, "more_routes": others})


class BalanceAfter(Part):
    """What a balance holds once the plan is paid."""

    program: str
    name: str
    points: int


class Positioning(Part):
    """The way to or from an airport nearby. `fare` is the last one seen for one traveller, one way, on that day.

    `needs_night`: the flight leaves too early, or lands too late, for this way on the same day; null if not known.
    """

    from_airport: str
    to_airport: str
    kilometres: int
    fare: Money | NoDataWord
    currency: str
    needs_night: bool | None


class Stay(Part):
    """The nights between two flights. `leaves_from` is another place where no flight of the plan connects them."""

    place: str
    leaves_from: str
    arrives_on: date
    leaves_on: date
    nights: int


class VoucherUse(Part):
    """A voucher of the person, and the points it takes off the plan. Taxes are due for everybody."""

    voucher_id: int
    name: str
    points_off: int


class Hold(Part):
    possible: bool
    days: int | None


class Plan(Part):
    """For all passengers. `posting_time` is that of the slowest transfer; `booking_pages` are by programme.

    A compact answer of many flights has in `steps` alone where to book, and the programmes between two.

    `onward_awards` are the flights after the first, without the flight home. `more_pay_with`: programmes that neither
    the first flight nor the flight home is paid with. `balances_after`: those that the plan changes.
    `hold` is null: whether an award can be held is not known of any programme here.
    """

    award: AwardOption
    onward_awards: list[AwardOption]
    return_award: AwardOption | None
    stays: list[Stay]
    points_total: int
    vouchers: list[VoucherUse]
    taxes_total: Money | NoDataWord
    currency: str
    pay_with: PayWith
    return_pay_with: PayWith | None
    more_pay_with: list[PayWith]
    posting_time: str | NoDataWord
    balances_after: list[BalanceAfter]
    positioning: list[Positioning]
    booking_pages: dict[str, str]
    effective_cost: Money | NoDataWord
    cash_alternative: Fare | NoDataWord
    steps: list[str]
    hold: Hold | None
    rules: list[str]
    warnings: list[str]

    def shorten(self) -> "Plan":
        """Without what `steps` say again: the pages to book, and each transfer from programme to programme."""
        ways = {"pay_with": self.pay_with.shorten(), "more_pay_with": [way.shorten() for way in self.more_pay_with]}
        home = self.return_pay_with.shorten() if self.return_pay_with else None
        return self.model_copy(update=ways | {"return_pay_with": home, "booking_pages": {}})


def _show_offer(seat: PlanSeat[AwardOption]) -> AwardOption:
    """The offer, with what the party pays of it after a voucher."""
    return replace(seat.offer, party_points=seat.points) if seat.cut else seat.offer


def to_plan(
    call: CallBase,
    wish: TripWish,
    paid: PaidJourney[AwardOption],
    fares: Sequence[FareOption],
    purses: Sequence[Purse],
    positioning: Sequence[Positioning],
    companions: Sequence[str],
    remarks: Sequence[str],
) -> Plan:
    """`remarks` are what is known of the flights behind the awards: cabins and nights on the way.

    `companions`: sentences about vouchers of the person that fit the plan.
    """
    reference, journey = call.reference, paid.journey
    left_over = find_leftovers(purses, paid.ways, journey.needs)
    points_before = {p.program: p.points for p in purses}
    out, back = journey.out, journey.back
    cash = fares[0] if fares else None
    pay_with = {program: _to_pay_with(reference, program, paid) for program in journey.needs}
    first = pay_with.pop(out.program)
    return Plan(
        award=_show_offer(out),
        onward_awards=[_show_offer(seat) for seat in journey.onward],
        return_award=_show_offer(back) if back else None,
        stays=_list_stays(journey),
        points_total=sum(journey.needs.values()),
        vouchers=[
            VoucherUse(
                voucher_id=number,
                name=next(cut.name for cut in journey.cuts if cut.voucher_id == number),
                points_off=sum(cut.points for cut in journey.cuts if cut.voucher_id == number),
            )
            for number in dict.fromkeys(cut.voucher_id for cut in journey.cuts)
        ],
        taxes_total=_money_or_no_data(journey.taxes),
        currency=CURRENCY,
        pay_with=first,
        return_pay_with=pay_with.pop(back.program, None) if back else None,
        more_pay_with=list(pay_with.values()),
        posting_time=paid.slowest if paid.slowest != "unknown" else NO_DATA,
        balances_after=[
            BalanceAfter(program=slug, name=program_name(reference, slug), points=points)
            for slug, points in left_over.items()
            if points != points_before.get(slug, 0) or slug in paid.spent_programs
        ],
        positioning=list(positioning),
        booking_pages=reference.find_booking_pages(journey.needs),
        effective_cost=_money_or_no_data(paid.cost),
        cash_alternative=to_fare(cash) if cash else NO_DATA,
        steps=_list_steps(reference, paid, wish, positioning),
        hold=None,
        rules=[*companions, *list_trip_rules(call, wish, journey)],
        warnings=[*remarks, *_list_warnings(reference, paid, cash, wish.passengers, purses)],
    )


def _list_stays(journey: Journey[AwardOption]) -> list[Stay]:
    return [
        Stay(
            place=before.offer.destination,
            leaves_from=after.offer.origin,
            arrives_on=before.lands_on,
            leaves_on=after.day,
            nights=nights,
        )
        for (before, after), nights in zip(pairwise(journey.seats), journey.nights, strict=True)
    ]


def _money_or_no_data(amount: Decimal | None) -> Decimal | NoDataWord:
    return NO_DATA if amount is None else round_to_minor_unit(amount, CURRENCY)


def _to_pay_with(reference: Reference, program: str, paid: PaidJourney[AwardOption]) -> PayWith:
    ways, points = paid.ways[program], paid.journey.needs[program]
    own = next((w for w in ways if w.path is None and not w.purse.member), None)
    routes = [to_transfer_route(reference, w.path, w.needed if w.covers else None) for w in ways if w.path]
    others = [
        MemberUse(program=w.purse.program, member=w.purse.member, points=w.points_sent, balance=w.purse.points)
        for w in ways
        if w.purse.member
    ]
    balance = BalanceUse(program=own.purse.program, points=own.points_sent, balance=own.purse.points) if own else None
    return PayWith(
        program=program,
        points=points,
        balance=balance,
        route=routes[0] if routes else None,
        more_routes=routes[1:],
        from_members=others,
    )


def _list_steps(
    reference: Reference, paid: PaidJourney[AwardOption], wish: TripWish, positioning: Sequence[Positioning]
) -> list[str]:
    """Lists the steps; confirming the seat always comes before a transfer, which cannot be undone."""
    journey, passengers = paid.journey, wish.passengers
    seats = "seat is" if passengers == 1 else f"{passengers} seats are"
    open_still = f"Confirm live that the {seats} still open on the programme's own site"
    steps = [f"{open_still}: {describe_offer(reference, seat.offer)}." for seat in journey.seats]
    if journey.onward:
        steps = [f"{open_still} of each flight: {describe_tour(journey)}."]
    steps += describe_pooling(reference, (w for ways in paid.ways.values() for w in ways))
    transfers = [w for ways in paid.ways.values() for w in ways if w.path]
    steps += [describe_transfer(reference, way, way.path) for way in transfers if way.path]
    steps += [_describe_booking(reference, seat, wish) for seat in journey.seats]
    steps += describe_tickets(reference, paid, passengers)
    steps += [
        f"Get from {stay.place} to {stay.leaves_from} on your own by {format_weekday(stay.leaves_on)}."
        for stay in _list_stays(journey)
        if not reference.is_one_city(stay.place, stay.leaves_from)
    ]
    return steps + [_describe_positioning(way) for way in positioning]


def _describe_booking(reference: Reference, seat: PlanSeat[AwardOption], wish: TripWish) -> str:
    """Fills the page in for adults: how each programme asks for children is not known."""
    offer = seat.offer
    page = list_booking_links(reference, [offer], wish.passengers).get(offer.program)
    young = [(wish.children, "child", "children"), (wish.infants, "baby", "babies")]
    named = [pluralize(number, one, many) for number, one, many in young if number]
    correct = f" Enter {join_names(named)} there: the page takes everybody for an adult." if page and named else ""
    where = f"{program_name(reference, offer.program)}{f' at {page}' if page else ''}"
    price = describe_points(offer.points, wish.passengers)
    if seat.cut:
        price += f", less {seat.cut.points:,} with your {seat.cut.name}"
    return f"Book with {where}: {offer.origin} to {offer.destination}, {price}, and the taxes.{correct}"


def _describe_positioning(way: Positioning) -> str:
    route = f"Get from {way.from_airport} to {way.to_airport}, {way.kilometres} km apart"
    night = (
        " The flight is too early or too late for it on the same day: plan a hotel night." if way.needs_night else ""
    )
    if way.fare == NO_DATA:
        return f"{route}: positioning cost not known.{night}"
    return f"{route}: the last fare seen was {way.fare:,.2f} {way.currency} for one traveller, one way.{night}"


def _list_warnings(
    reference: Reference,
    paid: PaidJourney[AwardOption],
    cash: FareOption | None,
    passengers: int,
    purses: Sequence[Purse],
) -> list[str]:
    offers = [s.offer for s in paid.journey.seats]
    balances_as_of = min((p.as_of for p in purses if p.as_of), default=None)
    ways = [w for ways_of_program in paid.ways.values() for w in ways_of_program]
    warnings = [f"Balances as of {format_day(balances_as_of)}: check them first."] if balances_as_of else []
    if paths := [w.path for w in ways if w.path]:
        warnings.append("Transfers cannot be undone.")
        warnings += describe_all_rates(reference, (edge for path in paths for edge in path.edges))
    if paid.slowest != POSTING[0]:
        warnings.append(f"The points {POSTING_WORDS[paid.slowest]}: the seat may be gone in the meantime.")
    if any(o.seats is None for o in offers):
        warnings.append(f"A source does not say how many seats are left; this plan needs {passengers}.")
    if stale := [o for o in offers if o.age_seconds > STALE_SECONDS]:
        warnings.append(f"A source last checked {pluralize(max(o.age_seconds for o in stale) // 3600, 'hour')} ago.")
    if paid.journey.taxes is None:
        warnings.append("The taxes of an award, or an exchange rate for them, are not known.")
    elif paid.cost is None:
        warnings.append("What the points spent are worth is not published, so there is no effective cost.")
    if cash and cash.converted and paid.cost is not None and cash.converted.amount <= paid.cost:
        warnings.append("Cash costs no more than this plan.")
    if len(offers) > 1:
        flights = f"{describe_party(len(offers))} flights are {describe_party(len(offers))} bookings"
        warnings.append(f"The {flights}: a change to one does not change the others.")
    return warnings


class LackingPoints(Part):
    program: str
    points: int


class NearestTripPlan(Part):
    """`limit` is the one it does not meet; `plan` is null where points are missing. Sums are of all travellers.

    A compact answer has the flights after the first in `plan`, if there is one.
    """

    limit: Limit
    award: AwardOption
    onward_awards: list[AwardOption]
    return_award: AwardOption | None
    points_total: int
    taxes_total: Money | NoDataWord
    currency: str
    lacking: list[LackingPoints]
    plan: Plan | None


def to_nearest(nearest: NearestPlan[AwardOption], plan: Plan | None) -> NearestTripPlan:
    journey = nearest.journey
    return NearestTripPlan(
        limit=nearest.limit,
        award=_show_offer(journey.out),
        onward_awards=[_show_offer(seat) for seat in journey.onward],
        return_award=_show_offer(journey.back) if journey.back else None,
        points_total=sum(journey.needs.values()),
        taxes_total=_money_or_no_data(journey.taxes),
        currency=CURRENCY,
        lacking=[LackingPoints(program=slug, points=points) for slug, points in nearest.lacking.items()],
        plan=plan,
    )


def to_asked(wish: TripWish) -> TripAsked:
    return TripAsked.from_row(
        wish,
        origin=wish.start.code,
        earliest_date=wish.earliest,
        latest_date=wish.latest,
        stops=[AskedStop(place=place, nights=nights) for place, nights in wish.list_stops()],
    )


def list_names(
    reference: Reference, plans: Sequence[PaidJourney[AwardOption]], nearest: NearestPlan[AwardOption] | None
) -> dict[str, str]:
    """The names of all codes in the answer: airlines, and programmes that pay or are paid with."""
    journeys = [*(p.journey for p in plans), *([nearest.journey] if nearest else [])]
    ways = [way for paid in plans for ways_of_program in paid.ways.values() for way in ways_of_program]
    steps = [e.target for way in ways if way.path for e in way.path.edges]
    programs = [*(slug for j in journeys for slug in j.needs), *(w.purse.program for w in ways), *steps]
    airlines = [seat.offer.airline for journey in journeys for seat in journey.seats]
    return list_airline_names(reference, airlines) | list_program_names(reference, programs)


# What rules say of a plan: stopovers of its programmes, and what babies and children cost and owe.


class YoungWords(NamedTuple):
    """Sentences about travellers who are not adults."""

    who: str
    unknown: str
    counted: str


BABIES = YoungWords("Babies", "What a baby on the lap costs is not known here of", "The sums do not count babies.")
CHILDREN = YoungWords("Children", "No child's price is known here of", "The sums count children as adults.")


def list_trip_rules(call: CallBase, wish: TripWish, journey: Journey[AwardOption]) -> list[str]:
    """Sentences, each from a known fact; for babies and children also that none is known."""
    facts = [row for row in call.reference.fresh_rows("program_facts.csv", call.today) if row.program in journey.needs]
    joined = {a.program for a, b in pairwise(journey.seats) if a.program == b.program}  # one ticket could be both
    rules = [
        words
        for row in facts
        if (row.program in joined or not journey.onward)
        and (words := _describe_stopover(call, row, has_return=journey.back is not None))
    ]
    topics = {"stopover"}
    if wish.infants:
        topics |= {"infants", "children"}
        rules += _describe_young(call, journey, facts, ("infants", "children"), BABIES, wish.baby_shares)
    if wish.children:
        topics |= {"children", "child_discount"}
        rules += _describe_young(call, journey, facts, ("children", "child_discount"), CHILDREN)
    if wish.children or wish.infants:
        duties = (_describe_duty(call, wish, seat) for seat in journey.seats)
        rules += dict.fromkeys(filter(None, duties))
    rows = (row for row in call.reference.rows("program_facts.csv") if row.program in journey.needs)
    old = describe_left_out("program_facts.csv", [row for row in rows if row.topic in topics], call.today)
    return [*rules, f"Rules of these programmes:{old}"] if old else rules


def _describe_stopover(call: CallBase, row: ProgramFact, *, has_return: bool) -> str | None:
    """`Aeroplan allows a stopover: one per direction for 5,000 points.`"""
    if row.topic != "stopover" or not is_allowed("stopovers", row.value):
        return None
    if not has_return and parse_counts(row.value).get("one_way") == 0:
        return None
    return f"{program_name(call.reference, row.program)} allows a stopover: {row.answer}."


def _describe_young(
    call: CallBase,
    journey: Journey[AwardOption],
    facts: Sequence[ProgramFact],
    topics: Sequence[str],
    words: YoungWords,
    counted: Collection[str] = (),
) -> list[str]:
    """The rule of each programme that has one, by the first topic that it has, and the programmes that have none.

    `counted`: programmes whose rule the sums follow.
    """
    sentences, unknown = [], []
    for program in journey.needs:
        name = program_name(call.reference, program)
        answers = {row.topic: row.answer for row in facts if row.program == program}
        if rule := next((answers[topic] for topic in topics if topic in answers), None):
            in_sums = "The sums count it." if program in counted else words.counted
            sentences.append(f"{words.who} with {name}: {rule}. {in_sums}")
        else:
            unknown.append(name)
    return [*sentences, f"{words.unknown} {' and '.join(unknown)}. {words.counted}"] if unknown else sentences


def _describe_duty(call: CallBase, wish: TripWish, seat: PlanSeat[AwardOption]) -> str | None:
    """What babies and children owe where the United Kingdom charges Air Passenger Duty; None elsewhere."""
    rates = _find_duty(call, seat)
    if not rates:
        return None
    each = f"{rates[0].amount:f}" + (f" to {rates[-1].amount:f}" if len(rates) > 1 else "")
    adult = f"Air Passenger Duty from {seat.offer.origin}: {each} {rates[0].currency} for each adult"
    owing = []
    if wish.infants:
        owing.append("none for a baby on the lap")
    if wish.children:
        is_free = seat.offer.cabin == departure_duty.LOWEST_CLASS
        owing.append(f"{'none' if is_free else 'the same'} for {pluralize(wish.children, 'child', 'children')}")
    return f"{adult}, {' and '.join(owing)}."


def _find_duty(call: CallBase, seat: PlanSeat[AwardOption]) -> list[DutyRate]:
    """The rates of an adult, the lowest first; none if no duty is due or it depends on the route."""
    reference, offer = call.reference, seat.offer
    start, end = reference.airports.get(offer.origin), reference.airports.get(offer.destination)
    exempt = {row.airport for row in reference.rows("uk_duty_exempt_airports.csv")}
    if start is None or end is None or start.code in exempt:
        return []
    bands = next((r.bands for r in reference.rows("uk_duty_destinations.csv") if r.country == end.country), ())
    possible = departure_duty.find_bands(start.country, end.country, bands)
    return departure_duty.find_rates(reference.rows("uk_duty_rates.csv"), possible, offer.cabin, offer.date)
