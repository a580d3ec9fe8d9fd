"""The files that statements are read by: as they are, and what is said when they are wrong."""

from pathlib import Path

import pytest

from shared.domain.card_value import CATEGORIES
from shared.domain.spending.categories import build_categoriser
from shared.domain.spending.model import EXCLUDED, KINDS
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.reference.test_folio import edit_file


def test_the_layouts_the_rules_and_the_codes_are_all_there() -> None:
    names = ("layouts", "headers", "columns", "merchants", "mcc", "issuer_categories", "line_types")
    counts = {name: len(reference().rows(f"statements/{name}.csv")) for name in names}
    assert list(counts.values()) == [14, 19, 140, 23, 154, 89, 15]


def test_every_category_can_be_told_and_no_other_is() -> None:
    existing = build_book(reference())
    message = (
        {category for _, category in existing.merchants}
        | set(existing.mcc.values())
        | set(existing.issuer_categories.values())
    )
    assert message - set(CATEGORIES) <= {EXCLUDED + kind for kind in KINDS}
    assert set(CATEGORIES) - message <= {"other"}


def test_no_rule_hides_behind_a_word_that_is_in_every_description() -> None:
    assert build_book(reference()).any_merchant.search("zorblatt gmbh 4711 leeds") is None


@pytest.mark.parametrize(
    ("category", "descriptions"),
    [
        (
            "rent",
            "py *rentpayment|rent|rent august|monthly rent flat 4|transfer to landlord|miete|loyer mars",
        ),
        ("tax", "irs usataxpymt|hmrc self assessment|leeds council tax|finanzamt bonn|dgfip impots|agencia tributaria"),
        ("excluded:transfer", "transfer to savings|umbuchung|virement interne|traspaso|own account transfer"),
        ("travel_other", "budget rent a car|enterprise rent-acar|avis rent-a-car"),
    ],
)
def test_rent_tax_and_transfers_to_oneself_are_kinds_of_their_own(category: str, descriptions: str) -> None:
    categorise = build_categoriser(build_book(reference()))
    assert {words: categorise(words, "", "") for words in descriptions.split("|")} == dict.fromkeys(
        descriptions.split("|"), category
    )


def test_every_code_of_a_range_has_its_category() -> None:
    categorise = build_categoriser(build_book(reference()))
    known = {
        code: categorise("zorblatt", code, "") for code in ["3000", "3350", "3351", "3999", "6513", "9311", "0001"]
    }
    assert list(known.values()) == ["airfare", "airfare", "travel_other", "hotels", "rent", "tax", "other"]


def test_the_book_is_made_once_for_each_load() -> None:
    assert build_book(reference()) is build_book(reference())


@pytest.mark.slow  # loads all facts
@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("merchants", "1,excluded:payment", "1,excluded:gift", "category 'excluded:gift' is not known"),
        ("merchants", "(netflix|", "(netflix|(", "words is no pattern"),
        ("merchants", "(netflix|", "(Netflix|", "words are written in small letters"),
        ("mcc", "5411,groceries", "5411,food", "category 'food' is not known"),
        ("issuer_categories", ",dining,", ",eating,", "category 'eating' is not known"),
        ("line_types", "chase-card-us,fee,fee_interest", "chase-card-us,fee,tax", "chase-card-us tax is not known"),
        ("line_types", "chase-card-us,fee", "aaa,fee", "aaa fee_interest is not known"),
        ("layouts", ",Date,dmy,", ",Date,dym,", "dates are of mdy, dmy, ymd"),
        ("layouts", ",positive,", ",up,", "charge 'up' does not fit"),
        ("layouts", "hsbc-uk,HSBC,GB,,3", "hsbc-uk,HSBC,GB,,", "a header or a width"),
        ("columns", "date,1,", "when,1,", "is not known"),
        ("headers", "discover-us,0,Trans. Date", "discover-us,0,Trans Date", "the column Trans. Date of the layout"),
        ("headers", "revolut,0", "revolt,0", "there is no layout revolt"),
    ],
)
def test_a_fault_in_a_statement_file_is_named_with_its_line(
    tmp_path: Path, name: str, old: str, new: str, fault: str
) -> None:
    faults = edit_file(tmp_path, f"statements/{name}.csv", old, new)
    assert any(fault in text and text.startswith(f"statements/{name}.csv:") for text in faults), faults
