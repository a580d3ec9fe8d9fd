"""What no flight and no stay can be: times that its airports' clocks exclude, and years far from the letter's."""

from dataclasses import replace
from datetime import date

from shared.domain.confirmations.arrival_days import find_arrival_day
from shared.domain.confirmations.model import BookedLeg, BookedStay, Booking, Doubt, TravelFacts

_DAYS_AHEAD = 760  # flights are sold for a year, stays for two
_DAYS_BEHIND = 760  # of an old letter that someone forwards
_DAYS_BEHIND_DIRECT = 45  # of a letter that comes from its sender, perhaps a receipt
_MOST_NIGHTS = 120


def settle_booking(booking: Booking, posted: date | None, forwarded: bool, world: TravelFacts) -> Booking:
    """The booking with the day of arrival that its clocks allow; what cannot be is open and doubtful."""
    booking = replace(booking, doubts=[*booking.doubts, *_doubt_year(booking, posted, forwarded)])
    return _settle_nights(booking) if isinstance(booking, BookedStay) else _settle_arrival(booking, world)


def doubt_untimed_legs(bookings: list[Booking]) -> None:
    """A letter that gives the clock of some flights gives it of all: where one lacks it, its lines were misread."""
    legs = [b for b in bookings if isinstance(b, BookedLeg) and b.action != "cancel"]
    untimed = [leg for leg in legs if leg.departure_time is None and not _has_doubt(leg)]
    if len(untimed) < len(legs):
        reason = "The letter gives the times of other flights, and those of this one were not recognised."
        for leg in untimed:
            leg.doubts.append(Doubt("departure_time", reason, (), leg.flight_number or ""))


def _has_doubt(leg: BookedLeg) -> bool:
    return any(d.field in ("departure_time", "arrival_time") for d in leg.doubts)


def _doubt_year(booking: Booking, posted: date | None, forwarded: bool) -> list[Doubt]:
    """A doubt about a day that is far from the letter's own."""
    is_flight = isinstance(booking, BookedLeg)
    name, about = ("departure_date", "flight_number") if is_flight else ("check_in_date", "hotel_name")
    day = getattr(booking, name)
    if posted is None or day is None or booking.action == "cancel":
        return []
    behind = _DAYS_BEHIND if forwarded else _DAYS_BEHIND_DIRECT
    if -behind <= (day - posted).days <= _DAYS_AHEAD:
        return []
    reason = "The day is far from the one on which the letter was sent."
    return [Doubt(name, reason, (day.isoformat(),), getattr(booking, about) or "")]


def _settle_nights(stay: BookedStay) -> BookedStay:
    if stay.check_in_date is None or stay.check_out_date is None:
        return stay
    nights = (stay.check_out_date - stay.check_in_date).days
    if 0 < nights <= _MOST_NIGHTS:
        return stay
    values = (stay.check_in_date.isoformat(), stay.check_out_date.isoformat())
    doubt = Doubt("check_out_date", f"That would be {nights} nights.", values, stay.hotel_name or "")
    return replace(stay, check_out_date=None, doubts=[*stay.doubts, doubt])


def _settle_arrival(leg: BookedLeg, world: TravelFacts) -> BookedLeg:
    """Sets the day of arrival: the one stated, unless only another is possible."""
    if not (leg.origin and leg.destination and leg.departure_date and leg.departure_time and leg.arrival_time):
        return leg
    ends, departs = (leg.origin, leg.destination), (leg.departure_date, leg.departure_time)
    flown = find_arrival_day(ends, departs, leg.arrival_time, leg.arrival_date, world)
    is_unsure_day = leg.arrival_date in (None, leg.departure_date)  # many write the day of departure for both ends
    if not flown.possible and is_unsure_day:
        flown = find_arrival_day(ends, departs, leg.arrival_time, None, world)
    if flown.possible:
        return replace(leg, arrival_date=flown.day)
    clock = tuple(at.strftime("%H:%M") for at in (leg.departure_time, leg.arrival_time))
    reason = "The times cannot be those of one flight between these airports."
    doubt = Doubt("arrival_time", reason, clock, leg.flight_number or "")
    doubts = leg.doubts if any(d.field == "arrival_time" for d in leg.doubts) else [*leg.doubts, doubt]
    return replace(leg, departure_time=None, arrival_time=None, arrival_date=None, doubts=doubts)
