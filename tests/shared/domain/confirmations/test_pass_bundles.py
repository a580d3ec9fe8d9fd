"""Bundles of wallet passes, and passes as careless programs write them."""

import io
import json
import zipfile

import pytest

from shared.domain.confirmations.model import BookedLeg
from tests.shared.domain.confirmations.attachments import flight_pass, letter, wallet
from tests.shared.domain.confirmations.mails import mail, read

PASS = wallet(flight_pass())


def bundle(*passes: bytes, name: str = "pass") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(passes):
            archive.writestr(f"{name}{number}.pkpass", content)
    return out.getvalue()


def read_bundle(content: bytes) -> tuple[list[str | None], list[str]]:
    reading = read(letter(content, "application/vnd.apple.pkpasses", "trip.pkpasses"))
    flights = [b.flight_number for b in reading.bookings if isinstance(b, BookedLeg)]
    return flights, [file.reason for file in reading.unread]


def test_the_passes_of_a_bundle_are_read() -> None:
    """The same pass twice, as for two travellers, is one flight."""
    flights, unread = read_bundle(bundle(PASS, PASS))
    assert (flights, unread) == (["BA117"], [])


def test_the_reason_is_told_of_a_bundle_that_is_not_read() -> None:
    damaged = bytearray(bundle(PASS))
    damaged[60:200] = bytes(140)
    reasons = {
        "it holds no pass": _empty(),
        "it holds more than 6 passes": bundle(*[PASS] * 7),
        "it is too large once it is unpacked": bundle(bytes(5 << 20)),
        "it is damaged": bytes(damaged),
    }
    assert {reason: read_bundle(content)[1][:1] for reason, content in reasons.items()} == {
        reason: [reason] for reason in reasons
    }


def _empty() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    return out.getvalue()


@pytest.mark.parametrize("tail", [",}", " , }", ",\n}"])
def test_a_comma_too_many_is_forgiven_where_it_stands_in_no_text(tail: str) -> None:
    document = flight_pass() | {"description": "Boarding pass, }"}
    text = (json.dumps(document)[:-1] + tail).encode()
    reading = read(letter(wallet(text), "application/vnd.apple.pkpass", "pass.pkpass"))
    assert [b.flight_number for b in reading.bookings if isinstance(b, BookedLeg)] == ["BA117"]


def test_a_flight_behind_a_word_that_no_list_has_is_a_flight_and_no_stay() -> None:
    letter_of = (
        "Your booking is confirmed.\nBooking reference: HXTKDX\n\n{} AA 1474\nDeparture: San Francisco (SFO) 19 July"
        " 2026 04:01\nArrival: Boston (BOS) 19 July 2026 13:19\nEconomy\n\nTotal price: EUR 475.71\n"
    )
    words = ("Lot", "Rejs:", "Рейс", "항공편", "Penerbangan", "Lento")
    readings = {word: read(mail(letter_of.format(word))) for word in words}
    found = {word: [getattr(b, "flight_number", b.type) for b in r.bookings] for word, r in readings.items()}
    assert found == {word: ["AA1474"] for word in words}
