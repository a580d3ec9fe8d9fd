"""A letter is carried out whole or not at all: one that has to be looked at leaves the bookings as they were."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import Caller
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.inbound_mail import InboundMail, store_mail
from shared.db.messages import Notification
from shared.db.runs import Schedule
from shared.db.vouchers import Voucher
from shared.domain.confirmations.model import BookedLeg, BookedStay, Booking, MailReading
from shared.domain.plans import Plan
from shared.domain.senders import Judgement, Trust
from shared.reference.load import reference
from shared.services.bookings import bookings
from shared.services.bookings.inbound_mail import ReadMail, settle
from tests.support.people import account

POSTED = date(2026, 2, 5)
OUT, BACK = date(2027, 5, 4), date(2027, 5, 11)
ARRIVES, LEAVES = date(2027, 10, 2), date(2027, 10, 5)


@pytest.fixture
def alice(clean: None) -> Caller:
    caller = account("alice", Plan.PREMIUM)
    with transaction(caller.account_id) as session:
        _book(session)
    return caller


def _book(session: Session) -> None:
    """A return flight of one number, of which the first leg says when the way back is, and a stay."""
    leg = {"airline": "BA", "cabin_class": "business", "kind": "cash", "cash_paid": 1200, "letter_on": date(2026, 2, 3),
           "confirmation_number": "X7Y8Z9", "origin": "LHR", "destination": "JFK"}  # fmt: skip
    there = leg | {"flight_number": "BA117", "departure_date": OUT, "return_date": BACK}
    back = leg | {"flight_number": "BA178", "departure_date": BACK, "origin": "JFK", "destination": "LHR"}
    for terms in (there, back):
        bookings.add_flight(session, reference(), bookings.leg(reference(), terms))
    stay = {"check_in_date": ARRIVES, "check_out_date": LEAVES, "kind": "cash", "confirmation_number": "H-1",
            "original_pay_rate_usd": 900}  # fmt: skip
    bookings.add_hotel(session, reference(), bookings.build_stay(reference(), "Conrad Tokyo", stay))


def _leg(**stated: Any) -> BookedLeg:
    leg = {"action": "change", "confirmation_number": "X7Y8Z9", "airline": "BA", "flight_number": "BA117",
           "origin": "LHR", "destination": "JFK", "departure_date": OUT}  # fmt: skip
    return BookedLeg(**leg | stated)


def _stay(**stated: Any) -> BookedStay:
    stay = {"action": "change", "confirmation_number": "H-1", "hotel_name": "Conrad Tokyo", "check_in_date": ARRIVES,
            "check_out_date": LEAVES}  # fmt: skip
    return BookedStay(**stay | stated)


def _read_rows(session: Session) -> list[list[tuple[Any, ...]]]:
    """All that filing a letter writes, as the database has it."""
    session.flush()
    tables = [kind.__table__ for kind in (FlightBooking, HotelBooking, Voucher)]
    watches = sa.select(Schedule.subject_id, Schedule.enabled).where(Schedule.kind == "hotel_price")
    statements = [*(sa.select(t).order_by(t.c.id) for t in tables), watches.order_by(Schedule.subject_id)]
    return [[tuple(row) for row in session.execute(statement)] for statement in statements]


def _receive(session: Session, caller: Caller, letter: list[Booking], trust: Trust = Trust.FULL) -> InboundMail:
    """What the run of a mail does with a letter that states these bookings."""
    facts = {"from_domain": "ba.test", "subject": "Your booking", "raw": b""}
    store_mail(session, account_id=caller.account_id, digest="one", **facts)
    mail = session.scalars(sa.select(InboundMail)).one()
    reading = MailReading("text", bookings=letter, posted=POSTED)
    settle(session, mail.number, ReadMail(reading, Judgement(trust, "alice@example.test")))
    return mail


REFUSED: dict[str, tuple[list[Booking], list[str]]] = {
    "a flight past its return": ([_leg(departure_date=date(2027, 5, 20))], ["return_date"]),
    "a stay that ends before it begins": ([_stay(check_in_date=date(2027, 10, 7))], ["check_out_date"]),
    "a change before one that does not hold": (
        [_leg(departure_date=date(2027, 5, 5)), _stay(check_in_date=date(2027, 10, 7))],
        ["check_out_date"],
    ),
    "a leg called off and a changed one that is not known here": (
        [_leg(action="cancel"), _leg(confirmation_number="N3WN3W")],
        ["changed_booking", "cabin_class", "kind"],
    ),
    "a stay called off and a leg to an airport no one knows": (
        [_stay(action="cancel"), _leg(action="create", origin="ZZZ", cabin_class="first", kind="award")],
        ["origin"],
    ),
}


@pytest.mark.parametrize(("letter", "missing"), REFUSED.values(), ids=REFUSED)
def test_a_letter_that_cannot_be_carried_out_changes_nothing(
    alice: Caller, letter: list[Booking], missing: list[str]
) -> None:
    with transaction() as session:
        before = _read_rows(session)
        _receive(session, alice, letter)
    with transaction() as session:
        mail = session.scalars(sa.select(InboundMail)).one()
        (notice,) = session.scalars(sa.select(Notification))
        assert (mail.state, mail.missing) == ("needs_review", missing)
        assert _read_rows(session) == before
    assert notice.title == "A forwarded mail has to be looked at"
    assert notice.body.startswith("Nothing was stored yet.")


_ACTIONS = st.sampled_from(["create", "change", "change", "cancel"])
_NUMBERS = st.sampled_from(["X7Y8Z9", "X7Y8Z9", "H-1", "N3WN3W"])
_DAYS = st.sampled_from([OUT, BACK, date(2027, 5, 20), ARRIVES, LEAVES, date(2027, 10, 7)])
_KINDS = st.sampled_from(["award", "cash", None])
LEGS = st.builds(
    BookedLeg,
    action=_ACTIONS,
    confirmation_number=_NUMBERS,
    airline=st.just("BA"),
    flight_number=st.sampled_from(["BA117", "BA178", "BA285"]),
    origin=st.sampled_from(["LHR", "JFK", "ZZZ"]),
    destination=st.sampled_from(["JFK", "LHR"]),
    departure_date=_DAYS,
    cabin_class=st.sampled_from(["business", "first", None]),
    kind=_KINDS,
    cash_paid=st.sampled_from([None, Decimal(500)]),
    taxes_currency=st.sampled_from(["GBP", None]),
)
STAYS = st.builds(
    BookedStay,
    action=_ACTIONS,
    confirmation_number=_NUMBERS,
    hotel_name=st.sampled_from(["Conrad Tokyo", "The Blue Marmot Lodge"]),
    check_in_date=_DAYS,
    check_out_date=_DAYS,
    kind=_KINDS,
    original_points=st.sampled_from([None, 90_000]),
)


@pytest.mark.slow  # a hundred generated letters
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(letter=st.lists(LEGS | STAYS, min_size=1, max_size=3), trust=st.sampled_from([Trust.FULL, Trust.NEW]))
def test_whatever_a_letter_states_it_is_carried_out_or_leaves_the_bookings_as_they_were(
    alice: Caller, letter: list[Booking], trust: Trust
) -> None:
    with transaction() as session:
        before = _read_rows(session)
        mail = _receive(session, alice, letter, trust)
        after = _read_rows(session)
        notice = session.scalars(sa.select(Notification)).one()
        assert mail.state in ("imported", "needs_review")
        if mail.state == "needs_review":
            assert after == before
            assert notice.body.startswith("Nothing was stored yet.")
        session.rollback()
