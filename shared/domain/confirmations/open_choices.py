"""What a letter leaves open of a booking, with the values it can mean: a person chooses among them."""

from collections.abc import Iterable, Sequence
from datetime import date

from shared.domain.confirmations.airport_mentions import CODE_WAYS, find_codes
from shared.domain.confirmations.flight_lines import split_lines
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedLeg, Booking, Doubt, TravelFacts
from shared.domain.parsing.text import fold

_MOST_CHOICES = 6  # more help no one
_DAYS, _PLACES = ("departure_date", "check_in_date", "check_out_date"), ("origin", "destination")
_WHICH_DAY = "The letter does not settle which day it is."
_WHICH_PLACE = "The letter does not settle which airport it is."


def offer_choices(bookings: Sequence[Booking], bodies: Sequence[str], posted: date | None, world: TravelFacts) -> None:
    """Adds to bookings without a day or an airport the days and the airports that the letter names."""
    lacking = [
        (b, name)
        for b in bookings
        for name in (*_DAYS, *_PLACES)
        if b.action != "cancel" and getattr(b, name, "") is None and name not in {d.field for d in b.doubts}
    ]
    if any(name in _DAYS for _, name in lacking):
        _offer(lacking, _DAYS, _WHICH_DAY, [day.isoformat() for day in _list_days(bodies, posted)])
    if any(name in _PLACES for _, name in lacking):
        lines = [line for body in bodies for line in split_lines(body, changed=False)]
        codes = {code for place in find_codes(lines, CODE_WAYS, world) for code in place.codes} - {"PNR"}
        _offer(lacking, _PLACES, _WHICH_PLACE, sorted(codes))


def _offer(lacking: Iterable[tuple[Booking, str]], names: Sequence[str], reason: str, values: Sequence[str]) -> None:
    if not 1 < len(values) <= _MOST_CHOICES:
        return
    for booking, name in lacking:
        about = booking.flight_number if isinstance(booking, BookedLeg) else booking.hotel_name
        if name in names:
            booking.doubts.append(Doubt(name, reason, tuple(values), about or ""))


def _list_days(bodies: Sequence[str], posted: date | None) -> list[date]:
    """The days a letter names, each in both orders where its numbers leave them open; none that was over by then."""
    days: set[date] = set()
    for folded in map(fold, bodies):
        dates = MailDates(folded, posted)
        days |= {day for line in folded.split("\n") if len(line) < 400 for day in dates.list_possible(line)}
    return sorted(day for day in days if posted is None or day >= posted)
