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
    "what the card was billed, in a column that names its currency": (
        "Datum;Händler;Betrag;Währung;Betrag EUR\n04.09.2026;ZORBLATT;19,99;USD;18,42\n06.09.2026;REWE;5,00;EUR;5,00\n",
        *("23.42", "0"),
    ),
    "two columns that name a currency each, of which one is the person's": (
        "Date,Description,Amount (USD),Amount (EUR)\n2026-09-01,ZORBLATT,20.00,18.40\n2026-09-02,QUINT,5.00,4.60\n",
        *("23.00", "0"),
    ),
    "an instalment and not the whole purchase": (
        "Fecha operacion;Descripcion;Cuotas;Monto operacion;Valor cuota mensual\n"
        "12/09/2026;ZORBLATT;01/06;359,40;59,90\n15/09/2026;LIDL;01/01;24,35;24,35\n",
        *("84.25", "0"),
    ),
    "a column that marks the cancelled rows alone": (
        "이용일자,가맹점명,이용금액,취소여부\n2026.09.05,ZORBLATT,5600,\n2026.09.11,QUINT,42900,취소\n",
        *("5600", "0"),
    ),
    "types of transactions that say which way money went, without signs": (
        "Date,Description,Transaction type,Amount\n2026-09-02,ZORBLATT,Purchase,312.45\n"
        "2026-09-03,QUINT,Purchase,99.00\n"
        "2026-09-04,QUINT,Reversal,99.00\n2026-09-13,PAYMENT RECEIVED,Payment,1500.00\n",
        *("411.45", "99.00"),
    ),
    "types of transactions and signs, which say what an unknown type is": (
        "Date,Description,Transaction type,Amount\n2026-09-02,ZORBLATT,Sale,-31.00\n2026-09-03,ZORBLATT,Refund,9.00\n"
        "2026-09-04,MIRABEL,Other,-4.00\n",
        *("35.00", "9.00"),
    ),
    "purchases below the heading of payments, under one of their own": (
        "Payments and other credits\n09/28/2026 ONE -412.90\nPurchase\n09/15/2026 ZORBLATT 64.22\n"
        "09/16/2026 QUINT 18.12\n",
        *("82.34", "0"),
    ),
    "lines of both signs below the heading of payments, under another that is not known": (
        "Payments and other credits\n09/28/2026 PAYMENT RECEIVED -412.90\nKöp\n09/15/2026 ZORBLATT 64.22\n"
        "09/16/2026 LIDL 18.12\n",
        *("82.34", "0"),
    ),
    "a section that ends with a gap, before a heading that is not known": (
        "Payments and other credits\n09/28/2026 PAYMENT RECEIVED 412.90 CR\n\nKortköp\n09/15/2026 ZORBLATT 64.22\n"
        "09/16/2026 LIDL 18.12\n",
        *("82.34", "0"),
    ),
    "dollars of a card that is billed in two currencies": (
        "FECHA     COMERCIO            EUROS      DOLARES\n05/09/26  ZORBLATT            38,50\n"
        "13/09/26  QUINT                           8,99\n14/09/26  LIDL                 1,50\n".replace(
            "EUROS", "EUR  "
        ),
        *("40.00", "0"),
    ),
    "what was billed in one of two columns, beside what the shop asked for": (
        "Einkaufsdatum;Buchungstext;Betrag;Originalwährung;Währung;Belastung;Gutschrift\n"
        "04.09.2026;ZORBLATT;29.99;USD;EUR;28.79;\n09.09.2026;LIDL;5.00;EUR;EUR;5.00;\n20.09.2026;ZAHLUNG;;;EUR;;50.00\n",
        *("33.79", "0"),
    ),
    "lines below a heading of what is not settled": (
        "Pending transactions\n28 Sep 2026 QUINT 14.20\n27 Sep 2026 LIDL 33.10\n"
        "Posted transactions\n24 Sep 2026 ZORBLATT 21.45\n23 Sep 2026 LIDL 1.55\n",
        *("23.00", "0"),
    ),
    "the day of closing, which shows the order of days": (
        "Statement date: 15/10/2026\n\n03/09/2026 ZORBLATT 7.00\n04/10/2026 LIDL 8.00\n",
        *("15.00", "0"),
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


def read(text: str, positive_is: str | None = None) -> object:
    return read_source(text, build_book(reference()), Hints(TODAY, currency="EUR", positive_is=positive_is))


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


PAYMENTS = ("SU PAGO GRACIAS", "ABONO PAGO", "PAGAMENTO RECEBIDO", "ZAHLUNG - DANKE", "PAIEMENT MERCI", "REFUND QUINT")


def test_an_answer_spent_leaves_what_was_paid_of_the_card() -> None:
    """No line of the file has a sign: the answer is about the purchases, not about the payment among them."""
    purchases = ["2026-09-02,ZORBLATT,31.00", "2026-09-04,QUINT,9.00"]
    gross = {}
    for payment in PAYMENTS:
        found = read("\n".join(["Date,Description,Amount", *purchases, f"2026-09-13,{payment},40.00"]), "spent")
        assert isinstance(found, tuple), found
        gross[payment] = found[1].gross
    assert gross == dict.fromkeys(PAYMENTS, Decimal("40.00"))
