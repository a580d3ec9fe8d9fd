"""Who a mail names as its sender, whose signature speaks for an address, and what each may do by itself."""

import pytest

from shared.domain.senders import (
    FAULTS,
    Signatures,
    Trust,
    find_company,
    is_signer,
    judge_sender,
    read_passing_domains,
    read_sender,
)

COMPANIES = {"ba.com", "news.ba.com", "booking.com"}


@pytest.mark.parametrize(
    "header",
    [
        "alice@example.test",
        "<alice@example.test>",
        " Alice <Alice@Example.Test>",
        '"Example, Alice" <alice@example.test>',
        "Example, Alice <alice@example.test>",
        "alice@example.test <alice@example.test>",
        '"other@elsewhere.test" <alice@example.test>',
        "=?utf-8?q?Al=C3=ADce?= <alice@example.test>",
        "Alice\r\n\t<alice@example.test>",
        "alice@example.test (Alice (at home))",
    ],
)
def test_one_address_is_read_in_lower_case(header: str) -> None:
    assert read_sender([header]) == "alice@example.test"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["alice@example.test", "alice@example.test"],
        [""],
        ["Alice"],
        ["alice@example.test, other@elsewhere.test"],
        ["other@elsewhere.test, <alice@example.test>"],
        ["other@elsewhere.test <alice@example.test>"],
        ["<other@elsewhere.test> <alice@example.test>"],
        ["Friends: alice@example.test;"],
        ["Friends:<alice@example.test>;"],
        ['"alice@example.test'],
        ["alice@example.test ("],
        ["alice@example.test\x00"],
        ['"alice"@example.test'],
        ["alice@exam\u200bple.test"],
        ["alice@ex\u00e4mple.test"],
        ["x" * 3000 + " <alice@example.test>"],
        ["(" * 900 + ")" * 900 + " <alice@example.test>"],
    ],
)
def test_any_doubt_about_the_sender_is_no_sender(headers: list[str]) -> None:
    assert read_sender(headers) is None


def test_the_name_that_is_shown_counts_for_nothing() -> None:
    assert read_sender(['"alice@example.test" <other@elsewhere.test>']) == "other@elsewhere.test"


@pytest.mark.parametrize(
    ("address", "company"),
    [
        ("x@ba.com", "ba.com"),
        ("x@mail.ba.com", "ba.com"),
        ("x@a.news.ba.com", "news.ba.com"),
        ("x@xba.com", None),
        ("x@ba.com.evil.test", None),
        ("ba.com@evil.test", None),
    ],
)
def test_an_address_belongs_to_the_company_whose_domain_is_above_it(address: str, company: str | None) -> None:
    assert find_company(address, COMPANIES) == company


@pytest.mark.parametrize(
    ("domain", "address", "company", "counts"),
    [
        ("example.test", "a@example.test", None, True),
        ("example.test", "a@mail.example.test", None, True),
        ("mail.example.test", "a@example.test", None, False),
        ("evil.co.uk", "a@example.co.uk", None, False),
        ("test", "a@example.test", None, False),
        ("", "a@example.test", None, False),
        ("ba.com", "x@mail.ba.com", "ba.com", True),
        ("other.ba.com", "x@mail.ba.com", "ba.com", True),
        ("evil.test", "x@ba.com", "ba.com", False),
        ("notba.com", "x@ba.com", "ba.com", False),
    ],
)
def test_only_a_domain_above_the_address_or_of_its_company_speaks_for_it(
    domain: str, address: str, company: str | None, counts: bool
) -> None:
    assert is_signer(domain, address, company) is counts


HOLDS, BREAKS = Signatures(valid=frozenset({"d.test"})), Signatures(broken=frozenset({"d.test"}))
NOTHING, OFF, AWAY = Signatures(), Signatures(checked=False), Signatures(unanswered=True)


@pytest.mark.parametrize(
    ("is_own", "is_company", "signatures", "signed_before", "trust", "fault"),
    [
        (True, False, HOLDS, False, Trust.FULL, ""),
        (True, False, BREAKS, False, Trust.NONE, "own_broken"),
        (True, False, NOTHING, False, Trust.NEW, "own_unproven"),
        (True, False, NOTHING, True, Trust.NONE, "own_unsigned"),
        (True, False, AWAY, False, Trust.NEW, "own_unproven"),
        (True, False, AWAY, True, Trust.NONE, "unanswered"),
        (True, False, OFF, True, Trust.NEW, "own_unproven"),
        (False, True, HOLDS, False, Trust.FULL, ""),
        (False, True, BREAKS, False, Trust.NONE, "company_unsigned"),
        (False, True, NOTHING, False, Trust.NONE, "company_unsigned"),
        (False, True, AWAY, False, Trust.NONE, "unanswered"),
        (False, True, OFF, False, Trust.NONE, "company_unsigned"),
        (False, False, HOLDS, False, Trust.NONE, "unknown"),
        (False, False, NOTHING, False, Trust.NONE, "unknown"),
    ],
)
def test_what_a_mail_may_do_by_itself(
    is_own: bool, is_company: bool, signatures: Signatures, signed_before: bool, trust: Trust, fault: str
) -> None:
    judgement = judge_sender(
        "a@b.test", is_own=is_own, is_company=is_company, signatures=signatures, signed_before=signed_before
    )
    assert (judgement.trust, judgement.fault) == (trust, fault)
    assert judgement.is_verified is (trust is Trust.FULL)
    assert bool(judgement.reason) is bool(fault)


def test_a_mail_without_one_sender_does_nothing() -> None:
    judgement = judge_sender(None, is_own=True, is_company=True, signatures=HOLDS)
    assert (judgement.trust, judgement.sender) == (Trust.NONE, "")
    assert judgement.reason.startswith(FAULTS["no_sender"])


def test_the_reason_names_the_address_and_the_next_step() -> None:
    reason = judge_sender("x@y.test", is_own=False, is_company=False, signatures=NOTHING).reason
    assert reason.startswith("It came from x@y.test, which we do not know. Look at it, then import or discard it.")


@pytest.mark.parametrize(
    ("results", "domains"),
    [
        ("mx.google.com; dkim=pass header.i=@ba.com header.s=s; spf=pass smtp.mailfrom=x@ba.com", {"ba.com"}),
        ("mx6.example.com 1; dkim=pass (2048-bit rsa) header.d=ba.com header.i=@mail.ba.com", {"ba.com"}),
        ("mx.google.com; dkim=fail header.i=@ba.com; dkim=pass header.i=@list.test", {"list.test"}),
        ("mx.google.com; spf=pass smtp.mailfrom=dkim=pass header.d=ba.com", set()),
        ('mx.google.com; spf=pass smtp.mailfrom="x; dkim=pass header.d=ba.com"@evil.test', set()),
        ("mx.google.com; spf=pass (x; dkim=pass header.d=ba.com) smtp.mailfrom=y", set()),
        ("mx.google.com; spf=pass (x) y; dkim=pass header.d=ba.com)", set()),
        ('mx.google.com; spf=pass smtp.mailfrom="x; dkim=pass header.d=ba.com', set()),
        ("dkim=pass header.d=ba.com", set()),
        ("", set()),
    ],
)
def test_results_are_read_without_what_strangers_wrote_into_them(results: str, domains: set[str]) -> None:
    assert read_passing_domains(results) == domains
