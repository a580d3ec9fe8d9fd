"""Numbers with their nouns in sentences."""


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """`1 day`, `1,200 days`; a plural that is not made with s is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
