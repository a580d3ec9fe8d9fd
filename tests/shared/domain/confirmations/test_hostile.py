"""Mails built to be a burden: each is read or refused and never ends the program that reads it."""

import base64
import random

import pytest

from shared.domain.confirmations.mail_parts import UnreadableMail
from tests.shared.domain.confirmations.mails import data, flight, mail, read

HEAD = b"From: a@b.test\nSubject: x\nMIME-Version: 1.0\n"


def _parts(count: int) -> bytes:
    part = b"--b\nContent-Type: text/plain\n\nhello\n"
    return HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + part * count + b"--b--\n"


def _nest(depth: int) -> bytes:
    out = HEAD
    for n in range(depth):
        out += b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n)
    return out + b"Content-Type: text/plain\n\nhello\n"


def _page(html: bytes) -> bytes:
    return HEAD + b"Content-Type: text/html\n\n" + html


HOSTILE = {
    "ten thousand parts": lambda: _parts(10_000),
    "a hundred levels": lambda: _nest(100),
    "five thousand levels": lambda: _nest(5_000),
    "letters in letters": lambda: HEAD + b"Content-Type: message/rfc822\n\n" * 200 + b"x",
    "null characters": lambda: _page(b"\0" * 100_000),
    "one line of nine million": lambda: HEAD + b"\n" + b"A1 " * 3_000_000,
    "ever more counts of passengers": lambda: HEAD + b"\nFlight LH400 FRA-JFK 4 May 2027\n" + b"Adults: 2\n" * 90_000,
    "a subject of a million": lambda: b"Subject: " + b"=?utf-8?q?" * 100_000 + b"\n\nx",
    "a sender of brackets": lambda: b"From: " + b"(" * 200_000 + b"\n\nx",
    "a type of semicolons": lambda: b"Content-Type: text/plain" + b";" * 500_000 + b"\n\nx",
    "a folded header of ever more lines": lambda: b"X: a\n" + b" ;a=b\n" * 300_000 + b"\nx",
    "unclosed comments": lambda: _page(b"<!--" * 100_000),
    "unclosed declarations": lambda: _page(b"<!a" * 150_000),
    "unclosed sections": lambda: _page(b"<![CDATA[" * 50_000 + b">"),
    "unclosed instructions": lambda: _page(b"<?" * 200_000 + b">"),
    "unclosed tags": lambda: _page(b"<a b='" * 80_000 + b">"),
    "unclosed ends": lambda: _page(b"</" * 200_000 + b">"),
    "half references": lambda: _page(b"&#x" * 150_000 + b"<p>"),
    "unclosed scripts": lambda: _page(b"<script type='application/ld+json'>" * 20_000),
    "deep tags": lambda: _page(b"<div itemscope itemprop=a>" * 30_000),
    "deep items": lambda: _page(b"<div itemscope>" * 40_000),
    "deep properties": lambda: _page(b"<div itemprop=a>" * 40_000),
    "properties in properties": lambda: _page(b"<div itemscope>" + b"<b itemprop=a>x" * 20_000 + b"</b>" * 20_000),
    "unclosed conditions": lambda: _page(b"<![if>" * 100_000),
    "half-closed sections": lambda: _page(b"<![CDATA[" * 100_000 + b"]>"),
    "a section of no known name": lambda: _page(b"<![x[hello]]>"),
    "half a megabyte of open tags": lambda: _page(b"\n".join([b"<div>" * 190] * 601)),
    "deep JSON": lambda: _page(b'<script type="application/ld+json">' + b"[" * 200_000 + b"</script>"),
    "huge number in JSON": lambda: _page(
        b'<script type="application/ld+json">{"@type":"FlightReservation","totalPrice":' + b"9" * 5000 + b"}</script>"
    ),
    "a thousand reservations": lambda: mail(page=data([flight(str(n)) for n in range(1000)])),
    "wrong kinds everywhere": lambda: mail(
        page=data(flight(reservationFor=[1, None, "x", {"airline": 7}], underName=3, airplaneSeatClass=[[]]))
    ),
    "not base64": lambda: HEAD + b"Content-Transfer-Encoding: base64\n\n" + b"\xff\xfe=" * 10_000,
    "a wall of flights": lambda: mail("\n".join(f"BA{n} (LHR) (JFK) 4 May 2027" for n in range(3000))),
    "a wall of digits": lambda: mail("1 " * 300_000),
    "a wall of labels": lambda: mail("confirmation number " * 30_000),
    "nothing": lambda: b"",
    "no headers": lambda: b"\r\n\r\n",
}


@pytest.mark.slow  # some are ten megabytes of malice
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_mail_is_read_or_refused(name: str) -> None:
    raw = HOSTILE[name]()
    try:
        result = read(raw)
    except UnreadableMail:
        result = None
    assert result is None or len(result.bookings) <= 60


def test_what_is_shown_of_a_mail_is_one_short_line_without_control_characters() -> None:
    from shared.domain.confirmations.mail_parts import read_headers

    raw = b"From: \x1b[31mEvil\x07 <a@b.test>\nSubject: =?utf-8?b?" + base64.b64encode(
        "a\r\nBcc: x\x00\u202eb".encode()
    )
    head = read_headers(raw + b"?=\n\nbody")
    assert "\n" not in head.subject
    assert head.subject.isprintable()
    assert len(head.subject) <= 200
    assert head.domain == "b.test"


@pytest.mark.slow  # two hundred damaged mails
def test_a_damaged_mail_never_raises_anything_unforeseen() -> None:
    dice = random.Random(5)
    whole = mail("Booking reference: X7Y8Z9\nBA285  LHR-SFO  4 May 2027  Economy\n", page=data(flight()))
    for _ in range(200):
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 40)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            assert read(bytes(broken[: dice.randint(1, len(broken))])) is not None
        except UnreadableMail:
            continue
