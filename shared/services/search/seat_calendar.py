"""The seat calendar: which days of a window have award seats of one airline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain.award_matches import SeatsKnown, judge_seats
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, SeatsQuestion
from shared.services.search.availability import find_parts, read
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness


@dataclass(frozen=True)
class DaySeats:
    """The seats of a day by cabin. `none` means that every source asked answered and nothing is open."""

    date: date
    state: SeatsKnown
    cabins: dict[str, list[AwardSeat]]


@dataclass(frozen=True)
class Month:
    days: list[DaySeats]
    coverage: Coverage
    freshness: Freshness
    parts: Sequence[AwardSeat]  # where no day has seats for all of the party


def _days(question: SeatsQuestion) -> Iterator[date]:
    for ahead in range((question.latest - question.earliest).days + 1):
        yield question.earliest + timedelta(days=ahead)


async def search_month(
    ask: Ask, questions: Sequence[SeatsQuestion], on_sale_until: date, cabins: Sequence[str], passengers: int
) -> Month:
    """Every day of the questions, which are of the same days, in order. Raises as `availability.read` does.

    A day without a seat is `unknown` if a source that was asked did not answer, since it may have one, and if
    the day is not on sale yet. An unstated number of seats counts as enough.
    """
    readings = await read(ask, questions)
    sources = coverage(readings)
    open_days: dict[date, dict[str, list[AwardSeat]]] = {}
    for reading in readings:
        for seat in reading.value or ():
            if seat.cabin in cabins and (seat.seats is None or seat.seats >= passengers):
                open_days.setdefault(seat.date, {}).setdefault(seat.cabin, []).append(seat)

    def state(day: date) -> SeatsKnown:
        return judge_seats(day in open_days, answered=not sources.failed, on_sale=day <= on_sale_until)

    def order_by_cabin(day: date) -> dict[str, list[AwardSeat]]:
        return {cabin: open_days[day][cabin] for cabin in cabins if cabin in open_days.get(day, {})}

    days = [DaySeats(day, state(day), order_by_cabin(day)) for day in _days(questions[0])]
    parts = () if open_days else find_parts(readings, cabins, passengers)
    return Month(days, sources, freshness(readings), parts)
