"""The life of an offer: from when it is known to run, and until when it counts."""

from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from shared.domain.offers import MAX_AGE, find_known_start, find_state

SEEN = date(2026, 6, 8)


@dataclass(frozen=True)
class Offer:
    as_of: str | None = "2026-06-08"
    valid_from: date | None = None
    valid_to: date | None = None


@pytest.mark.parametrize(
    ("offer", "today", "state"),
    [
        (Offer(), SEEN + MAX_AGE, "seen"),
        (Offer(), SEEN + MAX_AGE + timedelta(days=1), "past"),
        (Offer(as_of="2026-06"), date(2026, 7, 31), "seen"),
        (Offer(as_of=None), SEEN, "past"),
        (Offer(valid_to=date(2027, 1, 13)), date(2027, 1, 13), "running"),
        (Offer(valid_to=date(2027, 1, 13)), date(2027, 1, 14), "past"),
    ],
)
def test_an_offer_counts_until_its_last_day_or_for_sixty_days(offer: Offer, today: date, state: str) -> None:
    assert timedelta(days=60) == MAX_AGE
    assert find_state(offer, today) == state


def test_an_unknown_first_day_is_never_before_the_source_had_the_offer() -> None:
    assert find_known_start(Offer(valid_from=date(2026, 6, 1))) == date(2026, 6, 1)
    assert find_known_start(Offer()) == SEEN
    assert find_known_start(Offer(valid_to=date(2026, 5, 31))) == date(2026, 5, 31)  # a list of what is over
    assert find_known_start(Offer(as_of=None)) is None
