"""Ninety-three bills of the four chains in many currencies and languages, with all that is expected of each."""

import pytest

from tests.shared.domain.folio.corpus_reader import Expected, describe, list_bills, normalize_facts

BILLS = list(list_bills())


@pytest.mark.parametrize("expected", [pytest.param(bill, id=bill.name) for bill in BILLS])
def test_a_bill_is_read_with_its_lines_sums_and_findings(expected: Expected) -> None:
    assert describe(expected).split("\n") == normalize_facts(expected.facts).split("\n")


def test_the_corpus_covers_chains_and_currencies() -> None:
    assert len(BILLS) >= 93
    assert {bill.chain for bill in BILLS} == {"hyatt", "marriott", "hilton", "ihg"}
    assert len({bill.facts.split()[0] for bill in BILLS} - {"-"}) >= 15
