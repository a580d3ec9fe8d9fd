"""Mails for the tests, as the bytes a mail program would send."""

import json
from email.message import EmailMessage
from typing import Any

from shared.domain.confirmations.mail_reader import read_mail
from shared.domain.confirmations.model import MailReading, to_json
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames

POSTED = "Tue, 03 Feb 2026 09:00:00 +0000"


def mail(
    text: str | None = None,
    *,
    page: str | None = None,
    subject: str = "Booking confirmation",
    sender: str = "Airline <no-reply@airline.test>",
    id: str = "one@airline.test",
) -> bytes:
    result = EmailMessage()
    result["From"], result["Subject"], result["Date"], result["Message-ID"] = sender, subject, POSTED, f"<{id}>"
    if text is not None:
        result.set_content(text)
    if page is not None and text is not None:
        result.add_alternative(page, subtype="html")
    elif page is not None:
        result.set_content(page, subtype="html")
    return result.as_bytes()


def data(*documents: Any) -> str:
    """A page that carries schema.org data and shows nothing of it."""
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(d)}</script>' for d in documents)
    return f"<html><head>{scripts}</head><body><p>See you soon</p></body></html>"


def flight(number: str = "AB12CD", **more: Any) -> dict[str, Any]:
    """A complete FlightReservation; keyword arguments replace fields of it. Another departure has no arrival."""
    other = more.pop("leg", {})
    leg = {
        "@type": "Flight",
        "flightNumber": "117",
        "airline": {"@type": "Airline", "name": "British Airways", "iataCode": "BA"},
        "departureAirport": {"@type": "Airport", "iataCode": "LHR"},
        "arrivalAirport": {"@type": "Airport", "iataCode": "JFK"},
        "departureTime": "2027-05-04T08:25:00+01:00",
        "arrivalTime": "2027-05-04T11:15:00-04:00",
    }
    if "departureTime" in other:
        del leg["arrivalTime"]
    result = {
        "@context": "http://schema.org",
        "@type": "FlightReservation",
        "reservationNumber": number,
        "reservationStatus": "http://schema.org/ReservationConfirmed",
        "underName": {"@type": "Person", "name": "Alex Example"},
        "airplaneSeatClass": {"@type": "AirplaneSeatClass", "name": "Business"},
        "totalPrice": "1250.00",
        "priceCurrency": "GBP",
        "reservationFor": leg | other,
    }
    return result | more


def stay(number: str = "H-1", name: str = "Conrad Tokyo", **more: Any) -> dict[str, Any]:
    result = {
        "@context": "http://schema.org",
        "@type": "LodgingReservation",
        "reservationNumber": number,
        "reservationStatus": "http://schema.org/ReservationConfirmed",
        "reservationFor": {"@type": "Hotel", "name": name},
        "checkinDate": "2027-10-02T15:00:00+09:00",
        "checkoutDate": "2027-10-05T12:00:00+09:00",
        "totalPrice": "186000",
        "priceCurrency": "JPY",
    }
    return result | more


def read(raw: bytes) -> MailReading:
    return read_mail(raw, TravelNames(reference()))


def first(raw: bytes) -> dict[str, Any]:
    """The first booking of a mail, as it is kept."""
    return to_json(read(raw).bookings[0])
