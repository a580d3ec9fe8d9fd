"""Hotel bills checked against the rules of a chain, with a draft of the dispute; the text is never stored."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Money, Part, Result, Tier, tool
from mcp_server.toolkit.provenance import Audited, describe_audited
from shared.domain.folio.audit import BillAudit, audit_folio
from shared.domain.folio.checks import is_read_whole
from shared.domain.folio.model import ZERO, Bill, Chain, StayType
from shared.domain.folio.model import Finding as Found
from shared.domain.folio.stay import match_tier
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NoData
from shared.limits.heavy_work import run_heavy
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.reference.folio import build_rulebook

FolioText = Annotated[str, Field(min_length=1, max_length=60_000)]
StayKind = Literal["award", "cash", "points_advance"] | None
# Up to this size the worst texts take 0.03 s; longer ones go to a process, 25 ms slower, that can be ended.
MOST_CHARACTERS_HERE = 4_000
READING_BUDGET = Budget(processor_seconds=5, seconds=20, memory_bytes=256 << 20)
Confirmation = Annotated[str | None, Field(max_length=40)]


class Finding(Audited):
    """One rule the bill breaks. `info` is never disputed; an amount of kind points is points and has no currency."""

    rule: str
    title: str
    amount: Money | None
    currency: str | None
    lines: list[str]
    severity: Literal["high", "medium", "low", "info"]
    kind: Literal["charge", "benefit", "points"]
    dispute_ref: str | None
    explanation: str


class BillTotals(Part):
    disputed: Money
    currency: str | None
    lines_read: int
    lines_unread: int
    charges: Money
    credits: Money
    balance: Money
    printed_balance: Money | None


class PointsEstimate(Part):
    low: int
    high: int


class Judged(Part):
    """What the audit took the stay to be, from the arguments and the bill; None is unknown."""

    stay_type: StayType
    status_tier: str | None
    arrival: date | None
    departure: date | None
    nights: int | None
    mixed: bool


class FolioAudit(Result):
    findings: list[Finding]
    totals: BillTotals
    expected_benefits: list[str]
    dispute_template: str
    points_estimate: PointsEstimate | None
    judged: Judged


def _to_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _to_finding(finding: Found, currency: str | None) -> Finding:
    rule = finding.rule
    sentences = [_to_sentence(rule.test), finding.note, _to_sentence(rule.action)]
    if rule.exceptions:
        sentences.append(f"Exceptions: {rule.exceptions}.")
    return Finding.from_row(
        finding,
        rule=rule.id,
        title=rule.title,
        currency=None if rule.kind == "points" or finding.amount is None else currency,
        lines=[x.text for x in finding.lines],
        kind=rule.kind,
        explanation=" ".join(s for s in sentences if s),
        **describe_audited(rule.fact),
    )


def _describe_benefit(row: Any) -> str:
    """A benefit with its source and date, in one line."""
    scope = f" ({row.scope})" if row.scope else ""
    dated = f"source of {row.as_of}" if row.as_of else "undated source"
    trust = "" if row.audited_on else ", unaudited"
    return f"{row.benefit[0].upper()}{row.benefit[1:]}: {row.value}{scope}. [{row.source_url}; {dated}{trust}]"


def _describe_audit(result: BillAudit) -> str:
    sentences = [*_describe_gap(result.bill), _describe_findings(result), *_describe_sums(result)]
    if infos := len(result.findings) - len(_list_disputed(result)):
        sentences.append(f"{infos} for information only.")
    if strange := sum(1 for x in result.bill.lines if x.kind == "other" and x.amount > 0):
        verb = "is" if strange == 1 else "are"
        sentences.append(f"{pluralize(strange, 'charge')} {verb} of no kind known here and only compared.")
    if result.stay.tier is None:
        sentences.append("No elite tier was given or found; rules of tiers were left out.")
    if result.stay.nights is None:
        sentences.append("The bill shows no nights; room nights were not counted.")
    if any(not f.sure for f in _list_disputed(result)):
        sentences.append("Findings of severity low say what to confirm first.")
    if any(f.rule.fact.audited_on is None for f in result.findings):
        sentences.append("Rules marked unaudited were not confirmed by us.")
    return " ".join(sentences)


def _list_disputed(result: BillAudit) -> list[Found]:
    return [f for f in result.findings if f.is_disputed]


def _describe_findings(result: BillAudit) -> str:
    """Counts findings and their lines separately: one finding can be about several lines."""
    disputed = _list_disputed(result)
    read = f"{pluralize(len(result.bill.lines), 'line')} read"
    if not disputed:
        return f"{read}: nothing to ask about."
    lines = {id(x) for f in disputed for x in f.lines}
    on_lines = f" on {pluralize(len(lines), 'line')}" if lines else ""
    money = f"; {result.disputed_amount:,.2f} {result.bill.currency or ''}".rstrip() if result.disputed_amount else ""
    return f"{read}: {pluralize(len(disputed), 'finding')}{on_lines}{money}{' to ask about' if money else ''}."


def _describe_sums(result: BillAudit) -> list[str]:
    bill, sentences = result.bill, []
    if bill.currency is None:
        sentences.append("The bill does not say clearly which currency it is in, so amounts have none.")
    if bill.unread:
        sentences.append(f"{pluralize(bill.unread, 'line')} could not be read, so the sum was not checked.")
    elif bill.foreign:
        lines = pluralize(bill.foreign, "line")
        verb = "is" if bill.foreign == 1 else "are"
        sentences.append(f"{lines} {verb} in another currency and not added, so the sum was not checked.")
    elif any(f.rule.check == "adds_up" for f in _list_disputed(result)):
        sentences.append("The bill does not add up.")
    return sentences


def _describe_gap(bill: Bill) -> list[str]:
    """Says first if the bill was not read whole: a misread charge must not be disputed."""
    if is_read_whole(bill):
        return []
    come, printed = (f"{amount:,.2f}" for amount in (bill.balance, bill.final_sum or ZERO))
    return [f"The bill was not read whole: its lines come to {come}, it prints {printed}. So nothing is disputed."]


def _audit_bill(
    call: LiveCall, chain: str, text: str, kind: StayType | None, tier: str | None, number: str | None
) -> FolioAudit:
    book = build_rulebook(call.reference)
    confirmation = " ".join((number or "").split()) or None
    result = _audit_text(text, chain, book, kind, _resolve_tier(tier, book.chains[chain]), confirmation)
    if not result.bill.lines:
        raise NoData("No charges could be read in the text: a line needs a description and an amount.", ["charges"])
    bill = result.bill
    return FolioAudit(
        message=_describe_audit(result),
        findings=[_to_finding(f, bill.currency) for f in result.findings],
        totals=BillTotals.from_row(
            bill,
            disputed=result.disputed_amount,
            lines_read=len(bill.lines),
            lines_unread=bill.unread,
            printed_balance=bill.final_sum,
        ),
        expected_benefits=[_describe_benefit(row) for row in result.benefits],
        dispute_template=result.letter,
        points_estimate=PointsEstimate(low=result.points[0], high=result.points[1]) if result.points else None,
        judged=Judged.from_row(result.stay, status_tier=result.stay.tier),
    )


def _audit_text(text: str, *arguments: Any) -> BillAudit:
    """Audits a bill; a long one in a process that can be ended."""
    if len(text) <= MOST_CHARACTERS_HERE:
        return audit_folio(text, *arguments)
    try:
        return read_bounded(READING_BUDGET, audit_folio, text, *arguments)
    except ReaderEnded as ended:
        raise Invalid(Fault("folio_text", f"could not be read: {ended}", "the lines of one bill alone")) from None


def _resolve_tier(text: str | None, chain: Chain) -> str | None:
    if text is None or not text.strip():
        return None
    tier = match_tier(text, chain)
    if tier is None:
        raise Invalid(Fault("status_tier", f"is no tier of {chain.programme}", f"one of {', '.join(chain.tiers)}"))
    return tier


@tool("folio", Tier.PREMIUM, Effect.READS, "Check a hotel bill")
async def audit_hotel_folio(
    call: LiveCall,
    chain: Literal["marriott", "hilton", "hyatt", "ihg"],
    folio_text: FolioText,
    stay_type: StayKind = None,
    status_tier: Annotated[str | None, Field(max_length=40)] = None,
    confirmation_number: Confirmation = None,
) -> FolioAudit:
    """Checks a hotel bill, receipt or invoice for wrong charges, and drafts a letter to complain and get a refund.

    For "They charged me a resort fee, is that right?" Marriott, Hilton, Hyatt or IHG: overcharged or charged twice,
    resort fee on an award stay, parking, breakfast, missing elite benefits. Severity info: a legitimate charge. The
    bill is not stored. Premium.
    """
    return await run_heavy(_audit_bill, call, chain, folio_text, stay_type, status_tier, confirmation_number)


@tool("folio", Tier.PREMIUM, Effect.READS, "Check a Marriott bill")
async def audit_marriott_folio(
    call: LiveCall,
    folio_text: FolioText,
    stay_type: StayKind = None,
    status_tier: Literal["member", "silver", "gold", "platinum", "titanium", "ambassador"] | None = None,
    confirmation_number: Confirmation = None,
) -> FolioAudit:
    """Checks a Marriott Bonvoy bill for wrong charges and missing elite benefits, and writes the complaint.

    For "Is my Marriott folio right?" Also Sheraton, Westin and its other brands. Other chains: audit_hotel_folio.
    Severity info: a legitimate charge. The bill is not stored. Premium.
    """
    return await run_heavy(_audit_bill, call, "marriott", folio_text, stay_type, status_tier, confirmation_number)
