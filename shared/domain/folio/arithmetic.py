"""Arithmetic proof in a bill's figures: products, net and tax, and sums carried to the next page."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from shared.domain.folio.model import ZERO, FolioLine
from shared.domain.parsing.amounts import Amount, first_amount

_CENT = Decimal("0.01")
_MOST = 8  # amounts of one line to compare
_COUNT = re.compile(r"(?<![\w.,:/-])([1-9]\d?)(?![\d.,:/%-])", re.ASCII)
_NOT_CARRIED = frozenset({"payment", "deposit"})


def keep_proven(amounts: Sequence[Amount], before: str) -> Sequence[Amount]:
    """The amounts at a line's end that may have been posted; `before` is the text in front of them.

    A count, a price and their product count as the product; a net amount, its tax and their sum as the sum.
    """
    if not 1 < len(amounts) <= _MOST:
        return amounts
    counts = [Decimal(digits) for digits in _COUNT.findall(before)[:_MOST]]
    for product in reversed(amounts):
        rest = [a for a in amounts if a is not product]
        for price in rest:
            others = [a for a in rest if a is not price and a.value == int(a.value) and not a.currencies]
            if any(price.value * n == product.value != ZERO for n in (*counts, *(a.value for a in others))):
                factors = [a for a in others if a.value * price.value == product.value][:1]
                remaining = [a for a in amounts if a is not price and a not in factors]
                return keep_proven(remaining, "")
    for sum_of_two in sorted(amounts, key=lambda a: -abs(a.value)):
        rest = [a for a in amounts if a is not sum_of_two and a.value]
        for net, tax in combinations(rest, 2):
            if abs(net.value + tax.value - sum_of_two.value) <= _CENT and len(amounts) == len(rest) + 1:
                return [a for a in amounts if a is not net and a is not tax]
    return amounts


def find_carried(lines: Sequence[FolioLine]) -> list[int]:
    """Lines that repeat the sum of the two or more lines before them, as page ends and starts do, or
    all that was charged until then, as the total below a payment does, whole or as a net amount and its tax.

    The second night costs what the first did: a line with the words of an earlier posting is one itself."""
    carried, so_far, charges, count = [], ZERO, ZERO, 0
    postings = set[str]()
    for at, line in enumerate(lines):
        sums = {so_far, charges} - {ZERO}
        is_sum = line.amount in sums or (line.amount + (first_amount(line.text) or ZERO)) in sums
        is_new = line.kind not in _NOT_CARRIED and line.folded not in postings
        if count > 1 and is_sum and line.amount > ZERO and is_new:
            carried.append(at)
        else:
            postings.add(line.folded)
            so_far += line.amount
            charges += max(line.amount, ZERO)
            count += 1
    return carried
