"""OFX in both its forms: one entry for each transaction, whatever else the file holds."""

import pytest

from shared.documents.card_statements import OfxEntry, looks_like_ofx, read_entries
from tests.shared.domain.spending.issuers import OFX

XML = """<?xml version="1.0" encoding="UTF-8"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE"?>
<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR</CURDEF><BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260314</DTPOSTED><TRNAMT>-5.00</TRNAMT><FITID>1</FITID>
<NAME><![CDATA[A & B]]></NAME><MEMO/></STMTTRN></BANKTRANLIST></STMTRS><STMTRS><BANKTRANLIST>
<STMTTRN><TRNTYPE>POS</TRNTYPE><DTPOSTED>20260315</DTPOSTED><TRNAMT>-6.00</TRNAMT><NAME>C</NAME>
<CURRENCY><CURRATE>1.1</CURRATE><CURSYM>usd</CURSYM></CURRENCY></STMTTRN>
<STMTTRN><TRNTYPE>POS</TRNTYPE><DTPOSTED>20260316</DTPOSTED><TRNAMT>-7.00</TRNAMT><NAME>D</NAME>
<ORIGCURRENCY><CURRATE>1.1</CURRATE><CURSYM>JPY</CURSYM></ORIGCURRENCY></STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"""


def test_entries_of_the_older_form_are_read_with_their_tags() -> None:
    assert looks_like_ofx(OFX)
    result = list(read_entries(OFX))
    assert result[0] == OfxEntry(1, "20260314120000[-5:EST]", "-17.25", "CAFé & BAKERY", "", "DEBIT", "", "CAD")
    assert [(e.amount, e.memo, e.mcc, e.kind) for e in result[1:]] == [
        ("200.00", "", "", "CREDIT"),
        ("-9,50", "PUMP 3", "5541", "POS"),
        ("-60.00", "", "", "ATM"),
    ]


def test_entries_of_the_newer_form_have_the_currency_of_their_statement_or_their_own() -> None:
    assert looks_like_ofx(XML)
    assert [(e.name, e.currency) for e in read_entries(XML)] == [("A & B", "EUR"), ("C", "USD"), ("D", None)]


@pytest.mark.parametrize("text", ["", "Date,Description,Amount", "<html><body>OFX", "OFXHEADER:100 without a body"])
def test_other_texts_do_not_look_like_ofx(text: str) -> None:
    assert not looks_like_ofx(text)


def test_entities_of_a_document_type_stay_as_they_are_written() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><OFX>'
    balances = (
        '<STMTTRN><DTPOSTED>20260314<TRNAMT>-5<NAME>&b; <!ENTITY c SYSTEM "file:///etc/passwd">&c;</STMTTRN></OFX>'
    )
    (entry,) = read_entries(bomb + balances)
    assert entry.name == "&b; &c;"


HOSTILE = {
    "tags never closed": "<A>" * 400_000 + "</B>" * 300_000,
    "comments": "<!--" * 700_000,
    "cdata": "<![CDATA[" * 300_000,
    "declarations": "<!" * 1_000_000,
    "half references": "&#1" * 900_000,
}


def statement_around(transaction: str) -> str:
    return f"<OFX><STMTTRN>{transaction}</STMTTRN><STMTTRN><TRNAMT>-5</STMTTRN></OFX>"


@pytest.mark.parametrize("inside", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_transaction_leaves_the_next_one_readable(inside: str) -> None:
    transactions = list(read_entries(statement_around(inside)))
    assert (len(transactions), transactions[1].amount) == (2, "-5")
