"""Transfer edges for the tests, with defaults for whatever a test leaves open."""

from datetime import date
from fractions import Fraction

from shared.domain.transfers import Bonus, Edge


def edge(
    source: str, target: str, ratio: tuple[int, int] = (1, 1), block: int = 1, least: int = 1, bonus: int = 0
) -> Edge:
    extra = Bonus(bonus, None, date(2026, 12, 31), targeted=False) if bonus else None
    return Edge(
        source=source,
        target=target,
        ratio_from=Fraction(ratio[0]),
        ratio_to=Fraction(ratio[1]),
        increment=block,
        minimum=least,
        posting="instant",
        posting_text=None,
        fee=None,
        cap=None,
        step=None,
        step_bonus=0,
        block_source=None,
        region="US",
        bonus=extra,
        source_url="https://example.test",
        second_source_url=None,
        as_of="2026-01-01",
        audited_on=None,
        confidence="high",
        note=None,
    )
