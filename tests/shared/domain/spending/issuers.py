"""One invented statement of each issuer with the lines it should be read as: day, amount spent, category."""

from typing import NamedTuple


class Sample(NamedTuple):
    text: str
    currency: str | None
    lines: list[tuple[str, str, str]]


def _table(*rows: str) -> str:
    return "\r\n".join(rows) + "\r\n"


_AMEX = "Extended Details,Appears On Your Statement As,Address"
_BUSINESS = (
    "Cardholder Name,Account Number,Transaction Date,Merchant Name,Amount,Currency,Original Amount,Original Currency,"
    "Conversion Rate,Posted Date,Transaction Time,Authorisation Code,Transaction ID,Merchant Category,"
    "Transaction Type,MCC Description,Merchant Town/City,Merchant County/State,Merchant Post code/Zipcode,MCC,"
    "Statement Cycle"
)
_MONZO = (
    "Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,Notes and #tags,"
    "Address,Receipt,Description,Category split,Money Out,Money In"
)
SAMPLES = {
    "amex-us": Sample(
        _table(
            f"Date,Description,Amount,{_AMEX},City/State,Zip Code,Country,Reference,Category",
            "03/14/2026,CORNER BODEGA NYC,17.25,,,\"1 MAIN ST\nAPT 2\",NEW YORK NY,10001,US,'3201',"
            "Merchandise & Supplies-Groceries",
            "03/15/2026,ONLINE PAYMENT - THANK YOU,-250.00,,,,,,,'3202',",
            "03/16/2026,HERTZ RENTAL,\"1,310.00\",,,,,,US,'3203',Travel-Other",
        ),
        "USD",
        [
            ("2026-03-14", "17.25", "groceries"),
            ("2026-03-15", "-250.00", "excluded:payment"),
            ("2026-03-16", "1310.00", "travel_other"),
        ],
    ),
    "amex-uk": Sample(
        _table(
            f"Date,Description,Amount,{_AMEX},Town/City,Postcode,Country,Reference,Category",
            "14/03/2026,LIDL GB LEEDS,12.10,,,,LEEDS,LS1,UK,'AT1',General Purchases-Groceries",
            "15/03/2026,EASYJET REFUND,-80.00,,,,,,UK,'AT2',Travel-Airline",
        ),
        "GBP",
        [("2026-03-14", "12.10", "groceries"), ("2026-03-15", "-80.00", "airfare")],
    ),
    "chase-card-us": Sample(
        _table(
            "Transaction Date,Post Date,Description,Category,Type,Amount,Memo",
            "03/14/2026,03/16/2026,BLUE DOOR 88,Food & Drink,Sale,-31.40,",
            "03/15/2026,03/16/2026,Payment Thank You-Mobile,,Payment,500.00,",
            "03/17/2026,03/18/2026,PLAN FEE,,Fee,-3.10,",
        ),
        "USD",
        [
            ("2026-03-14", "31.40", "dining"),
            ("2026-03-15", "-500.00", "excluded:payment"),
            ("2026-03-17", "3.10", "excluded:fee_interest"),
        ],
    ),
    "citi-card-us": Sample(
        _table(
            "Status,Date,Description,Debit,Credit,Member Name",
            "Cleared,03/14/2026,WALGREENS 1010,9.99,,A EXAMPLE",
            "Pending,03/15/2026,WALGREENS 1011,8.88,,A EXAMPLE",
            "Cleared,03/16/2026,MACY'S RETURN,,-20.00,A EXAMPLE",
            "Cleared,03/17/2026,MACY'S RETURN,,20.00,A EXAMPLE",
        ),
        None,  # the header is not of one country alone
        [
            ("2026-03-14", "9.99", "pharmacy_health"),
            ("2026-03-16", "-20.00", "retail"),
            ("2026-03-17", "-20.00", "retail"),
        ],
    ),
    "capital-one-us": Sample(
        _table(
            "Transaction Date,Posted Date,Card No.,Description,Category,Debit,Credit",
            "2026-03-14,2026-03-15,7781,ROSE INN,Lodging,210.00,",
            "03/15/2026,03/16/2026,7781,CAPITAL ONE AUTOPAY PYMT,Payment/Credit,,90.00",
        ),
        None,  # the header is not of one country alone
        [("2026-03-14", "210.00", "hotels"), ("2026-03-15", "-90.00", "excluded:payment")],
    ),
    "discover-us": Sample(
        _table(
            "Trans. Date,Post Date,Description,Amount,Category",
            "03/14/2026,03/15/2026,KROGER 552,44.01,Supermarkets",
            "03/15/2026,03/15/2026,INTERNET PAYMENT - THANK YOU,-44.01,Payments and Credits",
        ),
        "USD",
        [("2026-03-14", "44.01", "groceries"), ("2026-03-15", "-44.01", "excluded:payment")],
    ),
    "barclays-us": Sample(
        _table(
            "Barclays Bank Delaware",
            "Account Number: XXXXXXXXXXXX1234",
            "Account Balance as of March 31 2026:    $12.00",
            "",
            "Transaction Date,Description,Category,Amount",
            "03/14/2026,JETBLUE 279,DEBIT,-129.00",
            "03/15/2026,Payment Received,CREDIT,129.00",
        ),
        None,  # the header is not of one country alone
        [("2026-03-14", "129.00", "airfare"), ("2026-03-15", "-129.00", "excluded:payment")],
    ),
    "barclaycard-uk": Sample(
        _table(
            '14 Mar 26,"BOOTS 0101, LEEDS",Visa,A EXAMPLE,,Health,,7.45',
            "15 Mar 26,Payment By Direct Debit Received,Visa,A EXAMPLE,,,120.00,",
        ),
        None,  # the header is not of one country alone
        [("2026-03-14", "7.45", "pharmacy_health"), ("2026-03-15", "-120.00", "excluded:payment")],
    ),
    "barclaycard-business-uk": Sample(
        _table(
            _BUSINESS,
            "Example Ltd,****9940,14/03/2026,NORTH LIGHT LTD,31.00,GBP,31.00,GBP,1,16/03/2026,182500,1,M1,"
            "Professional Services,PURCHASE,Photography,LONDON,,SW1P,5812,",
        ),
        "GBP",
        [("2026-03-14", "31.00", "dining")],
    ),
    "hsbc-uk": Sample(
        _table("14/03/2026,COSTA COFFEE,-4.20", '15/03/2026,PAYMENT - THANK YOU,"2,000.00"'),
        None,  # the header is not of one country alone
        [("2026-03-14", "4.20", "dining"), ("2026-03-15", "-2000.00", "excluded:payment")],
    ),
    "monzo-uk": Sample(
        _table(
            _MONZO,
            "tx1,14/03/2026,08:10:00,Card payment,Zed Bikes,,Transport,-6.45,GBP,-6.45,GBP,,,,ZED BIKES,,-6.45,",
            "tx2,2026-03-15,09:00:00,Pot transfer,Rainy day,,Savings,-50.00,GBP,-50.00,GBP,,,,Rainy day,,-50.00,",
        ),
        "GBP",
        [("2026-03-14", "6.45", "transit"), ("2026-03-15", "50.00", "excluded:transfer")],
    ),
    "revolut": Sample(
        _table(
            "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
            "CARD_PAYMENT,Current,2026-03-13 10:00:00,2026-03-14 11:00:00,Netflix,-11.99,0.00,EUR,COMPLETED,90.00",
            "CARD_PAYMENT,Current,2026-03-15 10:00:00,,Lidl,-5.00,0.00,EUR,PENDING,",
            "TOPUP,Current,2026-03-15 10:00:00,2026-03-15 10:00:01,By card,100.00,0.00,EUR,COMPLETED,190.00",
        ),
        "EUR",
        [("2026-03-14", "11.99", "streaming"), ("2026-03-15", "-100.00", "excluded:transfer")],
    ),
    "td-ca": Sample(
        _table("03/14/2026,TIM HORTONS 77,3.80,,1003.80", "03/15/2026,PAYMENT - THANK YOU,,1000.00,3.80"),
        None,  # the header is not of one country alone
        [("2026-03-14", "3.80", "dining"), ("2026-03-15", "-1000.00", "excluded:payment")],
    ),
    "anz-au": Sample(
        _table('14/03/26,"-18.75",BUNNINGS 4401', '15/03/2026,"500.00",PAYMENT THANKYOU 1'),
        None,  # the header is not of one country alone
        [("2026-03-14", "18.75", "home_improvement"), ("2026-03-15", "-500.00", "other")],
    ),
}
OFX = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
CHARSET:1252

<OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>CAD<CCACCTFROM><ACCTID>4111111111111111</CCACCTFROM>
<BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260314120000[-5:EST]<TRNAMT>-17.25<FITID>1<NAME>CAF&#233; &amp; BAKERY</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260315<TRNAMT>200.00<FITID>2<NAME>PAYMENT RECEIVED</STMTTRN>
<STMTTRN><TRNTYPE>POS<DTPOSTED>20260316<TRNAMT>-9,50<FITID>3<SIC>5541<NAME>ZED 4<MEMO>PUMP 3</STMTTRN>
<STMTTRN><TRNTYPE>ATM<DTPOSTED>20260317<TRNAMT>-60.00<FITID>4<NAME>BRANCH 12</STMTTRN>
</BANKTRANLIST></CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>"""
