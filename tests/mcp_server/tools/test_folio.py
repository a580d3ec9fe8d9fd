"""Audits of hotel bills, called through the gate."""

from typing import Any

import pytest

from mcp_server.tools import folio
from shared.db import migrations  # noqa: F401 - every table is known
from shared.db.base import Base
from tests.mcp_server.tools.conftest import Use
from tests.shared.domain.folio.test_reading import long_bill
from tests.support.people import People

AWARD = """GRAND SHORELINE RESORT - A HYATT PROPERTY
Arrival: 03-04-26  Departure: 03-06-26
World of Hyatt #: 5*****21R   Confirmation: 30112233
Rate: FREE NIGHT AWARD

Date        Description                                 Charges      Credits
----------------------------------------------------------------------------
03-04-26    Award Redemption Night                         0.00
03-04-26    Resort Fee                                    45.00
03-04-26    Tax Resort Fee                                 4.73
03-05-26    Award Redemption Night                         0.00
03-05-26    Minibar                                        9.00
03-06-26    Visa XXXX1234                                              58.73
----------------------------------------------------------------------------
Balance                                                0.00 USD"""
MARRIOTT = """EXAMPLE BAY MARRIOTT
Arrive 04OCT26 Depart 05OCT26 15:10   Bonvoy Platinum Elite
04OCT26|Award Redemption Night|0.00
04OCT26|Destination Fee|35.00
05OCT26|Late Checkout Fee|75.00
Total|USD|110.00"""


@pytest.mark.spec("s4.4.audit_hotel_folio.result", "s4.4.audit_hotel_folio.params")
def test_audit_hotel_folio_finds_what_is_wrong_and_drafts_the_dispute(people: People, use: Use) -> None:
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=AWARD)
    first, second = answer["findings"]
    assert (first["rule"], first["amount"], first["currency"]) == ("H01", 49.73, "USD")
    assert first["lines"] == ["Resort Fee", "Tax Resort Fee"]
    assert (first["severity"], first["kind"], first["dispute_ref"]) == ("high", "charge", "D-HYATT-TERMS")
    assert (first["as_of"], first["unaudited"]) == ("2026", True)
    assert second["rule"] == "C05"
    assert answer["totals"]["disputed"] == 58.73
    assert (answer["totals"]["lines_read"], answer["totals"]["lines_unread"]) == (6, 0)
    assert "Free Night Award" in answer["dispute_template"]
    assert "30112233" in answer["dispute_template"]
    assert answer["judged"]["stay_type"] == "award"
    assert answer["message"].startswith("6 lines read: 2 findings on 3 lines; 58.73 USD to ask about.")


def test_audit_hotel_folio_takes_what_the_caller_says_over_the_bill(people: People, use: Use) -> None:
    ask = {"chain": "hyatt", "folio_text": AWARD, "status_tier": "Globalist", "confirmation_number": "X-1"}
    answer = use(people.paula, "audit_hotel_folio", **ask)
    assert answer["judged"]["status_tier"] == "globalist"
    assert "X-1" in answer["dispute_template"]
    assert any(b.startswith("Parking: free on free night awards") for b in answer["expected_benefits"])
    assert all("unaudited" in b for b in answer["expected_benefits"])
    assert use(people.paula, "audit_hotel_folio", **ask, stay_type="cash")["judged"]["stay_type"] == "cash"


@pytest.mark.spec("s4.4.audit_hotel_folio.premium")
@pytest.mark.parametrize("tool", ["audit_hotel_folio", "audit_marriott_folio"])
def test_folio_tools_need_premium(people: People, use: Use, tool: str) -> None:
    chain = {"chain": "hyatt"} if tool == "audit_hotel_folio" else {}
    assert use(people.bob, tool, folio_text=AWARD, **chain)["status"] == "paywall"


@pytest.mark.spec("s4.4.audit_marriott_folio.tiers")
def test_audit_marriott_folio_disputes_no_fee_that_is_payable(people: People, use: Use) -> None:
    answer = use(people.paula, "audit_marriott_folio", folio_text=MARRIOTT, status_tier="titanium")
    assert [(f["rule"], f["severity"]) for f in answer["findings"]] == [("M03", "medium"), ("M01", "info")]
    assert answer["totals"]["disputed"] == 75
    assert "Destination" not in answer["dispute_template"]
    assert "1 for information only" in answer["message"]


def test_audit_marriott_folio_knows_its_own_tiers_only(people: People, use: Use) -> None:
    answer = use(people.paula, "audit_marriott_folio", folio_text=MARRIOTT, status_tier="globalist")
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "status_tier")
    loose = use(people.paula, "audit_hotel_folio", chain="ihg", folio_text=MARRIOTT, status_tier="Globalist")
    assert (loose["status"], loose["errors"][0]["expected"][:12]) == ("invalid", "one of club,")


def test_audit_hotel_folio_of_a_clean_bill_disputes_nothing(people: People, use: Use) -> None:
    text = "HYATT PLACE\nAward: Category 2\nDate|Item|Amount\n2026-05-01|Market Snack|6.75\nTotal|USD|6.75"
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=text, status_tier="explorist")
    assert (answer["status"], answer["findings"], answer["dispute_template"]) == ("ok", [], "")
    assert answer["points_estimate"] is None
    assert "nothing to ask about" in answer["message"]


def test_audit_hotel_folio_tells_the_points_at_stake(people: People, use: Use) -> None:
    text = "HILTON\nIn 2026-05-01 Out 2026-05-06\n5 nights x 60,000 points\n2026-05-01|Points redemption stay|0.00"
    answer = use(people.paula, "audit_hotel_folio", chain="hilton", folio_text=text, status_tier="gold")
    assert answer["points_estimate"] == {"low": 60_000, "high": 60_000}
    assert (answer["findings"][0]["kind"], answer["findings"][0]["currency"]) == ("points", None)
    assert answer["totals"]["disputed"] == 0


def test_audit_hotel_folio_says_when_lines_cannot_be_read(people: People, use: Use) -> None:
    nothing = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text="Thank you for your stay")
    assert nothing["status"] == "no_data"
    smudged = AWARD.replace("9.00", "9.OO")
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=smudged)
    assert answer["totals"]["lines_unread"] == 1
    assert "could not be read" in answer["message"]


def test_audit_hotel_folio_stores_nothing_of_the_text(people: People, use: Use, queries: list[str]) -> None:
    use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=AWARD)
    assert Base.metadata.tables
    assert not any("SHORELINE" in q or "folio" in q.lower() for q in queries)
    assert not any("folio_text" in t.columns for t in Base.metadata.tables.values())


def test_audit_hotel_folio_takes_a_long_text_and_refuses_a_longer_one(people: People, use: Use) -> None:
    long = AWARD + "\n" * (60_000 - len(AWARD))
    assert use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=long)["status"] == "ok"
    assert use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=long + "\n")["status"] == "invalid"


def test_audit_hotel_folio_says_which_charges_it_has_no_rule_for(people: People, use: Use) -> None:
    bill = "Hilton\n2026-03-03  Rum  1500.00\n2026-03-04  Frukost  150.00\nSaldo 1650.00 SEK"
    said = use(people.alice, "audit_hotel_folio", chain="hilton", folio_text=bill, status_tier="gold")["message"]
    assert "2 charges are of no kind known here" in said


ONE_SPACE = "Hyatt Regency Chicago\nArrival 03/10/26 Departure 03/12/26\n{lines}\n{total}"


@pytest.mark.parametrize("total", ["Total 1,225.00 USD", "Total: $1,225.00", "Balance $1,225.00", "Total 1225.00 USD"])
def test_a_comma_inside_a_sum_makes_no_dispute(people: People, use: Use, total: str) -> None:
    lines = "03/10/26 Room Charge 612.50\n03/11/26 Room Charge 612.50"
    bill = ONE_SPACE.format(lines=lines, total=total)
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=bill)
    assert (answer["findings"], answer["dispute_template"]) == ([], "")
    assert (answer["totals"]["printed_balance"], answer["totals"]["currency"]) == (1225, "USD")


def test_nights_of_points_and_cash_are_charges_and_no_payments(people: People, use: Use) -> None:
    lines = "03/10/26 Room Charge Points+Cash 412.50\n03/11/26 Room Charge Points+Cash 412.50"
    bill = ONE_SPACE.format(lines=lines, total="Total 825.00 USD")
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=bill)
    totals = answer["totals"]
    assert (totals["charges"], totals["credits"], totals["balance"], totals["disputed"]) == (825, 0, 825, 0)


def test_a_letter_claims_nothing_that_nobody_said(people: People, use: Use) -> None:
    bill = "INTERCONTINENTAL EXAMPLE\n2026-05-01 - 2026-05-02\n2026-05-02 Breakfast 30.00\nTotal 30.00 EUR"
    answer = use(people.paula, "audit_hotel_folio", chain="ihg", folio_text=bill, status_tier="diamond")
    assert [(f["rule"], f["severity"]) for f in answer["findings"]] == [("I02", "low")]
    letter = answer["dispute_template"]
    assert "if I chose breakfast as my Diamond Elite welcome amenity" in letter
    assert "who chose" not in letter
    assert "which I chose" not in letter
    assert "If all of them apply" in letter
    assert "Findings of severity low say what to confirm first." in answer["message"]
    noted = bill.replace("EXAMPLE", "EXAMPLE\nWelcome choice: breakfast")
    answer = use(people.paula, "audit_hotel_folio", chain="ihg", folio_text=noted, status_tier="diamond")
    assert answer["findings"][0]["severity"] == "medium"
    assert "which the bill notes as my Diamond Elite welcome amenity" in answer["dispute_template"]


def test_a_letter_calls_nobody_a_member_of_whom_the_bill_says_nothing(people: People, use: Use) -> None:
    bill = "SHERATON EXAMPLE\nAward Redemption\n2026-05-01 Award Night 0.00\n2026-05-01 Minibar 8.00\nTotal 8.00 USD"
    letter = use(people.paula, "audit_marriott_folio", folio_text=bill)["dispute_template"]
    assert "I stayed with you on an Award Redemption stay." in letter
    assert "member" not in letter.split("\n")[4]


def test_an_unclear_currency_is_null_and_said(people: People, use: Use) -> None:
    bill = "THE OLD MILL\n2026-05-01 Room Charge $100.00\n2026-05-01 Minibar $8.00\nTotal $108.00"
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=bill)
    assert (answer["totals"]["currency"], answer["findings"][0]["currency"]) == (None, None)
    assert "does not say clearly which currency it is in" in answer["message"]


def test_a_bill_that_is_not_understood_is_not_said_to_be_wrong(people: People, use: Use) -> None:
    bill = "HYATT EXAMPLE\n2026-05-01  Room Charge  100.00\n2026-05-01  Zorblatt  20.00\nTotal  80.00 EUR"
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=bill)
    assert answer["findings"] == []
    assert answer["message"].startswith(
        "The bill was not read whole: its lines come to 120.00, it prints 80.00. So nothing is disputed."
    )


def test_a_long_bill_is_audited_as_a_short_one_is(people: People, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    text = long_bill()
    assert len(text) > folio.MOST_CHARACTERS_HERE
    in_process = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=text)
    monkeypatch.setattr(folio, "MOST_CHARACTERS_HERE", 60_000)
    assert use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=text) == in_process
    assert in_process["totals"]["lines_read"] == 200


def need_a_gigabyte(*_: Any) -> bytearray:
    return bytearray(1 << 30)


def test_a_bill_over_its_budget_is_refused_with_the_reason(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real bill would take memory that the process it is forked from has free, or more, by what ran before."""
    monkeypatch.setattr(folio, "audit_folio", need_a_gigabyte)
    answer = use(people.paula, "audit_hotel_folio", chain="hyatt", folio_text=long_bill())
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "folio_text")
    assert "reading it needs too much memory" in answer["message"]
