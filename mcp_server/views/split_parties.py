"""What a party can do where no flight has seats for all of it."""

from collections.abc import Sequence

from mcp_server.toolkit.wording import airline_name, join_names
from shared.domain.dates import format_weekday
from shared.domain.party_prices import describe_party
from shared.domain.plurals import pluralize
from shared.providers.contract import AwardSeat
from shared.reference.reference import Reference


def describe_parts(reference: Reference, parts: Sequence[AwardSeat], passengers: int) -> list[str]:
    """`In two bookings all four fit on Fri 9 Apr 2027: 2 seats with United Airlines and 2 seats with Swiss.`

    Where even that is not so, the largest part; empty without any seat.
    """
    if not parts:
        return []
    day = format_weekday(parts[0].date)
    seats = [f"{pluralize(s.seats or 0, 'seat')} with {airline_name(reference, s.airline)}" for s in parts]
    if len(parts) > 1:
        bookings, everybody = describe_party(len(parts)), describe_party(passengers)
        return [f"In {bookings} bookings all {everybody} fit on {day}: {join_names(seats)}."]
    others = passengers - (parts[0].seats or 0)
    rest = "the other needs" if others == 1 else f"the other {describe_party(others)} need"
    return [f"Most together are {seats[0]} on {day}; {rest} another day, cabin or a cash fare."]
