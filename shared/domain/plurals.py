"""Numbers with their nouns in sentences."""

import re

_SAYS_UNIT = re.compile(r"(points|(?<!s)miles)\W*(\(.*)?$", re.IGNORECASE)  # Smiles is a name, not a unit


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """`1 day`, `1,200 days`; pass any plural not made with s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def name_points(program: str) -> str:
    """`Aeroplan points`; a name that ends in its unit, as LifeMiles and Citi Points (Hong Kong) do, is unchanged."""
    return program if _SAYS_UNIT.search(program) else f"{program} points"
