"""The files that statements are read by: as they are, and what is said when they are wrong."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, data, sampled_from

from shared.domain.card_value import CATEGORIES
from shared.domain.spending.categories import build_categoriser, clean_description
from shared.domain.spending.merchants import ChainFinder
from shared.domain.spending.model import EXCLUDED, KINDS
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.reference.test_folio import edit_file


def test_the_layouts_the_rules_and_the_codes_are_all_there() -> None:
    names = ("layouts", "headers", "columns", "merchants", "chains", "mcc", "issuer_categories", "line_types")
    counts = {name: len(reference().rows(f"statements/{name}.csv")) for name in names}
    assert list(counts.values()) == [14, 19, 333, 23, 907, 154, 89, 15]


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


def test_chains_of_twenty_countries_have_one_category_each() -> None:
    chains = reference().rows("statements/chains.csv")
    assert len({row.name for row in chains}) >= 400
    assert len({row.country for row in chains}) >= 20
    find = ChainFinder((row.name, row.category) for row in chains).find
    assert [row.name for row in chains if find(row.name.lower()) != row.category] == []


@settings(max_examples=200, deadline=None)
@given(data())
def test_a_chain_is_found_whatever_is_written_around_it(draw: DataObject) -> None:
    book = build_book(reference())
    chain = draw.draw(sampled_from(reference().rows("statements/chains.csv")))
    before = draw.draw(sampled_from(["", "SQ *", "PY *", "SUMUP  *", "TST* ", "Zettle_*", "POS ", "CARD PURCHASE "]))
    name = draw.draw(sampled_from([chain.name, chain.name.upper(), chain.name.replace("'", ""), chain.name + ","]))
    behind = draw.draw(sampled_from(["", " #0061", " F123", " 00423 LEEDS", "   DENVER CO", " 5262 +1 800", "-77 GBR"]))
    assert book.chains.find(clean_description(f"{before}{name}{behind}")) == chain.category


@pytest.mark.parametrize(
    ("description", "category"),
    [
        *((words, "airfare") for words in ("UNITED 0162341234567", "SOUTHWES 5262", "GOL LINHAS AEREAS")),
        *((words, "groceries") for words in ("KING SOOPERS #0061", "KINGSOOPERS 61", "7-ELEVEN 33212", "FAIRPRICE")),
        *((words, "dining") for words in ("MCDONALDS F123", "McDonald's 4411", "SWIGGY BANGALORE", "ZOMATO", "IFOOD")),
        *((words, "transit") for words in ("DEUTSCHE BAHN", "JR EAST TOKYO")),
        *((words, "other") for words in ("UNITED 5512", "ZORBLATT 0162341234567", "SOUTHWEL 5262", "")),
        ("PETRO CANADA 1", "fuel"),
        ("XCEL ENERGY", "telecom_utilities"),
        ("AMC THEATRES 12", "entertainment"),
        ("PAO DE ACUCAR", "groceries"),
        ("PY *RENTPAYMENT", "rent"),
    ],
)
def test_a_line_of_a_statement_has_the_category_of_its_shop(description: str, category: str) -> None:
    assert build_categoriser(build_book(reference()))(clean_description(description), "", "") == category


def test_every_code_of_a_range_has_its_category() -> None:
    categorise = build_categoriser(build_book(reference()))
    known = {
        code: categorise("zorblatt", code, "") for code in ["3000", "3350", "3351", "3999", "6513", "9311", "0001"]
    }
    assert list(known.values()) == ["airfare", "airfare", "travel_other", "hotels", "rent", "tax", "other"]


def test_the_book_is_made_once_for_each_load() -> None:
    assert build_book(reference()) is build_book(reference())


@pytest.mark.usefixtures("reviewed_files_read_once")
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
