"""Kinds of statements that were read wrongly: each is proved by what the file itself says, or asked about."""

from decimal import Decimal

import pytest

from shared.documents.card_statements import read_source
from shared.domain.spending.model import Hints, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.domain.spending.conftest import TODAY

KINDS = {  # text, gross, refunds
    "an account where more came in than went out, proved by its balance": (
        "Checking\nDate,Description,Amount,Balance\n2026-09-01,ONE,900.00,1000.00\n"
        "2026-09-02,TWO,20.00,1020.00\n2026-09-03,ZORBLATT,-70.00,950.00\n",
        *("70.00", "0"),
    ),
    "a card by its own name, whose balance is what is owed": (
        "Credit card\nDate,Description,Amount,Balance\n2026-09-01,ONE,-30.00,130.00\n"
        "2026-09-02,TWO,-10.00,140.00\n2026-09-03,THREE,140.00,0.00\n",
        *("40.00", "0"),
    ),
    "an account proved by the words of income": (
        "Date,Description,Amount\n2026-09-01,ACME PAYROLL,900.00\n2026-09-02,QUINT,20.00\n2026-09-03,ZORBLATT,-70.00\n",
        *("70.00", "0"),
    ),
    "a card whose balance is what is owed": (
        "Date,Description,Amount,Balance\n2026-09-01,LIDL,30.00,130.00\n2026-09-02,NETFLIX,10.00,140.00\n"
        "2026-09-03,PAYMENT RECEIVED THANK YOU,-140.00,0.00\n",
        *("40.00", "0"),
    ),
    "a column of direction under any name": (
        "Date,Shop,Amount,Sort\n2026-09-01,ACME,900.00,CRDT\n2026-09-03,ZORBLATT,70.00,DBIT\n".replace("Shop", "Payee"),
        *("70.00", "0"),
    ),
    "a month with one direction alone, in a column that is named for it": (
        "Datum;Omschrijving;Bedrag;Debet / Credit\n01-09-2026;WERKGEVER;900,00;Credit\n30-09-2026;BANK;1,00;Credit\n",
        *("0", "0"),
    ),
    "CR and DR behind amounts": (
        "Date,Description,Amount\n2026-09-01,QUINT,900.00 CR\n2026-09-03,ZORBLATT,70.00 DR\n",
        *("70.00", "0"),
    ),
    "sections of a pasted statement": (
        "Deposits and additions\n09/15/2026  QUINT  2,150.00\nWithdrawals\n09/16/2026  ZORBLATT  30.00\n"
        "09/17/2026  MIRABEL  12.00\n",
        *("42.00", "0"),
    ),
    "pasted text with the word of its direction behind": (
        "10/19/2026 ZORBLATT $80.00\n10/20/2026 ZORBLATT -$30.00 Credit\n",
        *("80.00", "30.00"),
    ),
    "a balance that is brought forward in pasted text": (
        "01/10/2026 Balance brought forward 500.00\n13/10/2026 ZORBLATT 20.00\n31/10/2026 Closing balance 520.00\n",
        *("20.00", "0"),
    ),
    "what the card was billed, not what the shop asked for": (
        "Date,Description,Transaction Currency,Transaction Amount,Billing Currency,Billing Amount\n"
        "2026-09-01,ZORBLATT,IDR,150000.00,EUR,8.40\n2026-09-02,QUINT,EUR,5.00,EUR,5.00\n",
        *("13.40", "0"),
    ),
    "balances and a total among the lines": (
        "Date,Description,Amount\n2026-09-01,Saldo anterior,-500.00\n2026-09-02,ZORBLATT,-20.00\n"
        "2026-09-03,QUINT,-50.00\n2026-09-30,TOTAL,-70.00\n2026-09-30,Saldo final,-570.00\n",
        *("70.00", "0"),
    ),
    "a shop that is called Total": (
        "Date,Description,Amount\n2026-09-02,ZORBLATT,20.00\n2026-09-03,TOTAL,55.00\n",
        *("75.00", "0"),
    ),
    "rows of what did not happen": (
        "Date,Description,Amount,State\n2026-09-02,ZORBLATT,20.00,COMPLETED\n2026-09-03,QUINT,1.00,REVERTED\n"
        "2026-09-03,QUINT,2.00,Failed\n2026-09-03,QUINT,3.00,vorgemerkt\n2026-09-03,PENDING - QUINT,4.00,\n",
        *("20.00", "0"),
    ),
    "a minus among positive debits": (
        "Date,Description,Debit,Credit\n2026-09-02,ZORBLATT,20.00,\n2026-09-03,QUINT,9.00,\n2026-09-04,QUINT,-4.00,\n",
        *("29.00", "4.00"),
    ),
    "a row with a cell too many": (
        "Date,Description,Amount\n2026-09-02,ZORBLATT,-1,299.00\n2026-09-03,QUINT,-9.00\n2026-09-04,MIRABEL,-1.00\n",
        *("10.00", "0"),
    ),
    "three columns like those of an issuer elsewhere": (
        "13.03.26,76.00,ZORBLATT\n14.03.26,12.00,QUINT\n",
        *("88.00", "0"),
    ),
    "years of two digits in front": (
        "Date,Description,Amount\n26/09/15,ZORBLATT,7.00\n26/09/16,QUINT,8.00\n26/09/17,QUINT,9.00\n",
        *("24.00", "0"),
    ),
    "OFX of a card whose charges have no minus": (
        "<OFX><CCSTMTRS><CURDEF>EUR<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260901<TRNAMT>8.95<NAME>ZORBLATT</STMTTRN>"
        "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260902<TRNAMT>20.00<NAME>QUINT</STMTTRN>"
        "<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260903<TRNAMT>-28.95<NAME>PAYMENT RECEIVED</STMTTRN></CCSTMTRS></OFX>",
        *("28.95", "0"),
    ),
    "QIF with points and an apostrophe": (
        "!Type:Bank\nD28.02'2026\nT-4.00\nPZORBLATT\n^\nD13.03'2026\nT-9.00\nPQUINT\n^\n",
        *("13.00", "0"),
    ),
}
QUESTIONS = {  # text, the parameter that answers
    "a balance that can be of an account or what is owed on a card": (
        "Date,Description,Amount,Balance\n2026-09-01,ONE,30.00,130.00\n2026-09-02,TWO,-10.00,120.00\n"
        "2026-09-03,THREE,50.00,170.00\n",
        "positive_is",
    ),
    "one shop that is known, among lines of others with the other sign": (
        "Date,Description,Amount\n2026-09-01,ZORBLATT,-80.00\n2026-09-02,LIDL,30.00\n2026-09-03,QUINT,-12.00\n",
        "positive_is",
    ),
    "signs that nothing proves": (
        "Date,Description,Amount\n2026-09-01,QUINT,50.00\n2026-09-02,ZORBLATT,-80.00\n2026-09-03,MIRABEL,70.00\n",
        "positive_is",
    ),
    "American days in euros": (
        "Date,Name,Amount,Currency\n4/2/26,ZORBLATT,-44.98,EUR\n4/3/26,QUINT,-109.00,EUR\n",
        "date_order",
    ),
    "no sign, no direction, and a word of income": (
        "Date,Description,Amount\n2026-09-01,ACME PAYROLL,900.00\n2026-09-02,LIDL,20.00\n2026-09-03,ZORBLATT,70.00\n",
        "positive_is",
    ),
    "types of OFX that contradict each other": (
        "<OFX><CCSTMTRS><CURDEF>EUR<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260901<TRNAMT>8.95<NAME>ZORBLATT</STMTTRN>"
        "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260902<TRNAMT>-20.00<NAME>QUINT</STMTTRN></CCSTMTRS></OFX>",
        "positive_is",
    ),
}


def read(text: str) -> object:
    return read_source(text, build_book(reference()), Hints(TODAY, currency="EUR"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_statement_of_this_kind_is_added_up(kind: str) -> None:
    text, gross, refunds = KINDS[kind]
    found = read(text)
    assert isinstance(found, tuple), found
    assert (found[1].gross, found[1].refunds) == (Decimal(gross), Decimal(refunds))


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_statement_of_this_kind_is_asked_about(kind: str) -> None:
    text, field = QUESTIONS[kind]
    asked = read(text)
    assert isinstance(asked, UnreadableStatement)
    assert asked.field == field
