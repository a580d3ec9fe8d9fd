"""The numbers of a letter that holds several bookings of flights: each is that of the flights below it."""

import itertools
import re
from collections.abc import Sequence

from shared.domain.confirmations import prices
from shared.domain.confirmations.confirmation_numbers import list_numbers
from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.model import BookedLeg, TravelFacts

_DIGITS = re.compile(r"\d+$")


def set_own_numbers(legs: Sequence[BookedLeg], body: str, world: TravelFacts) -> None:
    """Sets the number, and the fare its part of the letter names, where one label stands over each booking's flights
    with another number. Where it is unclear which flights are whose, nothing is set."""
    if len(legs) < 2:
        return
    lines = to_plain(body).split("\n")
    blocks = _split_blocks(lines)
    if not 1 < len(blocks) <= len(legs):
        return
    owners = [[b for b in blocks if _names_flight("\n".join(lines[b[1] : b[2]]), leg)] for leg in legs]
    if any(len(owner) != 1 for owner in owners) or len({owner[0] for owner in owners}) != len(blocks):
        return
    for leg, ((number, start, end),) in zip(legs, owners, strict=True):
        leg.confirmation_number = number
        price = prices.find_price(_cut_paragraph(lines[start:end]), world)
        if price.cash is not None and price.currency and price.points is None and not price.doubts:
            leg.cash_paid, leg.taxes_currency = price.cash, price.currency


def _cut_paragraph(lines: list[str]) -> str:
    """The lines up to the first that is blank or a ruler: behind the last booking stands the total of all."""
    return "\n".join(itertools.takewhile(lambda line: re.search(r"\w", line), lines))


def _split_blocks(lines: list[str]) -> list[tuple[str, int, int]]:
    """Number, first line and end of each part that the first label to come with several numbers heads."""
    by_label: dict[str, list[tuple[str, int]]] = {}
    for label, number, at in list_numbers(lines):
        stated = by_label.setdefault(label, [])
        if number not in [n for n, _ in stated]:
            stated.append((number, at))
    heads = next((stated for stated in by_label.values() if len(stated) > 1), [])
    ends = [*(at for _, at in heads[1:]), len(lines)]
    return [(number, at, end) for (number, at), end in zip(heads, ends, strict=True)] if heads else []


def _names_flight(block: str, leg: BookedLeg) -> bool:
    digits = _DIGITS.search(leg.flight_number or "")
    return digits is not None and bool(re.search(rf"(?<![\d:.,/-])0*{digits[0].lstrip('0')}(?![\d:.,/-])", block))
