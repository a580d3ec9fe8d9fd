"""Names of programmes at seats.aero, with our slugs."""

from shared.reference.load import reference

# An open set: one that is missing here, or that our facts do not know yet, is passed over.
_SLUGS = {
    "aeromexico": "aeromexico-rewards",
    "aeroplan": "air-canada-aeroplan",
    "alaska": "atmos-rewards",
    "american": "american-airlines-aadvantage",
    "azul": "azul-fidelidade",
    "connectmiles": "copa-connectmiles",
    "delta": "delta-skymiles",
    "emirates": "emirates-skywards",
    "ethiopian": "ethiopian-shebamiles",
    "etihad": "etihad-guest",
    "eurobonus": "sas-eurobonus",
    "finnair": "finnair-plus",
    "flyingblue": "flying-blue",
    "frontier": "frontier-miles",
    "jetblue": "jetblue-trueblue",
    "lifemiles": "avianca-lifemiles",
    "lufthansa": "lufthansa-miles-and-more",
    "qantas": "qantas-frequent-flyer",
    "qatar": "qatar-airways-privilege-club",
    "saudia": "alfursan",
    "singapore": "singapore-krisflyer",
    "smiles": "flysmiles",
    "spirit": "spirit-free-spirit",
    "turkish": "turkish-miles-and-smiles",
    "united": "united-mileageplus",
    "velocity": "virgin-australia-velocity",
    "virginatlantic": "virgin-atlantic-flying-club",
}


def slug_of(source: str) -> str | None:
    slug = _SLUGS.get(source)
    return slug if slug in reference().programs else None
