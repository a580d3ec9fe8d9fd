"""Each source that is watched, in its own form: the mapping finds the keys and values where that source has them."""

import json
from typing import Any

import pytest

from shared.domain.source_files import read_page, read_source
from shared.reference.load import reference
from shared.reference.source_comparison import build_name_finder
from shared.reference.watched_sources import build_map

CARD: dict[str, Any] = {
    "name": "Gold",
    "url": reference().cards["us-amex-gold"].issuer_url,
    "annualFee": 150,
    "offers": [{"spend": 5000, "amount": [{"amount": 90000}]}, {"spend": 2000, "amount": [{"amount": 50000}]}],
}
BANKS = {
    "_meta": {"last_updated": "2026-04-06", "sources": ["https://bank.example"]},
    "citi_ty": {
        "display_name": "Citi ThankYou Points",
        "airlines": {"jal": {"program": "Japan Airlines Mileage Bank", "ratio": 0.75, "note": "4:3 ratio"}},
        "hotels": {"choice": {"program": "Choice Privileges", "ratio": 2.0}},
    },
}
CHARTS = {
    "award_charts": {
        "AS_self_US": {
            "ffp_code": "AS",
            "type": "distance_based",
            "cabins": {"economy": [{"min_miles": 701, "max_miles": 1400, "miles": 7500}]},
        },
        "AA_part": {"type": "zone_based", "cabins": {"economy": {"NA": {"EU": 30000}}}},
    }
}
BONUS = {
    "Program": "Citi Thank You Rewards",
    "Partner": "Avianca Life Miles",
    "Bonus": "0.25",
    "Start Date": "Sun Mar 22 2026 00:00:00 GMT-0400 (Eastern Daylight Time)",
    "End Date": "Sat Apr 18 2026 00:00:00 GMT-0400 (Eastern Daylight Time)",
    "Transfer Ratio": "1:1.25",
}
ACTIVE = {
    "from_display": "Capital One Miles",
    "to_display": "JAL (Japan Airlines) Mileage Bank",
    "bonus_pct": 30,
    "ratio": 1.3,
    "start_date": "2026-04-01",
    "end_date_inclusive": "2026-04-30",
}
TRANSFERS = {
    "schema_version": "1.0.0",
    "transfers": [{"from_program": "Capital One Rewards", "to_program": "Avios", "ratio": 1.33, "category": "airline"}],
}
FINDER = [
    {
        "cardId": "amex-gold",
        "hasWelcomeOffer": True,
        "parsed": {"points": 60000.0, "minSpend": 6000.0, "windowMonths": 6, "additionalTiers": []},
    },
    {"cardId": "amex-platinum", "hasWelcomeOffer": False},
]
PAGE, GOLD = (read_page(CARD["url"]) or "",), ("us-amex-gold",)
WANTED: dict[str, tuple[Any, list[tuple[tuple[str, ...], dict[str, str]]]]] = {
    "advaitmbb-transfer-bonuses": (
        [BONUS, BONUS | {"Program": "🇨🇦 RBC Avion"}, BONUS | {"Bonus": "25% - 125%"}],
        [
            (
                ("citi-thankyou-rewards", "avianca-lifemiles", "2026-03-22"),
                {"bonus_percent": "25", "valid_to": "2026-04-18"},
            ),
            (("citi-thankyou-rewards", "avianca-lifemiles", "2026-03-22"), {"valid_to": "2026-04-18"}),
        ],
    ),
    "andenacitelli-cards": ([CARD], [(PAGE, {"annual_fee": "150"})]),
    "andenacitelli-offers": (
        [CARD],
        [
            (GOLD, {"amount": "90000", "spend": "5000"}),
            (GOLD, {"amount": "50000", "spend": "2000"}),
        ],
    ),
    "awardchart-bands": (CHARTS, [(("as_self_us", "economy", "701"), {"max_miles": "1400", "points": "7500"})]),
    "duffcalifornia-fees": ({"amex-gold": 325.0}, [(GOLD, {"annual_fee": "325.0"})]),
    "duffcalifornia-offers": (
        FINDER,
        [(GOLD, {"amount": "60000.0", "spend": "6000.0", "months": "6"}), (("us-amex-platinum",), {})],
    ),
    "toolkit-airline-transfers": (
        BANKS,
        [(("citi-thankyou-rewards", "jal-mileage-bank"), {"ratio_to/ratio_from": "0.75"})],
    ),
    "toolkit-hotel-transfers": (
        BANKS,
        [(("citi-thankyou-rewards", "choice-privileges"), {"ratio_to/ratio_from": "2.0"})],
    ),
    "toolkit-transfer-bonuses": (
        {"_meta": {"staleness_days": 7}, "active_bonuses": [ACTIVE], "expired_recently": [ACTIVE | {"bonus_pct": 9}]},
        [
            (
                ("capital-one-miles", "jal-mileage-bank", "2026-04-01"),
                {"bonus_percent": "30", "valid_to": "2026-04-30"},
            )
        ],
    ),
    "vandeut-transfers": (
        TRANSFERS,
        [(("capital-one-miles", "british-airways-club"), {"ratio_from/ratio_to": "1.33"})],
    ),
}
SOURCES = {source.name: source for source in reference().rows("watched_sources.csv")}


def test_every_watched_source_is_tried_in_its_form() -> None:
    assert set(SOURCES) == set(WANTED)


@pytest.mark.parametrize("name", WANTED)
def test_a_source_is_read_by_its_mapping(name: str) -> None:
    document, entries = WANTED[name]
    source = SOURCES[name]
    content = read_source(json.dumps(document).encode(), build_map(source), build_name_finder(reference(), source))
    assert [tuple(entry) for entry in content.entries] == entries
    assert content.unknown_names == ()
