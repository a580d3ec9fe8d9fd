"""Statements that banks exchange: each amount goes the way the bank says, and the balances have to fit."""

from datetime import date
from decimal import Decimal

import pytest

from shared.documents.card_statements import read_source
from shared.domain.spending.model import Hints, StatementReading, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book

MT940 = """\
:20:STARTUMS
:25:12345678/0000123456
:28C:00001/001
:60F:C261001EUR1000,00
:61:2610051005DR25,50N029NONREF//123
:86:105?00LASTSCHRIFT?20Kauf?32REWE MARKT
:61:2610061006CR100,00NMSCNONREF
:86:166?00GUTSCHRIFT?32ARBEITGEBER AG
:61:2610071007RD10,00NMSCNONREF
:86:Storno
:61:2610071007RC4,50NMSCNONREF
:86:Irrtum
:62F:C261007EUR1080,00
"""


def balance(kind: str, amount: str) -> str:
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy='EUR'>{amount}</Amt>"
        "<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-10-01</Dt></Dt></Bal>"
    )


def entry(amount: str, way: str, day: str, words: str, state: str = "<Sts><Cd>BOOK</Cd></Sts>") -> str:
    return (
        f"<Ntry><Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>{way}</CdtDbtInd>{state}<BookgDt>{day}</BookgDt>{words}</Ntry>"
    )


SHOP = (
    "<NtryDtls><TxDtls><RltdPties><Cdtr><Pty><Nm>REWE MARKT</Nm></Pty></Cdtr></RltdPties>"
    "<RmtInf><Ustrd>Kauf</Ustrd></RmtInf></TxDtls></NtryDtls>"
)
PAY = "<AddtlNtryInf>Gehalt</AddtlNtryInf>"
CAMT = (
    "<?xml version='1.0' encoding='ISO-8859-1'?>\n"
    "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'><BkToCstmrStmt><Stmt><Id>1</Id>"
    + balance("OPBD", "1000.00")
    + balance("CLBD", "1074.50")
    + entry("25.50", "DBIT", "<Dt>2026-10-05</Dt>", SHOP)
    + entry("100.00", "CRDT", "<DtTm>2026-10-06T10:00:00</DtTm>", PAY, "<Sts>BOOK</Sts>")
    + entry("7.00", "DBIT", "<Dt>2026-10-07</Dt>", "", "<Sts>PDNG</Sts>")
    + "</Stmt></BkToCstmrStmt></Document>"
)


def read(text: str) -> StatementReading | UnreadableStatement:
    made = read_source(text, build_book(reference()), Hints(today=date(2026, 11, 28)))
    return made if isinstance(made, UnreadableStatement) else made[0]


def list_lines(text: str) -> list[tuple[str, Decimal, str | None]]:
    made = read(text)
    assert isinstance(made, StatementReading), made
    return [(f"{line.day:%m-%d} {line.description}", line.amount, line.currency) for line in made.lines]


def test_mt940_is_read_with_reversals_the_other_way() -> None:
    assert list_lines(MT940) == [
        ("10-05 rewe markt", Decimal("25.50"), "EUR"),
        ("10-06 arbeitgeber ag", Decimal("-100.00"), "EUR"),
        ("10-07 storno", Decimal("-10.00"), "EUR"),
        ("10-07 irrtum", Decimal("4.50"), "EUR"),
    ]


def test_camt_is_read_without_what_is_not_booked() -> None:
    assert list_lines(CAMT) == [
        ("10-05 rewe markt kauf", Decimal("25.50"), "EUR"),
        ("10-06 gehalt", Decimal("-100.00"), "EUR"),
    ]
    made = read(CAMT)
    assert isinstance(made, StatementReading)
    assert [skipped.reason for skipped in made.skipped] == ["not settled yet"]


@pytest.mark.parametrize("text", [CAMT.replace("1074.50", "1075.50"), MT940.replace("1080,00", "1085,00")])
def test_balances_that_do_not_fit_refuse_the_file(text: str) -> None:
    made = read(text)
    assert isinstance(made, UnreadableStatement)
    assert made.problem == "has balances that its transactions do not come to"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<!DOCTYPE a [<!ENTITY a 'b'>]>" + CAMT.split("\n")[1].replace("Kauf", "&a;"), "is XML that cannot be read"),
        (CAMT[:-40], "is XML that cannot be read"),
        (CAMT.split("<Bal>")[0] + "</Stmt></BkToCstmrStmt></Document>", "has no transaction"),
        (MT940.replace("DR25,50N029", "??"), "is MT940 that cannot be read"),
    ],
)
def test_what_is_broken_is_refused_and_not_logged(text: str, problem: str, caplog: pytest.LogCaptureFixture) -> None:
    made = read(text)
    assert isinstance(made, UnreadableStatement)
    assert made.problem == problem
    assert caplog.text == ""
