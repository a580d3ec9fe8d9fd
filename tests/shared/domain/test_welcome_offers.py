"""Welcome offers: which count on a day, which are history, and how both are told."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from shared.domain.welcome_offers import (
    describe_age,
    describe_ages,
    describe_past,
    describe_terms,
    pick_offer,
)

SEEN = date(2026, 6, 8)


@dataclass(frozen=True)
class Offer:
    amount: int | None = 60_000
    spend: Decimal | None = Decimal(4_000)
    months: int | None = 3
    is_maximum: bool = False
    extra: str | None = None
    as_of: str | None = "2026-06-08"
    valid_from: date | None = None
    valid_to: date | None = None


def test_the_offer_that_counts_is_preferred_to_a_later_one_that_ended() -> None:
    standing, ended = Offer(), Offer(amount=90_000, as_of="2026-07-01", valid_to=date(2026, 7, 15))
    assert pick_offer([ended, standing], date(2026, 8, 1)) is standing
    assert pick_offer([ended, standing], date(2027, 11, 22)) is ended  # of the past the latest
    assert pick_offer([Offer(valid_from=date(2027, 1, 1))], date(2026, 11, 22)) is None


def test_terms_and_age_are_told_in_one_sentence() -> None:
    assert describe_terms(Offer(), "miles", "USD") == "60,000 miles for 4,000 USD within 3 months"
    nights = Offer(amount=None, extra="3 Free Night Awards", is_maximum=True, months=1)
    assert describe_terms(nights, "points", "USD") == "3 Free Night Awards for 4,000 USD within 1 month"
    more = Offer(extra="and a Free Night Reward", is_maximum=True)
    assert describe_terms(more, "points", "USD").startswith("up to 60,000 points for 4,000 USD")
    assert describe_age(Offer()) == "as seen on 8 Jun 2026"
    assert describe_age(Offer(as_of="2026-05")) == "as seen in May 2026"
    assert describe_age(Offer(valid_to=date(2027, 1, 13))) == "until 13 Jan 2027, as seen on 8 Jun 2026"


def test_the_past_is_told_as_the_past() -> None:
    assert describe_past(Offer(), "miles", "USD").endswith("is history (seen on 8 Jun 2026).")
    assert describe_past(Offer(valid_to=SEEN), "miles", "USD").startswith("This offer has ended on 8 Jun 2026: ")
    assert describe_ages([Offer(), Offer(as_of="2026-09-30")]) == (
        "Welcome offers as seen on 8 Jun 2026 to 30 Sep 2026; they change often."
    )
    assert describe_ages([Offer(as_of=None)]) == ""
