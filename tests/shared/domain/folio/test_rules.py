"""Every rule: a bill on which it is found with its amount, and a bill much like it on which it must not be."""

from typing import Any

import pytest

from tests.shared.domain.folio.bills import audit, bill, book, one, rules_in

HYATT = "HYATT REGENCY EXAMPLE\nGuest: A EXAMPLE  2 adults  Arrival: 2026-05-01  Departure: 2026-05-03"
HYATT_AWARD = HYATT + "\nRate: FREE NIGHT AWARD"
HILTON = "CONRAD EXAMPLE CITY\nGuest B  2 guests  In 2026-05-01 Out 2026-05-03"
HILTON_AWARD = HILTON + "\nRATE PLAN: STANDARD ROOM REWARD"
MARRIOTT = "EXAMPLE CITY MARRIOTT\nGuest: C  Arrive 2026-05-01 Depart 2026-05-03"
IHG = "INTERCONTINENTAL EXAMPLE\nGuest D  2026-05-01 - 2026-05-03"
AWARD_NIGHTS = ("2026-05-01 Award Redemption Night 0.00", "2026-05-02 Award Redemption Night 0.00")
ROOMS = ("2026-05-01 Room Charge 200.00", "2026-05-02 Room Charge 200.00")
FEE = ("2026-05-01 Resort Fee 40.00", "2026-05-01 Resort Fee Tax 4.00")
LEFT_LATE = "2026-05-03 Late Checkout Fee 75.00"
LATE_STAY = (*ROOMS, LEFT_LATE)
FIVE = "HILTON EXAMPLE\nIn 2026-05-01 Out 2026-05-06\nSTANDARD ROOM REWARD"
FOUR = "HOLIDAY INN EXAMPLE\n2026-05-01 - 2026-05-05  IHG card holder"


def nights(count: int, points: str, text: str) -> tuple[str, ...]:
    return tuple(f"2026-05-0{n} {text} {points} points 0.00" for n in range(1, count + 1))


# rule, chain, stay type, tier, header, lines, amount, descriptions
FOUND: list[tuple[str, str, str, str, str, tuple[str, ...], str | None, list[str]]] = [
    ("C01", "ihg", "cash", "club", IHG, (*ROOMS, "2026-05-01 Spa 60.00", "2026-05-01 Spa 60.00"), "60", ["Spa"]),
    (
        "C02", "hyatt", "cash", "member", HYATT,
        (*ROOMS, "2026-05-03 Room Charge 200.00", "2026-05-03 Occupancy Tax 20.00"), "220",
        ["Room Charge", "Occupancy Tax"],
    ),
    ("C03", "marriott", "award", "gold", MARRIOTT, (*AWARD_NIGHTS, ROOMS[1]), "200", ["Room Charge"]),
    (
        "C04", "hilton", "award", "member", HILTON_AWARD, (*AWARD_NIGHTS, "2026-05-01 State Occupancy Tax 9.00"), "9",
        ["State Occupancy Tax"],
    ),
    (
        "C05", "marriott", "cash", "gold", MARRIOTT, (*ROOMS, "2026-05-01 Mini Bar 12.00", "2026-05-01 Sales Tax 1.20"),
        "13.20", ["Mini Bar", "Sales Tax"],
    ),
    ("C06", "ihg", "cash", "club", IHG, (*ROOMS, "2026-05-03 Currency conversion margin 18.00"), "18",
     ["Currency conversion margin"]),
    ("C06", "ihg", "cash", "club", IHG + "\nDCC rate includes a margin of 4%", ROOMS, None, []),
    ("C07", "hyatt", "cash", "member", HYATT, (*ROOMS, "2026-05-03 UNICEF 1.00"), "1", ["UNICEF"]),
    (
        "C09", "hyatt", "award", "member", HYATT_AWARD, (*AWARD_NIGHTS, *FEE, "2026-05-03 Resort Fee Waived -40.00"),
        "4", ["Resort Fee Tax"],
    ),
    (
        "C09", "ihg", "cash", "club", IHG,
        (*ROOMS, "2026-05-01 Self Parking 30.00", "2026-05-01 Parking Tax 3.00", "2026-05-02 Adj Parking -30.00"),
        "3", ["Parking Tax"],
    ),
    ("C10", "marriott", "cash", "member", MARRIOTT + "\nAdvance deposit of 100.00 USD received", ROOMS, "100", []),
    ("C11", "hilton", "cash", "silver", HILTON, (*ROOMS, "2026-05-01 Wi-Fi Access 14.95"), "14.95", ["Wi-Fi Access"]),
    ("C11", "ihg", "cash", "club", IHG, (*ROOMS, "2026-05-01 HSIA 9.00"), "9", ["HSIA"]),
    ("H07", "hyatt", "cash", "discoverist", HYATT, (*ROOMS, "2026-05-01 Premium Internet 14.95"), "14.95",
     ["Premium Internet"]),
    ("L07", "hilton", "cash", "diamond", HILTON, (*ROOMS, "2026-05-01 Premium Wi-Fi 9.00"), "9", ["Premium Wi-Fi"]),
    ("M10", "marriott", "cash", "platinum", MARRIOTT, (*ROOMS, "2026-05-01 Premium Internet 14.95"), "14.95",
     ["Premium Internet"]),
    ("H01", "hyatt", "award", "member", HYATT_AWARD, (*AWARD_NIGHTS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    ("H02", "hyatt", "cash", "globalist", HYATT, (*ROOMS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    ("H02", "hyatt", "cash", "member", HYATT + "\nGuest of Honor stay", (*ROOMS, FEE[0]), "40", ["Resort Fee"]),
    (
        "H03", "hyatt", "award", "globalist", HYATT_AWARD,
        (*AWARD_NIGHTS, "2026-05-01 Valet 60.00", "2026-05-01 Parking Tax 6.00"), "66", ["Valet", "Parking Tax"],
    ),
    ("H04", "hyatt", "award", "globalist", HYATT_AWARD, (*AWARD_NIGHTS, "2026-05-02 Breakfast 50.00"), "50",
     ["Breakfast"]),
    ("H05", "hyatt", "cash", "explorist", HYATT + " 13:30", LATE_STAY, "75", ["Late Checkout Fee"]),
    (
        "H06", "hyatt", "award", "member", HYATT_AWARD + "\nNo points were returned",
        ("2026-05-01 No-show charge 300.00",), "300", ["No-show charge"],
    ),
    (
        "H06", "hyatt", "award", "member", HYATT_AWARD + "\n30,000 points not returned",
        ("2026-05-01 No-show charge 300.00",), "300", ["No-show charge"],
    ),
    ("L01", "hilton", "award", "member", HILTON_AWARD, (*AWARD_NIGHTS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    (
        "L02", "hilton", "cash", "gold", HILTON, (*ROOMS, "2026-05-02 Lobby Bar 30.00", "2026-05-02 Breakfast 25.00"),
        "55", ["Lobby Bar", "Breakfast"],
    ),
    (
        "L02", "hilton", "cash", "gold", HILTON, (*ROOMS, "2026-05-02 Grill 150.00", "2026-05-02 F&B Credit -25.00"),
        "75", ["Grill"],
    ),
    ("L03", "hilton", "cash", "diamond", HILTON + " Mexico", (*ROOMS, "2026-05-02 Breakfast 25.00"), "25",
     ["Breakfast"]),
    ("L04", "hilton", "award", "silver", FIVE, nights(5, "50,000", "Points Redemption Night"), "50000",
     ["Points Redemption Night 50,000 points"]),
    ("L04", "hilton", "award", "silver", FIVE + "\n5 x 40,000 = 200,000 points", AWARD_NIGHTS, "40000", []),
    ("L05", "hilton", "cash", "diamond_reserve", HILTON + " 15:00", LATE_STAY, "75", ["Late Checkout Fee"]),
    ("L06", "hilton", "cash", "gold", HILTON, (*ROOMS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    ("L06", "hilton", "award", "gold", HILTON + "\nPoints & Money stay", (*ROOMS, FEE[0]), "40", ["Resort Fee"]),
    ("M01", "marriott", "award", "platinum", MARRIOTT, (*AWARD_NIGHTS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    ("M02", "marriott", "cash", "titanium", MARRIOTT, (*ROOMS, "2026-05-02 Breakfast 25.00"), "25", ["Breakfast"]),
    ("M03", "marriott", "cash", "platinum", MARRIOTT + " 16:00", LATE_STAY, "75", ["Late Checkout Fee"]),
    ("M04", "marriott", "cash", "platinum", MARRIOTT + "\nNote: no welcome gift was received", ROOMS, None, []),
    (
        "M05", "marriott", "cash", "gold", MARRIOTT,
        (*ROOMS, "2026-05-01 Walk compensation -100.00"), "100", ["Walk compensation"],
    ),
    (
        "M06", "marriott", "award", "gold", MARRIOTT + "\nAward stay, certificate kept",
        ("2026-05-01 Late cancellation fee 180.00", "2026-05-01 Occupancy Tax 18.00"), "198",
        ["Late cancellation fee", "Occupancy Tax"],
    ),
    ("M07", "marriott", "points_advance", "gold", MARRIOTT, (*ROOMS, "2026-05-01 Room Tax 20.00"), "420",
     ["Room Charge", "Room Charge", "Room Tax"]),
    (
        "M08", "marriott", "cash", "platinum", MARRIOTT + "\nNightly Upgrade Award confirmed",
        (*ROOMS, "2026-05-01 Suite Upgrade Charge 90.00"), "90", ["Suite Upgrade Charge"],
    ),
    (
        "M09", "marriott", "cash", "ambassador", MARRIOTT + " 20:00\nYour24 confirmed: 20:00 to 20:00",
        (*ROOMS, "2026-05-01 Early Check-in Fee 50.00", LEFT_LATE), "125", ["Early Check-in Fee", "Late Checkout Fee"],
    ),
    ("I01", "ihg", "award", "diamond", IHG, (*AWARD_NIGHTS, *FEE), "44", ["Resort Fee", "Resort Fee Tax"]),
    ("I02", "ihg", "cash", "diamond", IHG + "\nWelcome choice: breakfast", (*ROOMS, "2026-05-02 Breakfast 30.00"),
     "30", ["Breakfast"]),
    ("I03", "ihg", "cash", "gold", IHG + "\n2 x F&B Reward 20.00 presented", (*ROOMS, "2026-05-02 Dinner 35.00"), "35",
     ["Dinner"]),
    ("I04", "ihg", "cash", "ambassador", IHG + "\nDeparture time 15:45", LATE_STAY, "75", ["Late Checkout Fee"]),
    ("I05", "ihg", "award", "club", FOUR, nights(4, "20,000", "Reward Night"), "20000", ["Reward Night 20,000 points"]),
]  # fmt: skip

# rule, why not, chain, stay type, tier, header, lines
NOT_FOUND: list[tuple[str, str, str, str, str, str, tuple[str, ...]]] = [
    ("C01", "one was taken back", "ihg", "cash", "club", IHG,
     (*ROOMS, "2026-05-01 Spa 60.00", "2026-05-01 Spa 60.00", "2026-05-01 Spa Correction -60.00")),
    ("C01", "nights of different dates", "ihg", "cash", "club", IHG, ROOMS),
    ("C01", "two guests ate", "ihg", "cash", "club", IHG + "\n2 guests",
     ("2026-05-02 Breakfast 20.00", "2026-05-02 Breakfast 20.00")),
    ("C01", "tax of two different charges", "ihg", "cash", "club", IHG,
     ("2026-05-01 Spa 50.00", "2026-05-01 Sales Tax 5.00", "2026-05-01 Dinner 50.00", "2026-05-01 Sales Tax 5.00")),
    ("C02", "two rooms", "hyatt", "cash", "member", HYATT + "\n2 rooms", (*ROOMS, *ROOMS)),
    ("C02", "half a day", "hyatt", "cash", "member", HYATT, (*ROOMS, "2026-05-03 Room Charge 100.00")),
    ("C02", "no nights known", "hyatt", "cash", "member", "HYATT EXAMPLE", (*ROOMS, "2026-05-03 Room Charge 200.00")),
    ("C03", "a paid night of a mixed stay", "hyatt", "award", "member", HYATT, (AWARD_NIGHTS[0], ROOMS[1])),
    ("C03", "taken back", "hyatt", "award", "member", HYATT_AWARD, (ROOMS[0], "2026-05-01 Award redemption -200.00")),
    ("C03", "points and cash", "hyatt", "award", "member", HYATT + "\nPoints + Cash rate", ROOMS),
    ("C04", "a tax on each person abroad", "hyatt", "award", "member", HYATT_AWARD + " Bali",
     (*AWARD_NIGHTS, "2026-05-01 City Tax 4.00")),
    ("C04", "the tax of a paid night", "hyatt", "award", "member", HYATT,
     (AWARD_NIGHTS[0], ROOMS[1], "2026-05-02 Occupancy Tax 20.00")),
    ("C05", "taken back", "hyatt", "cash", "member", HYATT,
     (*ROOMS, "2026-05-01 Minibar 8.00", "2026-05-03 Minibar adjustment -8.00")),
    ("C06", "the guest chose it", "ihg", "cash", "club", IHG + "\nDCC accepted by the guest",
     (*ROOMS, "2026-05-03 DCC margin 4.00")),
    ("C07", "the guest asked", "hyatt", "cash", "member", HYATT + "\nDonation requested by guest",
     (*ROOMS, "2026-05-03 Charity donation 5.00")),
    ("C08", "it adds up", "hyatt", "cash", "member", HYATT, ROOMS),
    ("C09", "tax taken back too", "hyatt", "award", "member", HYATT_AWARD, (*FEE, "2026-05-03 Resort Fee Adj -44.00")),
    ("C10", "it is credited", "marriott", "cash", "member", MARRIOTT + "\nDeposit 100.00 USD",
     (*ROOMS, "2026-05-01 Advance Deposit -100.00")),
    ("C10", "it was returned", "marriott", "cash", "member", MARRIOTT + "\nDeposit 100.00 USD refunded", ROOMS),
    ("C11", "a premium speed", "hilton", "cash", "gold", HILTON, (*ROOMS, "2026-05-01 Premium Wi-Fi 9.00")),
    ("C11", "booked elsewhere", "hilton", "cash", "gold", HILTON + "\nBooked via Expedia",
     (*ROOMS, "2026-05-01 Internet 9.00")),
    ("H07", "a plain member", "hyatt", "cash", "member", HYATT, (*ROOMS, "2026-05-01 Premium Internet 9.00")),
    ("L07", "a Gold", "hilton", "cash", "gold", HILTON, (*ROOMS, "2026-05-01 Premium Wi-Fi 9.00")),
    ("M10", "a Silver", "marriott", "cash", "silver", MARRIOTT, (*ROOMS, "2026-05-01 Enhanced Internet 9.00")),
    ("M02", "a vacation club", "marriott", "cash", "platinum", MARRIOTT.replace("CITY", "VACATION CLUB"),
     (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("M02", "a hotel of no known brand", "marriott", "cash", "platinum", MARRIOTT.replace("CITY MARRIOTT", "MILL"),
     (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("H01", "a paid stay", "hyatt", "cash", "member", HYATT, (*ROOMS, *FEE)),
    ("H01", "taken back", "hyatt", "award", "member", HYATT_AWARD, (*FEE, "2026-05-03 Allowance -44.00")),
    ("H02", "an Explorist", "hyatt", "cash", "explorist", HYATT, (*ROOMS, *FEE)),
    ("H02", "booked elsewhere", "hyatt", "cash", "globalist", HYATT + "\nBooking.com rate", (*ROOMS, *FEE)),
    ("H03", "a paid stay", "hyatt", "cash", "globalist", HYATT, (*ROOMS, "2026-05-01 Valet 60.00")),
    ("H03", "not run by the hotel", "hyatt", "award", "globalist", HYATT_AWARD,
     ("2026-05-01 Municipal garage parking 20.00",)),
    ("H03", "valet cleaning is laundry", "hyatt", "award", "globalist", HYATT_AWARD,
     ("2026-05-01 Valet cleaning 20.00",)),
    ("H04", "an open club lounge", "hyatt", "cash", "globalist", HYATT + "\nRegency Club access",
     (*ROOMS, "2026-05-02 Breakfast 50.00")),
    ("H04", "credited", "hyatt", "cash", "globalist", HYATT,
     (*ROOMS, "2026-05-02 Breakfast 50.00", "2026-05-02 Breakfast credit -50.00")),
    ("H05", "after the tier's time", "hyatt", "cash", "explorist", HYATT + " 15:00", LATE_STAY),
    ("H05", "a resort", "hyatt", "cash", "globalist", HYATT.replace("REGENCY", "RESORT") + " 15:00", LATE_STAY),
    ("H06", "points came back", "hyatt", "award", "member", HYATT_AWARD + "\n30,000 points returned on 2026-05-04",
     ("2026-05-01 No-show charge 300.00",)),
    ("I05", "a line to sign", "ihg", "award", "club", FOUR.replace("IHG card holder", "Cardholder signature"),
     nights(4, "20,000", "Reward Night")),
    ("L01", "points and money", "hilton", "award", "member", HILTON + "\nPoints & Money", (*ROOMS, *FEE)),
    ("L01", "an optional package", "hilton", "award", "member", HILTON_AWARD,
     (*AWARD_NIGHTS, "2026-05-01 Optional resort charge package 40.00")),
    ("L02", "credited in full", "hilton", "cash", "gold", HILTON,
     (*ROOMS, "2026-05-02 Dinner 150.00", "2026-05-02 F&B Credit -100.00")),
    ("L02", "a brand with free breakfast", "hilton", "cash", "gold", HILTON.replace("CONRAD", "HAMPTON BY HILTON"),
     (*ROOMS, "2026-05-02 Bar 15.00")),
    ("L02", "outside the US", "hilton", "cash", "gold", HILTON + " Canada", (*ROOMS, "2026-05-02 Bar 15.00")),
    ("L03", "in the US", "hilton", "cash", "gold", HILTON, (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("L03", "a supplement", "hilton", "cash", "gold", HILTON + " Mexico",
     (*ROOMS, "2026-05-02 Breakfast hot buffet supplement 9.00")),
    ("L04", "the fifth was free", "hilton", "award", "gold", FIVE,
     (*nights(4, "50,000", "Points Redemption Night"), "2026-05-05 Points Redemption Night 0.00")),
    ("L04", "a plain member", "hilton", "award", "member", FIVE, nights(5, "50,000", "Points Redemption Night")),
    ("L04", "a premium reward", "hilton", "award", "gold", FIVE + "\nPremium room reward",
     nights(5, "90,000", "Points Redemption Night")),
    ("L05", "a Diamond", "hilton", "cash", "diamond", HILTON + " 15:00", LATE_STAY),
    ("L05", "too late", "hilton", "cash", "diamond_reserve", HILTON + " 17:00", LATE_STAY),
    ("L06", "paid with points", "hilton", "award", "gold", HILTON_AWARD, (*AWARD_NIGHTS, *FEE)),
    ("M01", "a paid stay", "marriott", "cash", "gold", MARRIOTT, (*ROOMS, *FEE)),
    ("M02", "the gift was points", "marriott", "cash", "platinum", MARRIOTT + "\nWelcome gift: 1,000 points",
     (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("M02", "a brand without it", "marriott", "cash", "platinum", MARRIOTT.replace("CITY MARRIOTT", "RITZ-CARLTON"),
     (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("M02", "a Gold", "marriott", "cash", "gold", MARRIOTT, (*ROOMS, "2026-05-02 Breakfast 25.00")),
    ("M03", "a resort", "marriott", "cash", "platinum", MARRIOTT.replace("CITY", "BEACH RESORT"), LATE_STAY),
    ("M03", "too late", "marriott", "cash", "platinum", MARRIOTT + " 18:30", LATE_STAY),
    ("M04", "no one reports it", "marriott", "cash", "platinum", MARRIOTT, ROOMS),
    ("M04", "it was given", "marriott", "cash", "platinum", MARRIOTT + "\nWelcome gift: 1,000 points", ROOMS),
    ("M05", "an ordinary adjustment", "marriott", "cash", "gold", MARRIOTT, (*ROOMS, "2026-05-01 Rate adj -20.00")),
    ("M06", "the certificate came back", "marriott", "award", "gold", MARRIOTT + "\nCertificate was returned",
     ("2026-05-01 Late cancellation fee 180.00",)),
    ("M07", "the award was forfeited", "marriott", "points_advance", "gold", MARRIOTT + "\nPoints not available",
     ROOMS),
    ("M08", "not confirmed", "marriott", "cash", "platinum", MARRIOTT + "\nNightly Upgrade Award not confirmed",
     (*ROOMS, "2026-05-01 Room upgrade fee 90.00")),
    ("M08", "no award used", "marriott", "cash", "platinum", MARRIOTT, (*ROOMS, "2026-05-01 Room upgrade fee 90.00")),
    ("M09", "no confirmed time", "marriott", "cash", "ambassador", MARRIOTT + " 20:00", LATE_STAY),
    ("M09", "declined", "marriott", "cash", "ambassador", MARRIOTT + " 20:00\nYour24 request declined", LATE_STAY),
    ("I01", "a paid stay", "ihg", "cash", "diamond", IHG, (*ROOMS, *FEE)),
    ("I02", "the choice was points", "ihg", "cash", "diamond", IHG + "\nWelcome choice: points",
     (*ROOMS, "2026-05-02 Breakfast 30.00")),
    ("I03", "credited", "ihg", "cash", "gold", IHG + "\nF&B Reward presented",
     (*ROOMS, "2026-05-02 Dinner 35.00", "2026-05-02 F&B Reward -20.00")),
    ("I03", "not presented", "ihg", "cash", "gold", IHG + "\nF&B Reward not presented",
     (*ROOMS, "2026-05-02 Dinner 35.00")),
    ("I04", "another brand", "ihg", "cash", "ambassador", IHG.replace("INTERCONTINENTAL", "KIMPTON"), LATE_STAY),
    ("I04", "too late", "ihg", "cash", "ambassador", IHG + "\nDeparture time 16:30", LATE_STAY),
    ("I05", "no card", "ihg", "award", "club", FOUR.replace("IHG card holder", ""),
     nights(4, "20,000", "Reward Night")),
    ("I05", "the fourth was free", "ihg", "award", "club", FOUR,
     (*nights(3, "20,000", "Reward Night"), "2026-05-04 Reward Night 0.00")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "chain", "stay", "tier", "header", "lines", "amount", "descriptions"),
    [pytest.param(*case, id=f"{case[0]}-{at}") for at, case in enumerate(FOUND)],
)
def test_a_broken_rule_is_found_with_its_amount_and_lines(
    rule: str, chain: str, stay: Any, tier: str, header: str, lines: tuple[str, ...], amount: Any, descriptions: Any
) -> None:
    done = audit(bill(header, *lines), chain, stay, tier)
    got, texts = one(done, rule)
    assert (None if got is None else float(got), texts) == (None if amount is None else float(amount), descriptions)
    assert "C08" not in rules_in(done)


@pytest.mark.parametrize(
    ("rule", "why", "chain", "stay", "tier", "header", "lines"),
    [pytest.param(*case, id=f"{case[0]}-{case[1].replace(' ', '-')}") for case in NOT_FOUND],
)
def test_what_is_right_is_not_found(
    rule: str, why: str, chain: str, stay: Any, tier: str, header: str, lines: tuple[str, ...]
) -> None:
    assert rule not in rules_in(audit(bill(header, *lines), chain, stay, tier)), why


def test_a_bill_that_does_not_add_up_is_said_so_with_the_difference() -> None:
    right = bill(HYATT, *ROOMS)
    assert one(audit(right.replace("|400.00", "|410.50"), "hyatt", "cash"), "C08") == (10.50, [])


def test_every_rule_of_the_data_is_tried_both_ways() -> None:
    rules = {r.id for r in book().rules}
    assert len(rules) == 40
    assert {case[0] for case in FOUND} | {"C08"} == rules
    assert {case[0] for case in NOT_FOUND} == rules
