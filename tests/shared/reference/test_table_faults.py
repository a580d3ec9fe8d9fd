"""Faults in copies of the files about hotels, lounges, surcharges and bookings, each with its file and line."""

import csv
import shutil
from pathlib import Path

import pytest

from shared.reference.load import FOLDER, ReferenceError, read_tables

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")


def change(folder: Path, name: str, line: int, **cells: str) -> None:
    with (folder / name).open(newline="", encoding="utf-8") as table:
        rows = list(csv.reader(table))
    rows[line - 1] = [cells.get(column, cell) for column, cell in zip(rows[0], rows[line - 1], strict=True)]
    with (folder / name).open("w", newline="", encoding="utf-8") as table:
        csv.writer(table, lineterminator="\n").writerows(rows)


def test_files_of_hotels_and_lounges_name_what_exists(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    change(folder, "hotels.csv", 2, lat="1.00", lon="")
    change(folder, "hotel_categories.csv", 2, hotel="a-hotel-of-nobody")
    change(folder, "hotel_categories.csv", 3, category="9")
    change(folder, "hotel_list_members.csv", 2, lists="fhr|gold", hotel="another-of-nobody")
    change(folder, "hotel_point_values.csv", 2, kind="gift")
    change(folder, "lounges.csv", 2, networks="loungepass")
    change(folder, "lounges.csv", 3, airport="QQQ")
    change(folder, "lounge_entry.csv", 2, network="moon", holder="nobody", guests_free="3")
    change(folder, "lounge_entry.csv", 3, guests_on="moon", guest_fee="10")
    change(folder, "alliance_tiers.csv", 2, alliance_tier="star-lead", tiers="50K|Captain")
    change(folder, "hotel_programmes.csv", 5, free_night_every="9", free_night_tier="Ruby", free_night_cards="no-card")
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    for fault in (
        "hotel_programmes.csv:5: free_night_every 9 is not 3 to 7",
        "hotel_programmes.csv:5: free_night_tier 'Ruby' is no tier of hilton-honors",
        "hotel_programmes.csv:5: 'no-card' is not in cards.csv",
        "lounge_entry.csv:2: 'moon' is not in lounge_memberships.csv",
        "lounge_entry.csv:2: holder 'nobody' is neither a card of cards.csv nor the network itself",
        "lounge_entry.csv:2: 3 guests are free, but 2 may come at most",
        "lounge_entry.csv:3: guests_on 'moon' is not one of same_flight, same_airline, same_alliance, same_day",
        "lounge_entry.csv:3: guest_fee and fee_currency go together",
        "alliance_tiers.csv:2: 'star-lead' is not in lounge_memberships.csv",
        "alliance_tiers.csv:2: 'Captain' is no tier of air-canada-aeroplan",
        "alliance_tiers.csv:2: 75K of air-canada-aeroplan brings no alliance status, and a lower tier does",
        "hotels.csv:2: of a place both lat and lon are known, or neither",
        "hotel_categories.csv:2: hotel 'a-hotel-of-nobody' is not in hotels.csv",
        "hotel_categories.csv:3: category '9' is not 1 to 8 or A to F",
        "hotel_list_members.csv:2: 'gold' is not in hotel_lists.csv",
        "hotel_list_members.csv:2: hotel 'another-of-nobody' is not in hotels.csv",
        "hotel_point_values.csv:2: kind 'gift' is not one of night, bill",
        "lounges.csv:2: 'loungepass' is not in lounge_memberships.csv",
        "lounges.csv:3: 'QQQ' is not an airport",
    ):
        assert fault in error.value.faults


@pytest.mark.slow  # loads all facts
def test_two_categories_of_a_hotel_do_not_hold_on_one_day(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    lines = (folder / "hotel_categories.csv").read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith("hyatt-house-tokyo-shibuya,5"))
    change(folder, "hotel_categories.csv", line, valid_to="2026-05-20")
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    assert any("hotel_categories.csv" in fault and "overlaps in time" in fault for fault in error.value.faults)


def test_files_of_links_doubtful_seats_and_card_fees_hold_what_can_be_used(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    change(
        folder, "booking_links.csv", 2, url="https://aircanada.com.example.org/?d={date}&who={name}", cabins="first=F"
    )
    change(folder, "phantom_seats.csv", 2, airline="ZZ", cabin="cargo")
    change(folder, "card_fees.csv", 2, card_slug="us-nobody", foreign_fee_percent="27")
    change(folder, "card_fees.csv", 3, foreign_fee_percent="", additional_card_fee="")
    change(folder, "card_fees.csv", 4, confidence="low", audited_on="")
    shared = (folder / "ambiguous_aliases.csv").read_text(encoding="utf-8")
    (folder / "ambiguous_aliases.csv").write_text(shared.replace("\nhsbc,", "\nhsbc of all,"), encoding="utf-8")
    change(folder, "program_aliases.csv", 2, alias="hsbc", program="hsbc-premier-rewards-uk")
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    for fault in (
        "booking_links.csv:2: 'https://aircanada.com.example.org/?d={date}&who={name}' is no https address of a host in"
        " primary_hosts.csv",
        "booking_links.csv:2: {name} is not one of cabin, date, destination, origin, passengers",
        "booking_links.csv:2: of origin, destination and date the address takes all, or no route at all",
        "booking_links.csv:2: date_format and cabins stand where the address takes a date and a cabin, and only there",
        "booking_links.csv:2: cabins are economy, premium_economy, business, first, each with its word, in this order",
        "card_fees.csv:2: card_slug 'us-nobody' is not in cards.csv",
        "card_fees.csv:2: foreign_fee_percent 27 is outside 0 to 5",
        "card_fees.csv:3: neither a fee abroad nor one of an additional card is known",
        "card_fees.csv:4: a fee of confidence low would be told as certain",
        "program_aliases.csv:2: programmes of HK, IN, SG begin with 'hsbc' too: list all in ambiguous_aliases.csv",
        "phantom_seats.csv:2: 'ZZ' is not an airline of airlines.csv",
        "phantom_seats.csv:2: cabin 'cargo' is not one of economy, premium_economy, business, first",
    ):
        assert fault in error.value.faults


def test_the_file_of_surcharges_has_known_levels_and_cabins(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "data"))
    change(folder, "carrier_surcharges.csv", 2, level="some", cabin="business|cargo", usd_low="9", usd_high="8")
    with pytest.raises(ReferenceError) as error:
        read_tables(folder)
    for fault in (
        "carrier_surcharges.csv:2: level 'some' is not one of none, low, moderate, high, very_high",
        "carrier_surcharges.csv:2: 'cargo' is not a cabin",
        "carrier_surcharges.csv:2: usd_low is above usd_high",
    ):
        assert fault in error.value.faults
