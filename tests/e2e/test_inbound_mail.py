"""A confirmation forwarded by mail to the running service becomes a booking, with nothing but its own programs."""

import smtplib

from tests.e2e.conftest import Call
from tests.shared.domain.confirmations.mails import data, flight, mail
from tests.support.service import Service, wait_for


def test_a_forwarded_confirmation_becomes_a_booking(service: Service, call: Call) -> None:
    address = call("get_booking_inbox")["address"]
    host, port = service.facts["inbound_smtp"].split(":")
    raw = mail(page=data(flight("E2E123")), subject="Fwd: your flight", sender=service.person("traveller"))
    with smtplib.SMTP(host, int(port), timeout=90) as client:
        client.sendmail("me@example.test", [address], raw)

    def imported() -> list[object]:
        return list(call("list_inbox_messages", state="imported")["messages"])

    (message,) = wait_for("the import", imported)
    booking = call("get_flight_booking", booking_id=message["flight_booking_ids"][0])["booking"]
    assert (booking["flight_number"], booking["confirmation_number"]) == ("BA117", "E2E123")
