"""Lines that another statement already has, recognised by marks: keyed hashes of day and amount."""

import hmac
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from shared.domain.spending.model import StatementLine

MARK_BYTES = 6  # 20,000 lines against 20,000: one chance match in 700,000 imports


@dataclass(frozen=True)
class EarlierStatement:
    """What is known of an earlier statement; `marks` is None where it was saved without any."""

    fingerprint: str
    start: date
    end: date
    transactions: int
    marks: frozenset[bytes] | None


@dataclass(frozen=True)
class Repeats:
    """The overlap of a new statement with an earlier one."""

    earlier: EarlierStatement
    lines: Sequence[int]  # numbers of the new lines
    in_days: int  # how many new lines lie within the earlier one's days
    within: bool  # the new statement has all days of the earlier one

    @property
    def is_same_paper(self) -> bool:
        """Whether at least half of the lines of the common days are the same: then it is one and the same paper."""
        return bool(self.lines) and 2 * len(self.lines) >= self.in_days

    @property
    def is_replaceable(self) -> bool:
        """Whether nothing would be lost: the new statement has its days, or nearly all its lines."""
        return self.within or 5 * len(self.lines) >= 4 * max(self.earlier.transactions, 1)


def mark_lines(lines: Iterable[StatementLine], key: str) -> list[tuple[int, bytes]]:
    """Number and mark of each line. Equal lines of one day differ by their count; words are ignored.

    The words of a purchase differ between the formats of one bank, its day and amount do not.
    """
    seen_before: Counter[tuple[date, str]] = Counter()
    marks = []
    for line in lines:
        content = (line.day, f"{line.amount:.2f}")
        seen_before[content] += 1
        message = f"{content[0].isoformat()}|{content[1]}|{seen_before[content]}"
        marks.append((line.number, hmac.digest(key.encode(), message.encode(), "sha256")[:MARK_BYTES]))
    return marks


def join_marks(marks: Iterable[tuple[int, bytes]]) -> bytes:
    return b"".join(sorted(mark for _, mark in marks))


def split_marks(joined: bytes | None) -> frozenset[bytes] | None:
    if joined is None:
        return None
    return frozenset(joined[at : at + MARK_BYTES] for at in range(0, len(joined), MARK_BYTES))


def compare_statement(
    counted: Sequence[StatementLine],
    marks: Collection[tuple[int, bytes]],
    period: tuple[date, date],
    earlier: EarlierStatement,
) -> Repeats:
    days = [line for line in counted if earlier.start <= line.day <= earlier.end]
    numbers = [number for number, mark in marks if mark in (earlier.marks or ())]
    within = period[0] <= earlier.start and earlier.end <= period[1]
    return Repeats(earlier, numbers, len(days), within)
