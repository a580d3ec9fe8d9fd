"""PDFs, pictures and wallet passes attached to a mail are read in bounds, and what is not read is named with why."""

import io
import random
import zipfile
import zlib

import pytest
from PIL import Image

from shared.domain.confirmations import attached_files
from tests.shared.domain.confirmations.attachments import (
    BOARDING_PASS,
    attach,
    barcode,
    flight_pass,
    letter,
    pdf,
    png,
    wallet,
)
from tests.shared.domain.confirmations.mails import data, first, flight, mail, read

TICKET = ("Booking reference: X7Y8Z9", "BA285  LHR-SFO  4 May 2027  11:20 14:10", "Economy", "Total: GBP 450.00")
WHOLE = {"flight_number": "BA285", "origin": "LHR", "destination": "SFO", "departure_date": "2027-05-04"}


def unread(raw: bytes) -> list[tuple[str, str]]:
    return [(u.name, u.reason) for u in read(raw).unread]


@pytest.mark.slow  # starts the process that reads files
@pytest.mark.parametrize(
    ("kind", "name"), [("application/pdf", "e"), ("application/octet-stream", "ticket.PDF"), ("image/tiff", "t.pdf")]
)
def test_a_ticket_in_a_pdf_is_read(kind: str, name: str) -> None:
    raw = letter(pdf(*TICKET), kind, name)
    assert first(raw) == first(raw) | WHOLE | {"confirmation_number": "X7Y8Z9", "cabin_class": "economy"}
    assert (read(raw).missing, read(raw).unread) == ([], [])


def test_a_pdf_without_a_name_is_known_by_its_first_bytes() -> None:
    raw = letter(pdf(*TICKET), "application/octet-stream", "file")
    assert first(raw)["flight_number"] == "BA285"


def test_a_pdf_tells_what_the_letter_around_it_leaves_out() -> None:
    text = "Booking reference: X7Y8Z9\nBA285 on 4 May 2027\n"
    assert first(mail(text)).get("origin") is None
    raw = attach(mail(text), pdf(*TICKET), "application/pdf", "ticket.pdf")
    assert first(raw) == first(raw) | WHOLE | {"departure_time": "11:20"}
    assert len(read(raw).bookings) == 1


@pytest.mark.parametrize("form", ["Aztec", "PDF417", "QRCode"])
def test_a_boarding_pass_in_a_picture_is_read(form: str) -> None:
    raw = attach(
        mail("Your pass.").replace(b"03 Feb 2026", b"03 May 2027"), png(barcode(form=form)), "image/png", "b.png"
    )
    expected = {
        "confirmation_number": "K9XY2Z", "flight_number": "BA117", "origin": "LHR", "destination": "JFK",
        "departure_date": "2027-05-04", "cabin_class": "business", "passengers": 1,
    }  # fmt: skip
    assert first(raw) == first(raw) | expected


def test_a_barcode_printed_in_a_pdf_is_read() -> None:
    raw = letter(pdf("Have a good flight", picture=barcode()), "application/pdf", "pass.pdf")
    assert first(raw.replace(b"03 Feb 2026", b"03 May 2027"))["departure_date"] == "2027-05-04"


def test_a_wallet_pass_tells_its_flight_and_the_year_of_it() -> None:
    raw = letter(wallet(flight_pass()), "application/vnd.apple.pkpass", "p.pkpass")
    assert first(raw) == first(raw) | {
        "flight_number": "BA117",
        "departure_date": "2027-05-04",
        "cabin_class": "business",
    }
    assert "departure_time" not in first(raw)  # boarding is at 07:40
    assert read(raw).missing == ["kind"]  # a boarding pass names no price


def test_a_wallet_pass_without_a_known_barcode_is_read_by_its_fields_in_their_language() -> None:
    fields = {
        "auxiliaryFields": [
            {"key": "flight", "label": "flight_label", "value": "BA117"},
            {"key": "date", "label": "date_label", "value": "4 May 2027"},
            {"key": "pnr", "label": "pnr_label", "value": "K9XY2Z"},
        ]
    }
    strings = '"pnr_label" = "Booking reference";\n"date_label" = "Date";'.encode("utf-16")
    content = wallet(flight_pass(barcode={}, fields=fields), en__strings=strings)
    raw = letter(content, "application/octet-stream", "p.pkpass")
    assert first(raw) == first(raw) | {"flight_number": "BA117", "origin": "LHR", "confirmation_number": "K9XY2Z"}


def test_a_pass_of_a_railway_is_no_flight() -> None:
    content = wallet(flight_pass(fields={"transitType": "PKTransitTypeTrain"}))
    assert read(letter(content, "application/vnd.apple.pkpass", "p.pkpass")).bookings == []


def _damage(content: bytes) -> bytes:
    return content[: len(content) // 3] + b"\0" * 200


def _bomb() -> bytes:
    """A page of 500 MB of blanks, packed to half a megabyte."""
    packer = zlib.compressobj(9)
    stream = b"".join([packer.compress(b" " * (1 << 20)) for _ in range(500)]) + packer.flush()
    head = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    page = b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>endobj "
    body = b"4 0 obj<</Filter/FlateDecode/Length %d>>stream\n" % len(stream)
    return head + page + body + stream + b"\nendstream endobj trailer<</Root 1 0 R>>"


@pytest.mark.slow  # starts the process that reads files
@pytest.mark.parametrize(
    ("content", "kind", "name", "reason"),
    [
        (pdf("x", password="secret"), "application/pdf", "a.pdf", "it is locked with a password"),
        (b"%PDF-1.7", "application/pdf", "a.pdf", "it is damaged"),
        (_damage(pdf(*TICKET)), "application/pdf", "a.pdf", "it is damaged"),
        (pdf(), "application/pdf", "a.pdf", "it holds pictures without text"),
        (png(Image.new("L", (300, 300), 255)), "image/png", "boarding.png", "no barcode was found in it"),
        (png(Image.new("1", (5000, 5000))), "image/png", "boarding.png", "it is damaged"),
        (b"x", "application/ms-tnef", "winmail.dat", "files of its kind are not read"),
        (b"x", "application/msword", "trip.doc", "files of its kind are not read"),
        (b"PK", "application/vnd.apple.pkpass", "p.pkpass", "it is damaged"),
        (wallet(b'{"a":' + b"1" * 400_000), "application/vnd.apple.pkpass", "p.pkpass", "it is too large"),
        (b"%PDF-" + b"x" * (5 << 20), "application/pdf", "a.pdf", "it is too large"),
    ],
    ids=["locked", "head", "cut", "blank", "blank picture", "huge picture", "tnef", "word", "no zip", "long", "big"],
)  # fmt: skip
def test_what_is_not_read_is_named_with_its_reason(content: bytes, kind: str, name: str, reason: str) -> None:
    raw = letter(content, kind, name)
    assert unread(raw) == [(name, reason)]
    assert read(raw).missing == ["attached_file_not_read"]
    whole = attach(mail(page=data(flight()), text="x"), content, kind, name)
    assert (read(whole).missing, unread(whole)) == ([], [(name, reason)])


def test_a_file_that_was_read_and_holds_no_booking_is_named_where_nothing_else_does() -> None:
    raw = letter(pdf("Terms and conditions of carriage"), "application/pdf", "terms.pdf")
    assert unread(raw) == [("terms.pdf", "no flight and no stay was recognised in it")]
    assert unread(attach(mail(page=data(flight()), text="x"), pdf("Terms"), "application/pdf", "terms.pdf")) == []


def _many_pages() -> bytes:
    kids = b" ".join(b"%d 0 R" % n for n in range(3, 20_003))
    pages = b"".join(b"%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj " % n for n in range(3, 20_003))
    head = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids["
    return head + kids + b"]/Count 20000>>endobj " + pages + b"trailer<</Root 1 0 R>>"


def _ring() -> bytes:
    """Pages whose parent is their child."""
    head = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 9>>endobj "
    return head + b"trailer<</Root 1 0 R/Prev 9>>"


HOSTILE_FILES = {
    "half a gigabyte of blanks": _bomb,
    "twenty thousand pages": _many_pages,
    "pages in a ring": _ring,
    "brackets": lambda: b"%PDF-1.4\n" + b"<<[" * 300_000,
    "noise": lambda: b"%PDF-1.4\n" + random.Random(3).randbytes(3 << 20),
}


@pytest.mark.slow  # the child works until its memory or its time is used up
@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_is_left_unread(name: str) -> None:
    raw = letter(HOSTILE_FILES[name](), "application/pdf", "a.pdf")
    assert len(unread(raw)) == 1
    assert read(raw).bookings == []


def test_a_file_that_takes_too_long_is_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attached_files, "DEADLINE_SECONDS", 0.01)
    assert unread(letter(pdf(*TICKET), "application/pdf", "a.pdf"))[0][1] == "reading it takes too long"


@pytest.mark.parametrize(
    ("bound", "value", "reason"),
    [
        ("MAX_UNPACKED_BYTES", 100, "the files before it were too large"),
        ("PROCESSOR_SECONDS", 0.01, "the time for attached files had run out"),
    ],
)
def test_all_files_of_a_letter_share_one_budget(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: float, reason: str
) -> None:
    raw, spent = mail(page=data(flight()), text="x"), ["", "it is too large once it is unpacked"]
    for n in range(3):
        raw = attach(raw, pdf(*TICKET), "application/pdf", f"{n}.pdf")
    monkeypatch.setattr(attached_files, bound, value)
    reasons = dict(unread(raw))
    assert reasons.pop("0.pdf", "") in spent
    assert reasons == {"1.pdf": reason, "2.pdf": reason}


def test_only_so_many_files_are_read() -> None:
    raw = mail(page=data(flight()), text="x")
    for n in range(8):
        raw = attach(raw, b"\x89PNG\r\n", "application/octet-stream", f"{n}.png")
    assert [u for u in unread(raw) if "only 6" in u[1]] == [
        (f"{n}.png", "only 6 files of a letter are read") for n in (6, 7)
    ]


def test_an_archive_of_too_many_files_is_no_pass() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for n in range(300):
            archive.writestr(str(n), b"")
    with pytest.raises(attached_files.PassUnread, match="too many files"):
        attached_files.read_pass(out.getvalue())


def test_a_pass_of_another_shape_breaks_nothing() -> None:
    for document in ([], 7, {"boardingPass": {"primaryFields": [3, None]}}, {"barcode": BOARDING_PASS, "generic": {}}):
        assert read(letter(wallet(document), "application/vnd.apple.pkpass", "p.pkpass")).bookings == []


def test_an_attached_ticket_of_one_traveller_does_not_count_those_of_the_letter() -> None:
    text = "\n".join([*TICKET, "Passengers: 2"])
    raw = attach(mail(text), pdf(*TICKET, "Passenger: Mr Alex Example"), "application/pdf", "ticket.pdf")
    assert (first(raw)["passengers"], read(raw).missing) == (2, [])


@pytest.mark.slow  # starts the process that reads files
def test_parts_beyond_those_that_are_read_are_named() -> None:
    raw = mail(page=data(flight()), text="x")
    for n in range(70):
        raw = attach(raw, b"x", "application/x-unknown", f"{n}.bin")
    assert unread(raw) == [("further parts", "the letter has more parts than are read")]


def _timed_pass(value: str, **more: object) -> bytes:
    document = flight_pass()
    fields = document["boardingPass"]["auxiliaryFields"]
    fields[:] = [f for f in fields if f["key"] != "date"]
    fields.append({"key": "dep", "label": "DEPARTS", "value": value, "dateStyle": "PKDateStyleShort"} | more)
    document = {name: value for name, value in document.items() if not name.startswith("barcode")}
    return letter(wallet(document), "application/vnd.apple.pkpass", "p.pkpass")


@pytest.mark.parametrize(
    ("value", "more", "day", "clock"),
    [
        ("2027-05-04T07:25:00Z", {}, "2027-05-04", "08:25"),
        ("2027-05-04T07:25Z", {}, "2027-05-04", "08:25"),
        ("2027-05-04T07:25:00+00:00", {}, "2027-05-04", "08:25"),
        ("2027-05-04T23:25:00Z", {}, "2027-05-05", "00:25"),
        ("2027-05-04T08:25:00+01:00", {}, "2027-05-04", "08:25"),
        ("2027-05-04T08:25:00Z", {"ignoresTimeZone": True}, "2027-05-04", "08:25"),
    ],
)
def test_a_moment_of_a_pass_is_on_the_clock_of_the_airport(
    value: str, more: dict[str, bool], day: str, clock: str
) -> None:
    record = first(_timed_pass(value, **more))
    assert (record["departure_date"], record["departure_time"]) == (day, clock)


@pytest.mark.parametrize(
    "more", [{"voided": True}, {"expirationDate": "2025-11-01T00:00:00Z"}, {"expirationDate": "2027-05-01T00:00Z"}]
)
def test_a_pass_that_is_void_or_has_ended_proves_no_booking(more: dict[str, object]) -> None:
    raw = letter(wallet(flight_pass(**more)), "application/vnd.apple.pkpass", "p.pkpass")
    assert "not_confirmed" in read(raw).missing
    whole = letter(wallet(flight_pass()), "application/vnd.apple.pkpass", "p.pkpass")
    assert "not_confirmed" not in read(whole).missing
