"""Companion vouchers of the person in a trip plan: what they take off, and those that only fit."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from sqlalchemy.orm import Session

from mcp_server.toolkit import CallBase
from shared.db.vouchers import Voucher, list_held_vouchers
from shared.domain.trip_plans import Journey, PlanSeat, VoucherCut
from shared.domain.vouchers import Use, count_points_off, judge_use
from shared.reference.rows.travel import VoucherType
from shared.services.search.award_options import AwardOption
from shared.services.search.trip_plan_search import TripWish

Held = Sequence[tuple[Voucher, VoucherType]]


def read_companion_vouchers(call: CallBase, session: Session) -> Held:
    """The free companion vouchers of the person that award flights may be paid with, the first to end first."""
    kinds = call.reference.voucher_types
    pairs = [(v, kind) for v in list_held_vouchers(session, call.today) if (kind := kinds.get(v.voucher_slug))]
    return [(v, kind) for v, kind in pairs if kind.kind == "companion" and kind.booking_kind != "cash"]


def add_cuts(
    held: Held, wish: TripWish, sides: Sequence[Sequence[PlanSeat[AwardOption]]]
) -> list[list[PlanSeat[AwardOption]]]:
    """The seats of each flight, and again those that a voucher makes cheaper: it may be wanted for another trip.

    A voucher is for one booking there and back: of a trip over several places the first flight, and the one home.
    """
    ends = {0, len(sides) - 1} if wish.goes_home else {0}
    return [[*seats, *(_list_cut(held, wish, seats) if at in ends else ())] for at, seats in enumerate(sides)]


def _list_cut(held: Held, wish: TripWish, seats: Sequence[PlanSeat[AwardOption]]) -> list[PlanSeat[AwardOption]]:
    cut_seats = []
    for seat in seats:
        use = _build_use(wish, seat, seat.day, seat.day)
        cuts = (VoucherCut(v.id, kind.name, count_points_off(kind, v.expires_on, use)) for v, kind in held)
        if cut := next((cut for cut in cuts if cut.points), None):
            cut_seats.append(replace(seat, points=seat.points - cut.points, cut=cut))
    return cut_seats


def list_companions(held: Held, wish: TripWish, journeys: Sequence[Journey[AwardOption]]) -> list[list[str]]:
    """Of each journey the vouchers that are counted, and those that nothing known stands against.

    What one of the latter takes off is known in words alone: they are quoted, and counted by the person.
    """
    return [
        [
            f"{sentence}: {kind.what_it_does}."
            for voucher, kind in held
            if (sentence := _describe_companion(wish, journey, voucher, kind))
        ]
        for journey in journeys
    ]


def _describe_companion(
    wish: TripWish, journey: Journey[AwardOption], voucher: Voucher, kind: VoucherType
) -> str | None:
    if cut := sum(cut.points for cut in journey.cuts if cut.voucher_id == voucher.id):
        return f"The sums count your {kind.name}, {cut:,} points less"
    ends = journey.out.day, journey.seats[-1].day
    uses = [_build_use(wish, seat, *ends) for seat in journey.seats if seat.program == kind.program]
    is_free = not any(seat.cut for seat in journey.seats if seat.program == kind.program)
    if not uses or not is_free or wish.passengers < 2:
        return None
    fits = not any(judge_use(kind, voucher.expires_on, use, str).clashes for use in uses)
    return f"Your {kind.name} fits, which the sums do not count" if fits else None


def _build_use(wish: TripWish, seat: PlanSeat[AwardOption], starts: date, ends: date) -> Use:
    return Use(
        what="flight",
        starts=starts,
        ends=ends,
        program=seat.program,
        airline=seat.offer.airline,
        cabin=wish.cabin,
        people=wish.passengers,
        points=seat.offer.points,
    )
