"""Bills of the corpus with everything that is expected of them, and how a reading differs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tests.shared.domain.folio.bills import audit

FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Expected:
    """A bill as text, who read it, and its facts as lines: see the files."""

    name: str
    chain: str
    tier: str | None
    text: str
    facts: str


def list_bills() -> Iterator[Expected]:
    for path in sorted(FOLDER.glob("*.txt")):
        yield from read_bills(path)


def read_bills(path: Path) -> Iterator[Expected]:
    """`=== name | chain | tier`, the bill, `---`, then: currency nights stay tier; lines; printed; findings."""
    for block in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
        title, rest = block.split("\n", 1)
        name, chain, *tier = (cell.strip() for cell in title.split("|"))
        text, facts = rest.split("\n---\n")
        yield Expected(f"{path.stem}: {name}", chain, tier[0] if tier else None, text, facts.strip())


def describe(expected: Expected) -> str:
    """What was read, in the words of the files; sums that add up are not repeated."""
    result = audit(expected.text, expected.chain, None, expected.tier)
    bill, stay = result.bill, result.stay
    head = [
        bill.currency or "-",
        "nights",
        str(stay.nights or "-"),
        stay.stay_type,
        *([stay.tier] if stay.tier else []),
    ]
    head += [f"{word} {count}" for word, count in (("unread", bill.unread), ("foreign", bill.foreign)) if count]
    lines = [" ".join(head), "; ".join(f"{x.kind} {write_number(x.amount)}" for x in bill.lines)]
    if bill.final_sum != bill.balance:
        lines.append("printed -" if bill.final_sum is None else f"printed {write_number(bill.final_sum)}")
    for finding in result.findings:
        amount = "-" if finding.amount is None else write_number(finding.amount)
        texts = ", ".join(x.text for x in finding.lines)
        lines.append(f"{finding.rule.id} {amount} {finding.severity}: {texts}".rstrip())
    return "\n".join(lines)


def write_number(value: Decimal) -> str:
    return f"{value.normalize():f}" if value else "0"


def normalize_facts(facts: str) -> str:
    """Numbers without trailing zeros, so that 30 and 30.00 are one."""
    return re.sub(r"(\d+)\.(\d*?)0+(?=[;\s]|$)", lambda m: f"{m[1]}.{m[2]}".rstrip("."), facts)
