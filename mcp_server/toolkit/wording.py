"""Names of programmes and airports as messages write them."""

from shared.reference.load import Reference


def program_name(facts: Reference, slug: str) -> str:
    """Of a programme that is not in the reference data: the name its source uses."""
    program = facts.programs.get(slug)
    return program.name if program else slug


def airline_name(facts: Reference, code: str) -> str:
    airline = facts.airlines.get(code)
    return airline.name if airline else code


def describe_airports(facts: Reference, *codes: str) -> str:
    """A sentence for each city code, of which only one airport is searched: an answer must say so."""
    searched = ((code, facts.airport(code).code) for code in codes)
    return "".join(
        f" For {code} only the airport {airport} was searched." for code, airport in searched if airport != code
    )
