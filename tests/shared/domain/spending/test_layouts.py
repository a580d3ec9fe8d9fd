"""Exports of banks without their own layout: read by the names of their columns, or by what the columns hold."""

from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shared.domain.spending import table
from shared.domain.spending.model import Hints
from shared.domain.spending.totals import sum_up
from shared.reference.load import reference
from shared.reference.spending import build_book
from tests.shared.domain.spending.conftest import TODAY, Read

EXPORTS: dict[str, tuple[str, str, str, str]] = {  # text, currency, gross, refunds
    "KBC Mastercard": (
        "kredietkaart;kaarthouder;uitgavenstaat;datum verrichting;Datum verrekening;bedrag;credit;debet;munt;koers;"
        "bedrag in EUR;Kosten op verrichting;Handelaar;locatie;land;toelichting\n"
        "55;A B;;13/02/2026;15/02/2026;-20,00;;-20,00;USD;1,08;-18,52;0;DINER 88;;US;\n"
        "55;A B;;14/02/2026;15/02/2026;-9,50;;-9,50;EUR;1;-9,50;0;DELHAIZE;;BE;\n",
        *("EUR", "28.02", "0"),
    ),
    "BayernLB card": (
        "Umsatz getätigt von;Belegdatum;Buchungsdatum;Originalbetrag;Originalwährung;Umrechnungskurs;Buchungsbetrag;"
        "Buchungswährung;Transaktionsbeschreibung;Transaktionsbeschreibung Zusatz\n"
        '"5";"20.02.26";"21.02.26";"-12,00";"CHF";"0,95";"-12,60";"EUR";"MIGROS BASEL";""\n'
        '"5";"22.02.26";"23.02.26";"-5,00";"EUR";"1,00";"-5,00";"EUR";"ARAL STATION";""\n',
        *("EUR", "17.60", "0"),
    ),
    "Nationwide": (
        '"Account Name:","FlexAccount"\n"Account Balance:","£10.00"\n\n'
        '"Date","Transaction type","Description","Paid out","Paid in","Balance"\n'
        '"12 Feb 2026","Visa purchase","DISHOOM","£31.50","","£100.00"\n'
        '"13 Feb 2026","Transfer from","J DOE","","£500.00","£600.00"\n',
        *("GBP", "31.50", "0"),
    ),
    "OTP": (
        '"1177";"T";-4500,00;"HUF";20260213;20260213;0;"";"";"SPAR";"";"";"VÁSÁRLÁS";"";""\n'
        '"1177";"T";-1250,00;"HUF";20260214;20260214;0;"";"";"BKK";"";"";"JEGY";"";""\n',
        *("HUF", "5750.00", "0"),
    ),
    "Rabobank": (
        '"IBAN/BBAN","Munt","BIC","Volgnr","Datum","Rentedatum","Bedrag","Saldo na trn","Tegenrekening IBAN/BBAN",'
        '"Naam tegenpartij","Code","Omschrijving-1"\n'
        '"NL1","EUR","R","1","2026-03-01","2026-03-01","-37,49","+57,28","","Albert Heijn","ba","Betaling"\n'
        '"NL1","EUR","R","2","2026-03-02","2026-03-02","-7,00","+50,28","","NS Reizigers","ba",""\n'
        '"NL1","EUR","R","3","2026-03-03","2026-03-03","+900,00","+950,28","","Werkgever","cb","Salaris"\n',
        *("EUR", "44.49", "0"),
    ),
    "Raiffeisen Austria": (
        "18.09.2026;HOFER DANKT;18.09.2026;-33,87;EUR;\n19.09.2026;OMV TANKSTELLE;19.09.2026;-40,00;EUR;\n"
        "20.09.2026;GEHALT;20.09.2026;2.000,00;EUR;\n",
        *("EUR", "73.87", "0"),
    ),
    "Monzo 2018": (
        "id,created,amount,currency,local_amount,local_currency,category,emoji,description,address,notes,receipt\n"
        "tx_1,2026-02-25 12:34:56 +0000,-10,GBP,-10,GBP,general,,Tesco,,,\n"
        "tx_2,2026-02-26 12:34:56 +0000,2.50,GBP,2.50,GBP,general,,Tesco,,,\n",
        *("GBP", "10", "2.50"),
    ),
    "N26": (
        '"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name",'
        '"Amount (EUR)","Original Amount","Original Currency","Exchange Rate"\n'
        '2026-02-25,2026-02-25,"REWE","",Presentment,"","Main",-21.40,,,\n'
        '2026-02-26,2026-02-26,"NETFLIX","",Presentment,"","Main",-12.99,,,\n',
        *("EUR", "34.39", "0"),
    ),
    "Revolut": (
        "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        "CARD_PAYMENT,Current,2026-02-25 10:00:00,2026-02-26 10:00:00,Lidl,-11.10,0.00,EUR,COMPLETED,88.90\n",
        *("EUR", "11.10", "0"),
    ),
    "Wise": (
        "TransferWise ID,Date,Amount,Currency,Description,Payment Reference,Running Balance\n"
        "CARD-1,25-02-2026,-8.40,AUD,Card transaction of 8.40 AUD issued by Coles,,91.60\n",
        *("AUD", "8.40", "0"),
    ),
    "ING Netherlands": (
        '"Datum";"Naam / Omschrijving";"Rekening";"Tegenrekening";"Code";"Af Bij";"Bedrag (EUR)";"Mutatiesoort";'
        '"Mededelingen"\n"20260225";"JUMBO UTRECHT";"NL1";"";"BA";"Af";"18,30";"Betaalautomaat";""\n'
        '"20260226";"WERKGEVER";"NL1";"NL2";"OV";"Bij";"1500,00";"Overschrijving";"salaris"\n',
        *("EUR", "18.30", "0"),
    ),
    "ING Germany": (
        "IBAN;DE1\nKontoname;Girokonto\n\nBuchung;Valuta;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;"
        "Währung;Betrag;Währung\n25.02.2026;25.02.2026;EDEKA;Lastschrift;Einkauf;100,00;EUR;-44,10;EUR\n",
        *("EUR", "44.10", "0"),
    ),
    "Boursorama": (
        "dateOp;dateVal;label;category;supplierFound;amount;accountNum;accountLabel;accountbalance\n"
        '2026-02-25;2026-02-25;"CARTE 24/02/26 MONOPRIX";"Alimentation";"monoprix";"-23,45";"1";"BOURSO";"100"\n',
        *("CHF", "23.45", "0"),
    ),
    "mBank": (
        "#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota\n"
        "2026-02-25;BIEDRONKA WARSZAWA;1;Zakupy;-52,30 PLN\n".replace("#", ""),
        *("PLN", "52.30", "0"),
    ),
    "BBVA": (
        "Fecha;F.Valor;Concepto;Movimiento;Importe;Divisa\n"
        "25/02/2026;25/02/2026;MERCADONA;Pago con tarjeta;-31,20;EUR\n",
        *("EUR", "31.20", "0"),
    ),
    "two columns of numbers, of which one is the balance": (
        "05/02/2026,TESCO STORES,-12.50,87.50\n14/02/2026,SHELL,-30.00,57.50\n15/02/2026,TESCO STORES,-7.50,50.00\n",
        *("CHF", "50.00", "0"),
    ),
}


@pytest.mark.parametrize("bank", EXPORTS)
def test_the_export_of_this_bank_is_added_up(read: Read, bank: str) -> None:
    text, currency, gross, refunds = EXPORTS[bank]
    summed = sum_up(read(text, own_country="BE"), Hints(TODAY, currency="CHF"))
    assert (summed.currency, summed.gross, summed.refunds) == (currency, Decimal(gross), Decimal(refunds))


def test_two_columns_that_could_both_be_the_amount_are_not_guessed(read: Read) -> None:
    with pytest.raises(AssertionError):
        read("A,13/02/2026,SHOP ONE,1.00,2.00\nB,14/02/2026,SHOP TWO,3.00,9.00\n")


def test_a_header_is_known_without_its_accents_and_with_marks_around_it(read: Read) -> None:
    text = "#Buchungstag;#Empfaenger;#Betrag;#Waehrung\n12.10.2026;Laden;-23,45;EUR\n13.10.2026;Kiosk;-3,10;EUR\n"
    result = read(text)
    assert [(line.amount, line.currency) for line in result.lines] == [
        (Decimal("23.45"), "EUR"),
        (Decimal("3.10"), "EUR"),
    ]


BALANCED = "Ngày;Diễn giải;Số tiền;Số dư\n{}"


def test_a_header_of_another_language_is_read_where_a_balance_proves_its_columns(read: Read) -> None:
    rows = ("15.10.2026;Lidl;-20,50 EUR;979,50 EUR", "16.10.2026;Gehalt;1.500,00 EUR;2.479,50 EUR")
    result = read(BALANCED.format("\n".join((*rows, "17.10.2026;Netflix;-12,00 EUR;2.467,50 EUR"))))
    assert [line.amount for line in result.lines] == [Decimal("20.50"), Decimal("-1500.00"), Decimal("12.00")]


def test_a_header_of_another_language_is_refused_where_the_balance_disagrees_or_lacks(read: Read) -> None:
    rows = ["15.10.2026;Lidl;-20,50;979,50", "16.10.2026;Gehalt;1.500,00;2.479,50", "17.10.2026;Netflix;-12,00;999,00"]
    with pytest.raises(AssertionError):
        read(BALANCED.format("\n".join(rows)))
    with pytest.raises(AssertionError):
        read(BALANCED.format("\n".join(row.rsplit(";", 1)[0] for row in rows)))


SIDED = st.lists(st.integers(1, 999_999).map(lambda cents: Decimal(cents) / 100), min_size=3, max_size=9, unique=True)


@settings(max_examples=80)
@given(amounts=SIDED, flags=st.data(), out_first=st.booleans(), newest_first=st.booleans())
def test_columns_of_what_went_out_and_came_in_are_never_taken_for_each_other(
    amounts: list[Decimal], flags: st.DataObject, out_first: bool, newest_first: bool
) -> None:
    """Under a header nobody knows, the balance of an account shows which column is which; or the table is refused."""
    spent = flags.draw(st.lists(st.booleans(), min_size=len(amounts), max_size=len(amounts)))
    assume(0 < sum(spent) < len(spent))
    rows, balance = [], Decimal(50_000)
    for number, (amount, is_spent) in enumerate(zip(amounts, spent, strict=True)):
        balance += -amount if is_spent else amount
        sides = [f"{amount:.2f}", ""] if is_spent == out_first else ["", f"{amount:.2f}"]
        rows.append(f"2026-10-{number + 10};Ikona Borovo;{';'.join(sides)};{balance:.2f}")
    text = "\n".join(["Ngày;Diễn giải;Ghi;Có;Số dư", *(reversed(rows) if newest_first else rows)])
    result = table.read_table(text, build_book(reference()), Hints(TODAY, currency="EUR"))
    meant = [amount if is_spent else -amount for amount, is_spent in zip(amounts, spent, strict=True)]
    assert result is None or [line.amount for line in result.lines] == (meant[::-1] if newest_first else meant)
    assert result is not None or not out_first


HEADERS = {  # date, description, amount, what the file is of
    "Japanese": ("利用日,利用店名・商品名,利用金額,支払総額", "2026/10/{day},ローソン,{amount},{amount}"),
    "Korean": ("이용일자,가맹점명,이용금액(원),승인번호", "2026.10.{day},쿠팡,{amount},12"),
    "Chinese": ("交易时间,交易对方,收/支,金额", "2026-10-{day} 10:00:00,麦当劳,支出,{amount}"),
    "Czech": ("Datum;Objem;Měna;Název protiúčtu", "{day}.10.2026;-{amount};CZK;ALBERT"),
    "Hungarian": ("Könyvelés dátuma;Összeg;Devizanem;Partner", "2026.10.{day};-{amount};HUF;SPAR"),
    "Finnish": ("Kirjauspäivä;Määrä EUROA;Saaja/Maksaja", "2026-10-{day};-{amount};K-MARKET"),
    "Greek": ("Ημερομηνία;Περιγραφή;Ποσό", "2026-10-{day};ΣΚΛΑΒΕΝΙΤΗΣ;-{amount}"),
    "Hebrew": ("תאריך עסקה,שם בית העסק,סכום חיוב", "{day}/10/2026,שופרסל,{amount}"),
    "Turkish": ("Tarih;Açıklama;İşlem Tutarı", "{day}.10.2026;MIGROS;-{amount}"),
    "Russian": ("Дата операции;Описание;Сумма операции", "{day}.10.2026;ПЯТЁРОЧКА;-{amount}"),
}


def test_a_header_of_these_languages_is_read_without_a_balance(read: Read) -> None:
    found = {}
    for language, (header, row) in HEADERS.items():
        rows = [row.format(day=day, amount=amount) for day, amount in ((13, 842), (14, 3000), (20, 560))]
        found[language] = [line.amount for line in read("\n".join((header, *rows)) + "\n", currency="EUR").lines]
    assert found == {language: [Decimal(842), Decimal(3000), Decimal(560)] for language in HEADERS}


@pytest.mark.parametrize(
    ("column", "settled", "open_state"),
    [
        ("Info", "Umsatz gebucht", "Umsatz vorgemerkt"),
        ("Remark", "Completed", "Declined"),
        ("Anmerkung", "交易成功", "交易关闭"),
    ],
)
def test_a_column_of_states_under_any_name_leaves_out_what_did_not_happen(
    read: Read, column: str, settled: str, open_state: str
) -> None:
    states = (settled, open_state, settled)
    rows = [f"2026-10-{day};Laden;-{day},00;EUR;{state}" for day, state in zip((12, 13, 14), states, strict=True)]
    result = read(f"Datum;Text;Betrag;Währung;{column}\n" + "\n".join(rows))
    assert ([line.amount for line in result.lines], [s.line for s in result.skipped]) == ([12, 14], [3])


def test_a_column_of_kinds_of_lines_is_none_of_states(read: Read) -> None:
    rows = "2026-10-12;Shop;-12.00;Sale\n2026-10-13;Shop;5.00;Reversal\n2026-10-14;Shop;-14.00;Sale"
    assert len(read(f"Date;Description;Amount;Kind\n{rows}", currency="EUR").lines) == 3
