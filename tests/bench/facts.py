"""What is asked of the tools that state facts: many sets each, so that no kept answer stands for all of them."""

from itertools import product
from typing import Any

RELEASE_WINDOW = "get_award_release_window"
_AIRLINES = "BA AA AC AF AS AY AZ B6 CX DL EK ET EY IB JL KE KL LH LX LO MH NH NZ OS OZ QF QR SK SN SQ TG TK TP UA VS"
_FROM_LONDON = "JFK BOS IAD MIA ATL SFO LAX SEA LAS MCO TPA AUS YYZ BGI GRU CPT JNB LOS ACC DEL BOM BLR DXB RUH HND MLE"
_BANKS = (
    "amex-membership-rewards",
    "bilt-rewards",
    "capital-one-miles",
    "chase-ultimate-rewards",
    "citi-thankyou-rewards",
    "rove-miles",
)
_PARTNERS = (  # all six transfer to these
    "british-airways-club",
    "cathay-asia-miles",
    "flying-blue",
    "iberia-club",
    "qantas-frequent-flyer",
    "turkish-miles-and-smiles",
    "virgin-atlantic-flying-club",
)
_RATED = (
    "accor-live-limitless",
    "air-canada-aeroplan",
    "american-airlines-aadvantage",
    "atmos-rewards",
    "avianca-lifemiles",
    "cathay-asia-miles",
    "delta-skymiles",
    "emirates-skywards",
    "etihad-guest",
    "finnair-plus",
    "flying-blue",
    "iberia-club",
    "icelandair-saga-club",
    "jal-mileage-bank",
    "jetblue-trueblue",
    "lufthansa-miles-and-more",
    "qatar-airways-privilege-club",
    "singapore-krisflyer",
    "tap-miles-and-go",
    "turkish-miles-and-smiles",
    "united-mileageplus",
    "virgin-atlantic-flying-club",
    "world-of-hyatt",
    "wyndham-rewards",
)
_VIRGIN = {"program": "virgin-atlantic-flying-club", "origin": "LHR"}
FACTS: dict[str, list[dict[str, Any]]] = {
    RELEASE_WINDOW: [{"airline": airline} for airline in _AIRLINES.split()],
    "get_pricing": [_VIRGIN | {"destination": destination} for destination in _FROM_LONDON.split()],
    "list_transfer_partners": [{"program": program} for program in dict.fromkeys((*_BANKS, *_PARTNERS, *_RATED))],
    "get_program_rates": [{"program": program} for program in _RATED],
    "find_transfer_paths": [{"from_program": bank, "target_program": to} for bank, to in product(_BANKS, _PARTNERS)],
    "affordable_destinations": [{"program": "avios", "balance": points} for points in range(20_000, 120_000, 5_000)],
}
