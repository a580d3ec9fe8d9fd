"""Statements of other countries: names of columns, dates, amounts and currencies as their banks write them."""

import pytest

from shared.domain.spending.model import Hints, UnreadableStatement
from shared.domain.spending.totals import sum_up
from tests.shared.domain.spending.conftest import TODAY, Read

TABLES: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "German": (
        "Buchungsdatum;Beschreibung;Betrag;Währung\n28.06.2026;REWE SAGT DANKE;-1.234,56;EUR\n"
        "27.06.2026;LUFTHANSA;-312,00;EUR\n26.06.2026;Zahlung;1.500,00;EUR\n",
        "EUR",
        {"groceries": "1234.56", "airfare": "312.00"},
    ),
    "an issuer's German export": (
        "Datum,Beschreibung,Betrag,Weitere Details,Betreff\n28/06/2026,LUFTHANSA,\"1.312,00 €\",,'AT1'\n"
        "27/06/2026,ZAHLUNG ERHALTEN,\"-800,00 €\",,'AT2'\n26/06/2026,SHELL 1234,\"45,10 €\",,'AT3'\n",
        "EUR",
        {"airfare": "1312.00", "fuel": "45.10"},
    ),
    "French, in two columns": (
        "Date;Libellé;Débit;Crédit\n28/06/2026;CARREFOUR CITY;1\u00a0054,20;\n27/06/2026;SNCF CONNECT;88,00;\n"
        "26/06/2026;VIREMENT RECU;;1 500,00\n",
        None,
        {"groceries": "1054.20", "transit": "88.00"},
    ),
    "Spanish": (
        "Fecha;Concepto;Importe;Divisa\n28/06/2026;MERCADONA;-54,20;EUR\n27/06/2026;IBERIA;-188,00;EUR\n"
        "26/06/2026;NOMINA;1.500,00;EUR\n",
        "EUR",
        {"groceries": "54.20", "airfare": "188.00"},
    ),
    "Swiss": (
        "Datum;Beschreibung;Betrag;Währung\n28.06.2026;MIGROS;1'052.40;CHF\n27.06.2026;MIGROS;12.00;CHF\n",
        "CHF",
        {"groceries": "1064.40"},
    ),
    "a header that is anybody's, in euros": (
        'Date,Description,Amount\n28/06/2026,LIDL,"€52.40"\n27/06/2026,LIDL,€1.60\n',
        "EUR",
        {"groceries": "54.00"},
    ),
    "moments for days": (
        "Date,Description,Amount\n2026-06-28T10:00:00Z,TESCO,52.40\n2026-06-29 23:10:00,TESCO,1.00\n",
        None,
        {"groceries": "53.40"},
    ),
}


@pytest.mark.parametrize("make", TABLES)
def test_a_statement_of_this_make_is_added_up(read: Read, make: str) -> None:
    text, currency, totals = TABLES[make]
    if currency is None:
        with pytest.raises(UnreadableStatement, match="in which currency") as refused:
            sum_up(read(text), Hints(TODAY))
        assert refused.value.field == "currency"
    summed = sum_up(read(text), Hints(TODAY, currency=None if currency else "CHF"))
    (month,) = summed.months.values()
    assert summed.currency == (currency or "CHF")
    assert {category: str(total.amount) for category, total in month.items()} == totals


def test_the_issuers_own_word_decides_where_no_merchant_is_known(read: Read) -> None:
    text = (
        "Trans. Date,Post Date,Description,Amount,Category\n09/07/2026,09/07/2026,CORNER TRATTORIA,55.00,Restaurants\n"
        "09/08/2026,09/08/2026,QUIKTRIP 123,40.00,Gasoline\n09/03/2026,09/03/2026,DIRECTPAY FULL BALANCE,-410.00,"
        "Payments and Credits\n09/09/2026,09/09/2026,PLAN CHARGE,6.00,Interest\n"
    )
    expected = ["dining", "fuel", "excluded:payment", "excluded:fee_interest"]
    assert [line.category for line in read(text).lines] == expected
