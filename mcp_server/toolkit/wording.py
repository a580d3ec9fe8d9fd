"""Slugs and codes go in; the words of a message come out."""

from shared.reference.load import Reference


def program_name(facts: Reference, slug: str) -> str:
    """A source may name a programme that is not known here: it keeps the name it came with."""
    found = facts.programs.get(slug)
    return found.name if found else slug


def airline_name(facts: Reference, code: str) -> str:
    found = facts.airlines.get(code)
    return found.name if found else code


def describe_airports(facts: Reference, *codes: str) -> str:
    """Of a city one airport is asked: said, so that nobody takes the answer for one about the whole city."""
    asked = ((code, facts.airport(code).code) for code in codes)
    return "".join(f" Of {code} only {airport} was asked." for code, airport in asked if airport != code)
