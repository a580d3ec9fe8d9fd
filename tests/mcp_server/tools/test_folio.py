"""Audits of hotel bills, called through the gate."""

import pytest

from shared.db import schema  # noqa: F401 - every table is known
from shared.db.base import Base
from tests.mcp_server.tools.conftest import Use
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
    assert "2 to dispute, 58.73 USD" in answer["message"]


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
    assert "nothing to dispute" in answer["message"]


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
