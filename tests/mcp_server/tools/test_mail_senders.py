"""Who sent a mail decides what it does by itself: own addresses, airlines, strangers, and forgeries of each."""

from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.forwarding_addresses import ForwardingAddress
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_inbound_mail import arrive, messages
from tests.shared.domain.confirmations.mails import data, flight, mail
from tests.support.people import People
from tests.support.settings_and_clock import Configure
from tests.support.signed_mails import confirm_account, seal, sign

STRANGER = "Booking <booking@elsewhere.test>"
OWN = "Alice <alice@example.test>"
BA = "British Airways <no-reply@info.ba.com>"


def write(sender: str, *, id: str = "one", **more: Any) -> bytes:
    return mail(page=data(flight(**more)), sender=sender, id=f"{id}@a.test")


def cancel(sender: str, *, id: str = "two") -> bytes:
    return write(sender, id=id, reservationStatus="http://schema.org/ReservationCancelled")


def change(sender: str, *, id: str = "three") -> bytes:
    text = "Your flight has changed.\nBooking reference: AB12CD\nBA117 London (LHR) 09:10 - New York (JFK) 12:00"
    return mail(f"{text}  4 May 2027\n", sender=sender, id=f"{id}@a.test")


def receive(use: Use, caller: Caller, raw: bytes) -> dict[str, Any]:
    """The newest message once the mail came as it is."""
    confirm_account(caller.account_id)
    arrive(use, caller, raw, forwarded=False)
    return messages(use, caller)[0]


def legs(use: Use, caller: Caller) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = use(caller, "list_flight_bookings", when="all")["bookings"]
    return listed


def import_message(use: Use, caller: Caller, message: dict[str, Any]) -> dict[str, Any]:
    return use(caller, "resolve_inbox_message", message_id=message["message_id"], action="import")


def test_a_stranger_files_nothing_until_a_person_imports_it(people: People, use: Use) -> None:
    message = receive(use, people.alice, write(STRANGER))
    assert (message["state"], message["missing"]) == ("needs_review", ["sender"])
    assert (message["sender"], message["sender_verified"]) == ("booking@elsewhere.test", False)
    assert message["review"][0]["reason"].startswith("It came from booking@elsewhere.test, which we do not know.")
    assert legs(use, people.alice) == []
    body = use(people.alice, "list_notifications")["notifications"][0]["body"]
    assert "It is not certain who sent it, so a person has to look at it." in body
    assert "elsewhere" not in body
    imported = import_message(use, people.alice, message)
    assert (imported["status"], imported["missing"]) == ("ok", [])
    assert [b["confirmation_number"] for b in legs(use, people.alice)] == ["AB12CD"]


def test_a_cancellation_or_change_from_a_stranger_never_acts_by_itself(people: People, use: Use) -> None:
    receive(use, people.alice, sign(write(OWN), "example.test"))
    before = legs(use, people.alice)
    for raw in (cancel(STRANGER), sign(cancel(STRANGER, id="four"), "elsewhere.test"), change(STRANGER)):
        message = receive(use, people.alice, raw)
        assert (message["state"], message["missing"][0]) == ("needs_review", "sender")
    assert legs(use, people.alice) == before
    waiting = messages(use, people.alice, "needs_review")
    import_message(use, people.alice, waiting[-1])
    assert [b["state"] for b in legs(use, people.alice)] == ["cancelled"]


def test_ones_own_unsigned_mail_files_what_is_new_and_nothing_else(people: People, use: Use) -> None:
    message = receive(use, people.alice, write(OWN))
    assert (message["state"], message["sender_verified"]) == ("imported", False)
    before = legs(use, people.alice)
    for raw in (cancel(OWN), change(OWN)):
        message = receive(use, people.alice, raw)
        assert (message["state"], message["missing"]) == ("needs_review", ["sender"])
        assert "it changes no stored booking by itself" in message["review"][0]["reason"]
    assert legs(use, people.alice) == before
    again = receive(use, people.alice, write(OWN, id="again"))
    assert again["state"] == "imported"
    assert legs(use, people.alice) == before


def test_ones_own_signed_mail_changes_and_cancels(people: People, use: Use) -> None:
    receive(use, people.alice, sign(write(OWN), "example.test"))
    assert receive(use, people.alice, sign(change(OWN), "example.test"))["state"] == "imported"
    assert [b["departure_time"] for b in legs(use, people.alice)] == ["09:10"]
    message = receive(use, people.alice, sign(cancel(OWN), "example.test"))
    assert (message["state"], message["sender_verified"]) == ("imported", True)
    assert [b["state"] for b in legs(use, people.alice)] == ["cancelled"]


def test_an_unsigned_mail_fills_no_gap_of_a_stored_booking(people: People, use: Use) -> None:
    terms = {"airline": "BA", "origin": "LHR", "destination": "JFK", "departure_date": "2027-05-04"}
    use(people.alice, "add_flight_booking", **terms, cabin_class="business", kind="cash", cash_paid=1250)
    before = legs(use, people.alice)
    message = receive(use, people.alice, write(OWN))
    assert (message["state"], message["missing"]) == ("needs_review", ["sender"])
    assert legs(use, people.alice) == before
    import_message(use, people.alice, message)
    assert [b["confirmation_number"] for b in legs(use, people.alice)] == ["AB12CD"]


def test_an_unsigned_letter_of_a_far_day_does_not_outdate_later_ones(people: People, use: Use) -> None:
    receive(use, people.alice, sign(write(OWN), "example.test"))
    future = write("Bob <bob@example.test>", id="far").replace(b"Tue, 03 Feb 2026", b"Mon, 03 May 2027")
    with transaction(people.alice.account_id) as session:
        session.add(ForwardingAddress(address="bob@example.test", confirmed_at=clock.now()))
    message = receive(use, people.alice, future)
    assert (message["state"], message["missing"]) == ("imported", [])
    receive(use, people.alice, sign(cancel(OWN), "example.test"))
    assert [b["state"] for b in legs(use, people.alice)] == ["cancelled"]


def test_once_ones_mails_are_signed_an_unsigned_or_broken_one_waits(people: People, use: Use) -> None:
    broken = sign(write(OWN), "example.test") + b"More text\n"
    message = receive(use, people.alice, broken)
    assert "its signature does not hold" in message["review"][0]["reason"]
    receive(use, people.alice, sign(write(OWN, id="good", number="GOOD01"), "example.test"))
    message = receive(use, people.alice, write(OWN, id="bare", number="BARE01"))
    assert "it is not signed as your earlier mails were" in message["review"][0]["reason"]
    assert [b["confirmation_number"] for b in legs(use, people.alice)] == ["GOOD01"]


def test_an_airlines_mail_that_is_forwarded_as_it_is_files_and_cancels(people: People, use: Use) -> None:
    assert receive(use, people.alice, sign(write(BA), "ba.com"))["state"] == "imported"
    assert receive(use, people.alice, sign(cancel(BA), "mail.ba.com"))["sender_verified"]
    assert [b["state"] for b in legs(use, people.alice)] == ["cancelled"]


def test_a_forwarder_that_saw_the_airlines_signature_is_believed(people: People, use: Use) -> None:
    results = "dkim=pass header.i=@ba.com header.s=x; dmarc=pass header.from=ba.com"
    assert receive(use, people.alice, seal(write(BA), "google.com", results))["state"] == "imported"
    message = receive(use, people.alice, seal(cancel(BA), "elsewhere.test", results))
    assert (message["state"], message["sender_verified"]) == ("needs_review", False)


@pytest.mark.parametrize(
    "raw",
    [
        write(BA),
        sign(write(BA), "elsewhere.test"),
        sign(write(BA), "ba.com") + b"More text\n",
        sign(write('"no-reply@ba.com" <x@elsewhere.test>'), "elsewhere.test"),
        b"From: x@elsewhere.test\n" + write(OWN),
        write("alice@example.test, x@elsewhere.test"),
        write('"alice@example.test" <x@elsewhere.test>'),
        write("alice@example.test.elsewhere.test"),
        b"Sender: alice@example.test\nReply-To: alice@example.test\n" + write(STRANGER),
    ],
    ids=["bare", "other", "changed", "name", "two headers", "two addresses", "own name", "below", "reply"],
)
def test_a_forged_sender_waits(people: People, use: Use, raw: bytes) -> None:
    message = receive(use, people.alice, raw)
    assert (message["state"], message["missing"], message["sender_verified"]) == ("needs_review", ["sender"], False)
    assert legs(use, people.alice) == []


def test_a_further_address_counts_once_it_is_confirmed(people: People, use: Use) -> None:
    work = "Alice <alice@work.test>"
    with transaction(people.alice.account_id) as session:
        row = ForwardingAddress(address="alice@work.test")
        session.add(row)
    assert receive(use, people.alice, write(work))["state"] == "needs_review"
    with transaction(people.alice.account_id) as session:
        session.get_one(ForwardingAddress, row.id).confirmed_at = clock.now()
    assert receive(use, people.alice, write(work, id="two", number="WORK01"))["state"] == "imported"
    assert receive(use, people.charlie, write(work))["state"] == "needs_review"


def test_without_a_check_of_signatures_ones_own_mail_still_files(
    people: People, use: Use, configure: Configure
) -> None:
    configure(MAIL_SIGNATURES="false")
    assert receive(use, people.alice, write(OWN))["state"] == "imported"
    assert receive(use, people.alice, sign(cancel(OWN), "example.test"))["state"] == "needs_review"
    assert receive(use, people.alice, sign(write(BA, number="BA0001"), "ba.com"))["state"] == "needs_review"


def test_a_mail_of_a_stranger_without_a_booking_is_not_asked_about_twice(people: People, use: Use) -> None:
    message = receive(use, people.alice, mail("Sale!", sender=STRANGER))
    assert (message["state"], message["missing"]) == ("needs_review", [])
