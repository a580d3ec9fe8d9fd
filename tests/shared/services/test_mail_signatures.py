"""DKIM and ARC of forwarded mails: what proves a sender, what does not, and how much a hostile mail can cost."""

import base64
import os
import re
from datetime import UTC, datetime
from itertools import count

import dns.exception
import dns.resolver
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shared.domain.senders import Signatures
from shared.services.bookings import mail_senders
from shared.services.bookings.mail_senders import KeyFinder, KeyUnanswered, check_signatures, list_from_headers
from tests.shared.domain.confirmations.mails import mail
from tests.support.signed_mails import SELECTOR, KeyTable, answer_keys, make_key, seal, sign, sign_freely

NOW = datetime(2027, 1, 1, tzinfo=UTC)
LETTER = mail("Booking reference: X7Y8Z9\n", sender="British Airways <a@ba.test>")
FORWARDERS = {"forwarder.test", "second.test"}
HOLDS = frozenset({"ba.test"})
PASSED = "dkim=pass header.i=@ba.test; spf=fail smtp.mailfrom=x@elsewhere.test"


def check(raw: bytes, table: KeyTable | None = None) -> Signatures:
    table = table or KeyTable()
    return check_signatures(raw, lambda domain: domain == "ba.test", FORWARDERS, NOW, table.read)


def test_a_signature_of_the_domain_that_counts_holds() -> None:
    assert check(sign(LETTER, "ba.test")) == Signatures(valid=HOLDS)


def test_it_holds_with_other_ends_of_lines_and_with_headers_of_the_way() -> None:
    raw = sign(LETTER, "ba.test").replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert check(b"Received: from elsewhere\r\n" + raw).valid == HOLDS


def test_a_signature_of_another_domain_counts_for_nothing_and_its_key_is_not_looked_up() -> None:
    table = KeyTable()
    assert check(sign(LETTER, "evil.test"), table) == Signatures()
    assert table.questions == []


@pytest.mark.parametrize(
    "raw",
    [
        sign(LETTER, "ba.test") + b"One more line\n",
        sign(LETTER, "ba.test").replace(b"a@ba.test", b"b@ba.test"),
        sign(LETTER, "ba.test", length=True),
        sign(LETTER, "ba.test", length=True) + b"Booking reference: EVIL12\n",
        b"From: other@elsewhere.test\r\n" + sign(LETTER, "ba.test"),
    ],
    ids=["body", "sender", "length", "appended", "another sender"],
)
def test_a_changed_mail_is_broken(raw: bytes) -> None:
    assert check(raw) == Signatures(broken=HOLDS)


def test_an_ed25519_signature_counts_as_an_rsa_one_does() -> None:
    """RFC 8463: some senders sign with both, and some with this alone."""
    key = Ed25519PrivateKey.generate()
    secret, public = base64.b64encode(key.private_bytes_raw()), base64.b64encode(key.public_key().public_bytes_raw())
    table = KeyTable({f"{SELECTOR}._domainkey.ba.test.": b"v=DKIM1; k=ed25519; p=" + public})
    raw = sign(LETTER, "ba.test", key=secret, algorithm=b"ed25519-sha256")
    assert check(raw, table) == Signatures(valid=HOLDS)
    assert check(raw.replace(b"X7Y8Z9", b"EVIL12"), table) == Signatures(broken=HOLDS)


def test_signatures_that_cost_too_much_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is ended, so the worker and the other letters go on."""
    monkeypatch.setattr(mail_senders, "check_signatures", lambda *_: os._exit(1))
    assert mail_senders._check_apart(LETTER, lambda _: True, (), NOW) == Signatures()
    monkeypatch.setattr(mail_senders, "check_signatures", lambda *_: [bytes(1_000_000) for _ in count()])
    assert mail_senders._check_apart(LETTER, lambda _: True, (), NOW) == Signatures()


def test_an_expired_signature_is_broken() -> None:
    ends = {day: f"x={datetime(2027, 1, day, tzinfo=UTC).timestamp():.0f}; " for day in (1, 2)}
    assert check(sign_freely(LETTER, "ba.test", more=ends[1])) == Signatures(broken=HOLDS)
    assert check(sign_freely(LETTER, "ba.test", more=ends[2])).valid == HOLDS


def test_a_signature_that_does_not_cover_the_sender_is_broken() -> None:
    assert check(sign_freely(LETTER, "ba.test", headers=(b"from", b"subject"))).valid == HOLDS
    raw = sign_freely(LETTER, "ba.test", headers=(b"subject", b"date"))
    assert check(raw) == Signatures(broken=HOLDS)
    assert check(raw.replace(b"a@ba.test", b"ceo@ba.test")) == Signatures(broken=HOLDS)


def test_a_sender_signed_twice_holds_and_no_second_one_can_be_added() -> None:
    raw = sign(LETTER, "ba.test", headers=(b"from", b"from", b"subject"))
    assert check(raw).valid == HOLDS
    assert check(raw.replace(b"Subject:", b"From: other@elsewhere.test\nSubject:", 1)) == Signatures(broken=HOLDS)


@pytest.mark.parametrize(
    "record",
    [None, b"", b"v=DKIM1; p=", b"v=DKIM1; t=y; k=rsa; p=" + make_key()[1].partition(b"p=")[2]],
    ids=["none", "empty", "withdrawn", "on trial"],
)
def test_a_mail_whose_key_is_not_published_counts_as_unsigned(clean: None, record: bytes | None) -> None:
    with answer_keys({f"{SELECTOR}._domainkey.ba.test.": record}):
        signatures = check_signatures(
            sign(LETTER, "ba.test"), lambda domain: domain == "ba.test", FORWARDERS, NOW, KeyFinder().find_key
        )
    assert signatures == Signatures()


def test_a_key_of_another_person_and_one_that_is_too_short_are_broken() -> None:
    name = f"{SELECTOR}._domainkey.ba.test."
    assert check(sign(LETTER, "ba.test"), KeyTable({name: make_key(2048)[1]})) == Signatures(broken=HOLDS)
    short = b"v=DKIM1; p=" + base64.b64encode(b"0" * 3000)
    assert check(sign(LETTER, "ba.test"), KeyTable({name: short})) == Signatures(broken=HOLDS)


def test_a_key_of_64_kilobytes_is_none(clean: None) -> None:
    name = f"{SELECTOR}._domainkey.ba.test."
    with answer_keys({name: make_key()[1] + b"; n=" + b"x" * 65_536}):
        assert KeyFinder().find_key(name) is None


def test_of_a_thousand_signatures_three_are_looked_at() -> None:
    table = KeyTable()
    line = sign(LETTER, "ba.test")[: -len(LETTER)]
    raw = sign(LETTER, "ba.test")
    broken = re.sub(rb"bh=....", b"bh=AAAA", line)
    assert check(broken * 300 + raw, table) == Signatures(broken=HOLDS)
    assert len(table.questions) == 3
    others = sign(LETTER, "evil.test")[: -len(LETTER)]
    assert check(others * 300 + raw).valid == HOLDS


@pytest.mark.parametrize(
    "raw",
    [
        sign(LETTER, "ba.test") + b" " * 1_000_000 + b"\n",
        sign(LETTER, "ba.test") + (b"a" + b" " * 399 + b"\n") * 4000,
        sign(LETTER, "ba.test") + b"\n" * 400_000,
        b"X: " + b"x" * 300_000 + b"\r\n" + sign(LETTER, "ba.test"),
        sign(LETTER, "ba.test").replace(b"bh=", b"bh=" + b"\r\n " * 3000, 1),
        b"\n" + sign(LETTER, "ba.test"),
        b"no head",
        b"",
        b" \r\n\r\nx",
        b"Dkim-Signature: d=ba.test; d=ba.test\r\n\r\nx",
        b"Dkim-Signature: =;;=\r\n\r\nx",
        b"Dkim-Signature: v=1; d=ba.test; i=; a=rsa-sha256; h=from; s=t; b=; bh=\r\n\r\nx",
    ],
    ids=[
        "blanks",
        "many blanks",
        "lines",
        "long head",
        "folds",
        "no head first",
        "text",
        "nothing",
        "fold",
        "twice",
        "signs",
        "empty",
    ],
)
def test_a_mail_made_to_cost_much_counts_as_unsigned(raw: bytes) -> None:
    assert check(raw) == Signatures()


def test_from_headers_are_those_the_signatures_see() -> None:
    assert list_from_headers(LETTER) == ["British Airways <a@ba.test>"]
    assert list_from_headers(b"FROM: a@b.test\r\nfrom: c@d.test\r\nSubject: x\rFrom: e@f.test\r\n\r\n") == [
        "a@b.test",
        "c@d.test",
    ]
    assert list_from_headers(b"Subject: x\n\nFrom: a@b.test\n") == []
    assert list_from_headers(b"a line\nFrom: a@b.test\n\n") == []


def test_a_seal_of_a_forwarder_tells_what_it_saw() -> None:
    assert check(seal(LETTER, "forwarder.test", PASSED)).valid == HOLDS
    changed = seal(LETTER, "forwarder.test", PASSED).replace(b"X7Y8Z9", b"EVIL12")
    assert check(changed).valid == frozenset()
    assert check(seal(LETTER, "forwarder.test", PASSED.replace("pass", "fail", 1))).valid == frozenset()
    assert check(seal(LETTER, "forwarder.test", PASSED.replace("@ba.", "@evil."))).valid == frozenset()
    assert check(seal(LETTER, "forwarder.test", PASSED, key=make_key(2048)[0])).valid == frozenset()


def test_a_seal_of_anybody_else_tells_nothing_and_its_key_is_not_looked_up() -> None:
    table = KeyTable()
    assert check(seal(LETTER, "evil.test", PASSED), table) == Signatures()
    stranger_first = seal(seal(LETTER, "evil.test", PASSED), "forwarder.test", "dkim=pass header.i=@ba.test", step=2)
    stranger_last = seal(seal(LETTER, "forwarder.test", PASSED), "evil.test", PASSED, step=2)
    assert check(stranger_first, table) == check(stranger_last, table) == Signatures()
    assert table.questions == []


def test_of_a_chain_the_newest_step_counts() -> None:
    first = seal(LETTER, "forwarder.test", PASSED)
    assert check(seal(first, "second.test", PASSED, step=2)).valid == HOLDS
    assert check(seal(first, "second.test", "dkim=fail header.i=@ba.test; arc=pass", step=2)).valid == frozenset()
    assert check(seal(first, "second.test", PASSED, step=2, status="fail")).valid == frozenset()
    assert check(seal(first, "second.test", PASSED, step=3)).valid == frozenset()


def test_a_chain_of_many_steps_is_not_looked_at() -> None:
    raw, table = LETTER, KeyTable()
    for step in range(1, 6):
        raw = seal(raw, "forwarder.test", PASSED, step=step)
    assert check(raw, table) == Signatures()
    assert table.questions == []


def test_a_key_is_looked_up_once_an_hour_and_five_at_most_for_a_mail(clean: None) -> None:
    with answer_keys() as table:
        finder = KeyFinder()
        for _ in range(3):
            assert finder.find_key(f"{SELECTOR}._domainkey.ba.test.") == make_key()[1]
        assert finder.find_key("absent._domainkey.ba.test.") is None
        assert finder.find_key("absent._domainkey.ba.test.") is None
        assert len(table.questions) == 2
        for n in range(3):
            finder.find_key(f"{n}._domainkey.ba.test.")
        with pytest.raises(KeyUnanswered):
            finder.find_key("9._domainkey.ba.test.")
        assert len(table.questions) == 5


@pytest.mark.parametrize(
    "name", ["", ".", "a..b.", "a b.test.", "a.test", "\u00e4.test.", "x" * 70 + ".test.", "x." * 200]
)
def test_a_name_that_is_none_is_not_looked_up(name: str) -> None:
    with answer_keys() as table:
        assert KeyFinder().find_key(name) is None
    assert table.questions == []


def test_a_dns_that_does_not_answer_is_told_from_one_without_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(error: Exception) -> None:
        def resolve(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(dns.resolver, "resolve", resolve)

    answer(dns.resolver.NXDOMAIN())
    assert mail_senders.read_txt_record("a.test.") is None
    for error in (dns.exception.Timeout(), dns.resolver.NoNameservers(), OSError()):
        answer(error)
        with pytest.raises(KeyUnanswered):
            mail_senders.read_txt_record("a.test.")


def test_a_look_up_without_an_answer_is_said() -> None:
    def raise_unanswered(_: str) -> bytes | None:
        raise KeyUnanswered

    signatures = check_signatures(
        sign(LETTER, "ba.test"), lambda domain: domain == "ba.test", (), NOW, raise_unanswered
    )
    assert signatures == Signatures(unanswered=True)
