"""Marks: two letters on one of eight hues, next to the name of a programme, an airline, a bank or a hotel chain."""

from typing import NamedTuple
from zlib import crc32

HUES = 8


class LetterMark(NamedTuple):
    """`hue` is 1 to 8, a class of the stylesheet; the name is always next to the letters."""

    letters: str
    hue: int


# The most common programmes and airlines, in a hue near their own colours. Airlines go by their IATA code.
_MARKS = {
    "accor-live-limitless": ("AL", 5),
    "aegean-miles-and-bonus": ("A3", 1),
    "aer-lingus-aerclub": ("EI", 2),
    "aeromexico-rewards": ("AM", 1),
    "air-canada-aeroplan": ("AC", 4),
    "air-india-maharaja-club": ("AI", 4),
    "american-airlines-aadvantage": ("AA", 1),
    "amex-membership-rewards": ("MR", 7),
    "amex-membership-rewards-au": ("MR", 7),
    "amex-membership-rewards-ca": ("MR", 7),
    "amex-membership-rewards-de": ("MR", 7),
    "amex-membership-rewards-hk": ("MR", 7),
    "amex-membership-rewards-in": ("MR", 7),
    "amex-membership-rewards-sg": ("MR", 7),
    "amex-membership-rewards-uk": ("MR", 7),
    "ana-mileage-club": ("NH", 7),
    "anz-rewards": ("AZ", 1),
    "atmos-rewards": ("AS", 2),
    "avianca-lifemiles": ("LM", 4),
    "axis-edge-miles": ("AX", 8),
    "axis-edge-rewards": ("AX", 8),
    "azul-fidelidade": ("AD", 1),
    "best-western-rewards": ("BW", 1),
    "bilt-rewards": ("BT", 8),
    "british-airways-club": ("BA", 1),
    "capital-one-miles": ("C1", 4),
    "cathay-asia-miles": ("CX", 2),
    "chase-ultimate-rewards": ("UR", 1),
    "choice-privileges": ("CH", 6),
    "citi-miles-sg": ("CI", 7),
    "citi-points-hk": ("CI", 7),
    "citi-thankyou-rewards": ("TY", 7),
    "citi-thankyou-rewards-sg": ("TY", 7),
    "commbank-awards": ("CB", 6),
    "copa-connectmiles": ("CM", 1),
    "dbs-points": ("DB", 4),
    "delta-skymiles": ("DL", 4),
    "emirates-skywards": ("EK", 4),
    "esfera": ("EF", 4),
    "etihad-guest": ("EY", 6),
    "eva-air-infinity-mileagelands": ("BR", 2),
    "finnair-plus": ("AY", 1),
    "flying-blue": ("AF", 7),
    "gol-smiles": ("G3", 6),
    "hdfc-reward-points": ("HD", 1),
    "hilton-honors": ("HH", 1),
    "hsbc-premier-rewards-uk": ("HS", 4),
    "hsbc-reward-points-in": ("HS", 4),
    "hsbc-reward-points-sg": ("HS", 4),
    "hsbc-rewardcash-hk": ("HS", 4),
    "i-prefer-hotel-rewards": ("IP", 8),
    "iberia-club": ("IB", 4),
    "icelandair-saga-club": ("FI", 1),
    "ihg-one-rewards": ("IH", 3),
    "jal-mileage-bank": ("JL", 4),
    "jetblue-trueblue": ("B6", 1),
    "korean-air-skypass": ("KE", 7),
    "latam-pass": ("LA", 8),
    "leading-hotels-leaders-club": ("LH", 6),
    "livelo": ("LV", 5),
    "lufthansa-miles-and-more": ("LH", 6),
    "malaysia-airlines-enrich": ("MH", 1),
    "marriott-bonvoy": ("MB", 3),
    "nab-rewards": ("NA", 4),
    "ocbc-dollars": ("OC", 4),
    "payback": ("PB", 1),
    "qantas-frequent-flyer": ("QF", 4),
    "qatar-airways-privilege-club": ("QR", 5),
    "radisson-rewards": ("RR", 8),
    "rakuten-points": ("RK", 4),
    "rbc-avion": ("RA", 1),
    "rove-miles": ("RV", 5),
    "sas-eurobonus": ("SK", 1),
    "singapore-krisflyer": ("SQ", 6),
    "southwest-rapid-rewards": ("WN", 6),
    "standard-chartered-360-hk": ("SC", 2),
    "standard-chartered-360-sg": ("SC", 2),
    "tap-miles-and-go": ("TP", 2),
    "thai-royal-orchid-plus": ("TG", 5),
    "turkish-miles-and-smiles": ("TK", 4),
    "united-mileageplus": ("UA", 1),
    "uob-uni-dollars": ("UO", 1),
    "virgin-atlantic-flying-club": ("VS", 4),
    "virgin-australia-velocity": ("VA", 4),
    "virgin-red": ("VR", 4),
    "vueling-club": ("VY", 6),
    "wells-fargo-rewards": ("WF", 4),
    "westpac-altitude": ("WP", 4),
    "world-of-hyatt": ("WH", 5),
    "wyndham-rewards": ("WY", 1),
}
# Chains use their programme's.
_MARKS |= {
    chain: _MARKS[program]
    for chain, program in {
        "accor": "accor-live-limitless",
        "best-western": "best-western-rewards",
        "choice": "choice-privileges",
        "hilton": "hilton-honors",
        "hyatt": "world-of-hyatt",
        "ihg": "ihg-one-rewards",
        "marriott": "marriott-bonvoy",
        "radisson": "radisson-rewards",
        "wyndham": "wyndham-rewards",
    }.items()
}
_HUES_OF_AIRLINES = {letters: hue for slug, (letters, hue) in _MARKS.items() if slug != "leading-hotels-leaders-club"}


def find_mark(slug: str, name: str = "") -> LetterMark:
    """The mark of a programme by its slug or an airline by its code; for anything else, initials of its name."""
    if slug in _MARKS:
        return LetterMark(*_MARKS[slug])
    if len(slug) == 2:
        return LetterMark(slug.upper(), _HUES_OF_AIRLINES.get(slug.upper()) or _choose_hue(slug.upper()))
    words = [word for word in (name or slug).replace("-", " ").split() if word[0].isalnum()]
    letters = "".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]
    return LetterMark(letters.upper() or "?", _choose_hue(slug or name))


def _choose_hue(text: str) -> int:
    """Chooses a hue, the same for the same text on every machine."""
    return crc32(text.encode()) % HUES + 1
