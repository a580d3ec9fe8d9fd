"""The dispute letter: findings and stay in the chain's own terms."""

from collections.abc import Sequence
from datetime import date

from shared.domain.folio.model import Bill, Chain, Finding, FolioLine, FolioStay, Rulebook


def _format_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _quote_line(line: FolioLine) -> str:
    """A line in quotation marks, so that its text cannot be taken for part of the letter."""
    when = f"{line.day.isoformat()} " if line.day else ""
    return f'{when}"{line.text.replace(chr(34), chr(39))}" {line.amount:,.2f}'


def _format_amount(finding: Finding, currency: str | None) -> str:
    if finding.amount is None:
        return ""
    if finding.rule.kind == "points":
        return f" ({finding.amount:,.0f} points)"
    return f" ({finding.amount:,.2f} {currency})" if currency else f" ({finding.amount:,.2f})"


def _write_item(number: int, finding: Finding, chain: Chain, bill: Bill, book: Rulebook) -> str:
    claim = finding.claim.replace("{award}", chain.award).replace("{member}", chain.member)
    what = f"{finding.rule.title}{_format_amount(finding, bill.currency)}"
    sentence = f"{claim[0].upper()}{claim[1:]}" if claim.startswith("The ") else f"This {claim}"
    lines = [f"{number}. {what}. {sentence}"]
    if finding.lines:
        lines.append("   Postings: " + "; ".join(map(_quote_line, finding.lines)))
    ref = book.dispute_refs.get(finding.dispute_ref or "")
    if ref is not None:
        sure = ref.url and ref.confidence != "low"  # an unverified address must not stand in a letter
        lines.append(f"   Reference: {ref.title}" + (f", {ref.url}" if sure else ""))
    return "\n".join(lines)


def _add_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def _describe_stay(stay: FolioStay) -> str:
    parts = [f"confirmation {stay.confirmation}"] if stay.confirmation else []
    if stay.arrival and stay.departure:
        parts.append(f"stay of {_format_day(stay.arrival)} to {_format_day(stay.departure)}")
    return ", ".join(parts)


def write_letter(findings: Sequence[Finding], stay: FolioStay, bill: Bill, chain: Chain, book: Rulebook) -> str:
    """Empty when there is nothing to dispute. Findings that are information only are never in it."""
    disputed = [f for f in findings if f.is_disputed]
    if not disputed:
        return ""
    about = _describe_stay(stay)
    tier = (stay.tier or "").replace("_", " ").title()
    who = "I stayed with you"
    if tier:
        who += f" as {_add_article(chain.member)}{'' if stay.tier == chain.tiers[0] else f' with {tier} status'}"
    kind = {"award": f" on {_add_article(chain.award)}", "points_advance": " on a Points Advance award"}.get(
        stay.stay_type, ""
    )
    subject = f"Subject: Request for correction of my folio{f', {about}' if about else ''}"
    items = [_write_item(n, f, chain, bill, book) for n, f in enumerate(disputed, 1)]
    total = sum((f.amount for f in disputed if f.amount and f.rule.kind != "points"), start=type(bill.balance)(0))
    come = f"{total:,.2f} {bill.currency or ''}".rstrip()
    if_all = "" if all(f.sure for f in disputed) else "If all of them apply, the"
    money = f" {if_all or 'The'} corrections come to {come}; please return what I have paid of them." if total else ""
    return "\n".join(
        (
            subject,
            "",
            f"Dear {chain.name} team,",
            "",
            f"{who}{kind}. Under {chain.terms} and the folio itself I ask you to correct the following:",
            "",
            *items,
            "",
            f"Please send a corrected folio.{money}",
            f"If the hotel cannot settle this, please pass it to {chain.programme} customer care.",
        )
    )
