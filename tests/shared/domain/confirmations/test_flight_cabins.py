"""The cabin printed once for a journey of several flights."""

from datetime import date

from shared.domain.confirmations.flights import share_cabins
from shared.domain.confirmations.model import BookedLeg


def _make_leg(origin: str, destination: str, day: int, cabin: str | None) -> BookedLeg:
    return BookedLeg(
        origin=origin, destination=destination, departure_date=date(2027, 3, day), arrival_date=None, cabin_class=cabin
    )


def test_the_cabin_behind_each_of_two_journeys_is_of_all_their_flights() -> None:
    legs = [_make_leg("VLC", "MAD", 10, None), _make_leg("MAD", "BOG", 10, "business")]
    legs += [_make_leg("BOG", "MAD", 26, None), _make_leg("MAD", "VLC", 27, "economy")]
    assert [leg.cabin_class for leg in share_cabins(legs)] == ["business", "business", "economy", "economy"]


def test_one_journey_alone_or_cabins_at_different_ends_leave_it_open() -> None:
    one = [_make_leg("VLC", "MAD", 10, None), _make_leg("MAD", "BOG", 10, "business")]
    assert share_cabins(one) == one
    both = [*one, _make_leg("BOG", "MAD", 26, "business"), _make_leg("MAD", "VLC", 27, None)]
    assert share_cabins(both) == both
