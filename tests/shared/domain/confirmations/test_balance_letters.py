"""Balances in letters of programmes: read as they are, or asked about, in each language and whatever stands around."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.confirmations.balance_letters import read_balance
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_reader import read_mail
from shared.domain.confirmations.model import StatedBalance
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.mails import mail

POSTED = date(2026, 11, 20)
LINES = (
    "Your balance is {n} miles",
    "Points balance: {n} points",
    "You currently have {n} points.",
    "{n} miles available",
    "Prämienmeilen: {n} Meilen verfügbar",
    "Your balance as of 5 Nov 2026: {n} points",
    "Points balance\n{n}",
    "Ihr Meilenstand: {n} Meilen",
    "Ihr Punktestand beträgt {n} Punkte.",
    "Votre solde : {n} Miles",
    "Saldo: {n} puntos",
    "Il tuo saldo: {n} punti",
    "Seu saldo é de {n} milhas",
    "Uw saldo: {n} punten",
    "マイル残高: {n} マイル",
    "現在のマイル残高{n}マイル",
    "マイル残高(2026年10月31日現在) {n}マイル",
)
NOISE = (
    "Tier points: 320",
    "Statusmeilen: 12.000",
    "Miles earned this month: 1,250",
    "5,000 points expire on 31 Dec 2026",
    "Previous balance: 40,111 points",
    "Saldo anterior: 40.111 puntos",
    "Ancien solde : 40 111 Miles",
    "Alter Kontostand: 40.111 Meilen",
    "Card balance: $2,318.50",
    "Member number 123 456 789",
    "Earn 10,000 bonus miles with our card",
    "You have 3,000 miles that expire soon",
    "Elite nights: 12",
    "XP balance: 140",
)
PROGRAMS = {
    "air-canada-aeroplan": "Aeroplan",
    "lufthansa-miles-and-more": "Miles & More",
    "marriott-bonvoy": "Marriott Bonvoy",
    "iberia-club": "Iberia Club",
    "chase-ultimate-rewards": "Chase Ultimate Rewards",
    "ana-mileage-club": "ANA Mileage Club",
}
GROUPS = ("{:,}", "{:_}", "{}")


def read(body: str, sender: str = "", subject: str = "", domain: str = "") -> StatedBalance | None:
    text = Text(body, subject, sender, False, POSTED, domain)
    return read_balance([text], TravelNames(reference()))


@given(
    st.sampled_from(sorted(PROGRAMS)),
    st.integers(0, 3_000_000),
    st.sampled_from(LINES),
    st.sampled_from([",", ".", " ", "'", ""]),
    st.lists(st.sampled_from(NOISE), max_size=5, unique=True),
    st.integers(0, 5),
    st.sampled_from(["name", "sender", "other", "none"]),
)
@settings(max_examples=30, deadline=None)
def test_a_balance_is_read_right_or_asked_and_never_wrong(
    program: str, points: int, line: str, mark: str, noise: list[str], at: int, named: str
) -> None:
    lines = [*noise[:at], line.format(n=f"{points:,}".replace(",", mark)), *noise[at:]]
    if named == "name":
        lines.insert(0, f"{PROGRAMS[program]} account summary")
    elif named == "other":
        lines += [f"Your {PROGRAMS[program]} account", "Now transfer to United MileagePlus"]
    stated = read("\n".join(lines), sender=PROGRAMS[program] if named == "sender" else "")
    assert stated is not None
    assert stated.points == points
    assert stated.program == (program if named in ("name", "sender") else None)
    assert named != "other" or program in stated.programs


@pytest.mark.parametrize(
    ("body", "points", "amounts"),
    [
        ("Aeroplan\nYour balance is 42.318 miles", 42_318, [42_318]),
        ("Aeroplan\nCurrent balance: 30,000 points\nPoints balance: 31,000", None, [30_000, 31_000]),
        ("Aeroplan\nBalance: 42,318", None, [42_318]),  # of what?
        ("AAdvantage\nMileage balance: 42,318\nLoyalty Points: 30,000", 42_318, [42_318]),
    ],
)
def test_two_numbers_or_one_without_a_unit_are_a_question(body: str, points: int | None, amounts: list[int]) -> None:
    stated = read(body)
    assert stated is not None
    assert (stated.points, stated.amounts) == (points, amounts)


@pytest.mark.parametrize(
    "body",
    [
        "Your account balance is $2,318.50",
        "Aeroplan\nYour balance is 42,31 points",
        "Aeroplan\nTier points balance: 320 points",
        "KrisFlyer\nYou have 1,200 miles expiring on 31 Dec 2026",
        "Hotel 12,000 points a night\nTransfer 5,000 points",
    ],
)
def test_what_is_no_balance_is_none(body: str) -> None:
    assert read(body) is None


@pytest.mark.parametrize(
    ("body", "amounts"),
    [
        ("Aeroplan number 123 456 789\n48,210 points\nStatus: 25K\nAs of October 31, 2026", [48210]),
        ("Aeroplan\n60,000 points\nApply by 30 April 2027. The offer began on 1 November 2026.", []),
        ("Aeroplan\n60,000 points", []),
    ],
)
def test_points_alone_in_a_letter_of_a_day_are_a_question_and_those_of_an_offer_are_not(
    body: str, amounts: list[int]
) -> None:
    stated = read_balance([Text(body, "", "", False, POSTED, "")], TravelNames(reference()))
    assert (stated.amounts if stated else []) == amounts
    assert stated is None or stated.points is None


def test_the_day_of_the_line_counts_and_else_that_of_the_letter() -> None:
    dated, plain = (read(f"Aeroplan\nYour balance{day}: 42,318 points") for day in (" as of 5 Nov 2026", ""))
    assert dated
    assert plain
    assert (dated.as_of, plain.as_of) == (date(2026, 11, 5), POSTED)


def test_points_that_several_programmes_have_are_of_the_sender_or_asked() -> None:
    avios, cards = (
        "Your Avios balance: 42,318",
        "American Express Membership Rewards\nYour points balance: 9,000 points",
    )
    asked, known, of_card = read(avios), read(avios, domain="iberia.com"), read(cards)
    assert asked
    assert known
    assert of_card
    assert asked.program is None
    assert {"iberia-club", "british-airways-club"} <= set(asked.programs)
    assert known.program == "iberia-club"
    assert of_card.program is None
    assert "amex-membership-rewards-uk" in of_card.programs


def test_a_mail_with_a_booking_states_no_balance() -> None:
    booking = "Booking reference: X7Y8Z9\nBA285 LHR-SFO 4 May 2027 economy\nYour new balance is 12,000 Avios\n"
    assert read_mail(mail(booking), TravelNames(reference())).balance is None
    summary = mail("Aeroplan account summary\nYour balance is 42,318 points\nFly to Tokyo from 60,000 points")
    reading = read_mail(summary, TravelNames(reference()))
    assert reading.balance is not None
    assert (reading.balance.program, reading.balance.points, reading.missing) == ("air-canada-aeroplan", 42_318, [])


ENDS = (
    ("Your points will expire on 14 March 2027.", date(2027, 3, 14)),
    ("Vos Miles expirent le 31/03/2027.", date(2027, 3, 31)),
    ("Points expiration date: 2027-05-02", date(2027, 5, 2)),
    ("Points expiration date\n2 May 2027", date(2027, 5, 2)),
    ("Ihre Meilen sind gültig bis 30.06.2028", date(2028, 6, 30)),
    ("Seus pontos vencem em 15/02/2027", date(2027, 2, 15)),
    ("Tus puntos caducan el 15/02/2027", date(2027, 2, 15)),
    ("I tuoi punti scadono il 15 febbraio 2027", date(2027, 2, 15)),
    ("有効期限 2027年6月30日のマイル", date(2027, 6, 30)),
    ("{n} points expire on 31 Dec 2026", date(2026, 12, 31)),
    ("5,001 points expire on 31 Dec 2026", None),  # a part of them
    ("Your points expire on 05/02/2027", None),  # May or February
    ("Your points expired on 5 Nov 2025", None),
    ("Your points expire on 1 May 2027 and on 1 June 2027", None),
    ("Your Gold status and points tier expire on 28 Feb 2027", None),
    ("Your card with points expires on 28 Feb 2027", None),
    ("Your points never expire", None),
)


@given(st.integers(6_000, 3_000_000), st.sampled_from(LINES), st.sampled_from(ENDS), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_day_on_which_all_points_expire_is_read_and_no_other(
    points: int, line: str, end: tuple[str, date | None], is_first: bool
) -> None:
    words, day = end
    lines = [line.format(n=f"{points:,}"), words.format(n=f"{points:,}")]
    stated = read("\n".join(["Aeroplan account summary", *(lines[::-1] if is_first else lines)]))
    assert stated is not None
    assert (stated.points, stated.expires_on) == (points, day)
