"""Bills of a hidden truth: read as they are meant, or said not to be read whole, and never disputed."""

from decimal import Decimal

import pytest

from shared.domain.folio.checks import is_read_whole
from tests.shared.domain.folio.bills import audit
from tests.shared.domain.folio.invented_bills import invent

BLOCK, BLOCKS = 60, 8
RIGHT = 0.97  # of the bills; measured: 0.99


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_bill_is_read_as_it_is_meant_or_said_not_to_be_read_whole(block: int) -> None:
    right = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        meant = invent(seed)
        done = audit(meant.text, "hilton", None, None)
        disputed = [finding.rule.id for finding in done.findings if finding.is_disputed]
        assert disputed == [], f"{seed} {meant.kinds}\n{meant.text}"
        is_right = (done.bill.charges, done.bill.credits) == (meant.charges, meant.credits)
        assert is_right or not is_read_whole(done.bill), f"{seed} {meant.kinds}\n{meant.text}"
        right += is_right
    assert right >= RIGHT * BLOCK - 1


TWICE = """\
HARBOUR HILTON DUBLIN
Guest: Sample, Robin   Room 412   Arrival 04-10-26   Departure 07-10-26
Date      Description                   Charges EUR   Credits EUR
04-10-26  Room Charge 2 x 180.00             360.00
06-10-26  Room Charge (1 @ 210.00)           210.00
05-10-26  Breakfast                           22.00
07-10-26  Visa XXXXXXXXXXXX1234                            592.00
Balance                                        0.00 EUR"""
BELOW = """\
Hilton Frankfurt  Rechnung 4711  Anreise 04.10.2026  Abreise 06.10.2026
Datum       Bezeichnung          MwSt   Netto    MwSt-Betrag  Brutto EUR
04.10.2026  Logis                7%     130,84   9,16    140,00
05.10.2026  Logis                7%     130,84   9,16    140,00
05.10.2026  Frühstück            19%     21,01   3,99     25,00
Gesamtbetrag                                            305,00
Kreditkarte Visa                                       -305,00
Saldo                                                     0,00"""
IN_TURN = """\
OYO 4711 Sample Inn, Pune, India
Check-in 04 Oct 2026, Check-out 05 Oct 2026
Room charges
₹ 1,200.00
GST
₹ 144.00
Total
₹ 1,344.00"""


@pytest.mark.parametrize(("text", "charges", "credits"), [(TWICE, 592, 592), (BELOW, 305, 305), (IN_TURN, 1344, 0)])
def test_figures_that_stand_otherwise_are_read(text: str, charges: int, credits: int) -> None:
    done = audit(text, "hilton", "cash", None)
    assert (done.bill.charges, done.bill.credits) == (charges, credits)
    assert [finding.rule.id for finding in done.findings if finding.is_disputed] == []


@pytest.mark.parametrize("seed", range(0, 120, 3))
def test_a_wrong_total_is_the_only_thing_that_is_claimed(seed: int) -> None:
    meant = invent(seed)
    end = meant.text.rindex(" ")
    figure = meant.text[:end].rsplit(" ", 1)[1]
    off = Decimal(7)
    wrong = f"{Decimal(figure.replace('.', '').replace(',', '.')) + off:.2f}" if "," in figure[-3:] else "7.13"
    text = meant.text[: end - len(figure)] + wrong + meant.text[end:]
    done = audit(text, "hilton", None, None)
    assert {finding.rule.id for finding in done.findings if finding.is_disputed} <= {"C08"}
