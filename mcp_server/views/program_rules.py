"""A programme's rules as results show them, each with its source: expiry, pooling, changes, holds, sweet spots."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, Literal, get_args

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import join_names
from shared.domain.plurals import pluralize
from shared.reference.ages import explain_outdated
from shared.reference.rows.award_charts import AwardExample, CancellationFee
from shared.reference.rows.programmes import Program, ProgramFact

Topic = Literal[
    "expiry",
    "holds",
    "stopovers",
    "pooling",
    "changes",
    "waitlist",
    "mixed_cabin",
    "infants",
    "gifting",
    "sweet_spots",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)
# The topic of each kind of fact; expiry, pooling, fees and prices have their own files.
_FACTS: dict[str, Topic] = {
    "hold": "holds",
    "stopover": "stopovers",
    "open_jaw": "stopovers",
    "existing_bookings": "changes",
    "rebook_fee": "changes",
    "waitlist": "waitlist",
    "mixed_cabin": "mixed_cabin",
    "infants": "infants",
    "children": "infants",
    "child_discount": "infants",
    "share_avios": "gifting",
    "who_can_travel": "gifting",
}
_FILES: dict[Topic, str] = {  # else program_facts.csv
    "expiry": "points_expiry.csv",
    "pooling": "points_pooling.csv",
    "changes": "cancellation_fees.csv",
}
_COUNT = re.compile(r"(\d+)(?: (.+))?")
_ACTIVITY = re.compile(r"(activity|fixed)\b(.*)")
_POOLING = {
    "yes": "Members can put their points together",
    "no": "Members cannot put their points together",
    "conditional": "Some members can put their points together",
}
# The subject of a kind of fact, where its answer does not name it.
_LABELS = {
    "hold": "Holding seats",
    "stopover": "Stopovers",
    "open_jaw": "Open jaws",
    "existing_bookings": "Earlier bookings",
    "rebook_fee": "Changes",
    "waitlist": "Waitlists",
    "mixed_cabin": "Mixed cabins",
    "share_avios": "Giving points",
    "who_can_travel": "Who may travel",
}
_TOPIC_WORDS: dict[Topic, str] = {
    "expiry": "the end of points",
    "holds": "holding seats",
    "stopovers": "stopovers and open jaws",
    "pooling": "putting points together",
    "changes": "changes and cancellations",
    "waitlist": "waitlists",
    "mixed_cabin": "mixed cabins",
    "infants": "babies on the lap",
    "gifting": "awards for other people",
    "sweet_spots": "sample prices",
}

Limits = dict[str, int | float | str]


class Rule(Verified):
    topic: Topic
    allowed: bool | None
    summary: str
    limits: Limits


def _find_expiry_rule(call: Call, program: Program) -> Iterator[Rule]:
    expiry = call.reference.expiry(program.slug)
    if expiry is None:
        return
    summary = f"Points last {expiry.rule}."
    if expiry.rule == "never":
        summary = "Points do not expire."
    elif expiry.months and (counted := _ACTIVITY.fullmatch(expiry.rule)):
        start = "the last activity" if counted[1] == "activity" else "they were earned"
        summary = f"Points end {expiry.months} months after {start}{counted[2]}."
    elif expiry.months:
        summary = f"Points end after {expiry.months} months: {expiry.rule}."
    if expiry.exceptions:
        spared = expiry.exceptions.removeprefix("none ")
        summary += f" {'Exceptions:' if spared == expiry.exceptions else 'They do not end'} {spared}."
    limits: Limits = {"months": expiry.months} if expiry.months else {}
    yield Rule(topic="expiry", allowed=None, summary=summary, limits=limits, **describe_verified(expiry))


def _find_pooling_rule(call: Call, program: Program) -> Iterator[Rule]:
    pooling = call.reference.pooling(program.slug)
    if pooling and pooling.pooling != "unknown":
        join = ", " if (pooling.terms or "").startswith("but ") else ": "
        summary = _POOLING[pooling.pooling] + (f"{join}{pooling.terms}." if pooling.terms else ".")
        allowed = pooling.pooling != "no"
        yield Rule(topic="pooling", allowed=allowed, summary=summary, limits={}, **describe_verified(pooling))


def _describe_amount(amount: Decimal | None, unit: str, currency: str) -> str:
    return "not known" if amount is None else f"{amount:f} {currency if unit == 'cash' else unit}"


def _to_fee_rule(row: CancellationFee) -> Rule:
    change = _describe_amount(row.change_fee, row.change_unit, row.fee_currency)
    cancel = _describe_amount(row.cancel_fee, row.cancel_unit, row.fee_currency)
    limits: Limits = {"per": row.per}
    if row.change_fee is not None:
        limits["change_fee"] = change
    if row.cancel_fee is not None:
        limits["cancel_fee"] = cancel
    if row.cutoff:
        limits["deadline"] = row.cutoff
    remark = f" ({row.remark})" if row.remark else ""
    summary = f"Changing an award: {change}; cancelling: {cancel}; per {row.per}{remark}."
    return Rule(topic="changes", allowed=None, summary=summary, limits=limits, **describe_verified(row))


def _find_fee_rule(call: Call, program: Program) -> Iterator[Rule]:
    if row := call.reference.cancellation_fee(program.slug):
        yield _to_fee_rule(row)


def parse_counts(value: str | None) -> Limits:
    """`1 one-way; 2 return; 5000 points` as named limits; other parts are left out."""
    limits: Limits = {}
    for part in (value or "").split(";"):
        match = _COUNT.fullmatch(part.strip())
        if match:
            name = {None: "count", "day": "days"}.get(match[2], match[2])
            limits[name.replace("-", "_").replace(" ", "_")] = int(match[1])
        elif part.strip() == "free":
            limits["cost"] = "free"
    return limits


def is_allowed(topic: Topic, value: str | None) -> bool | None:
    """Whether a topic is allowed; None for topics that only the text answers."""
    if value in ("yes", "no"):
        return value == "yes"
    if topic not in ("holds", "stopovers") or value is None:
        return None
    if value == "none":
        return False
    counts = parse_counts(value)
    return any(counts.values()) if counts else None


def _describe_fact(row: ProgramFact) -> str:
    """The answer as a sentence."""
    label = _LABELS.get(row.topic)
    text = f"{label}: {row.answer}" if label else row.answer[0].upper() + row.answer[1:]
    return text if text.endswith(".") else f"{text}."


def _find_fact_rules(call: Call, program: Program) -> Iterator[Rule]:
    facts: Sequence[ProgramFact] = call.reference.fresh_rows("program_facts.csv", call.today)
    rows = [r for r in facts if r.program == program.slug]
    for row in rows:
        if topic := _FACTS.get(row.topic):
            counts = parse_counts(row.value) if topic in ("holds", "stopovers") else {}
            yield Rule(
                topic=topic,
                allowed=is_allowed(topic, row.value),
                summary=_describe_fact(row),
                limits=counts or ({"value": row.value} if row.value and topic not in ("holds", "stopovers") else {}),
                **describe_verified(row),
            )


def describe_example(row: AwardExample) -> str:
    """One dated example price in a sentence."""
    who = "a partner" if row.airline == "*" else row.airline.replace("|", " or ")
    price = (
        f"{row.origin}-{row.destination} in {row.cabin.replace('_', ' ')} on {who}: {pluralize(row.points, 'point')}"
    )
    return f"{price} {row.direction.replace('_', ' ')} ({row.level})"


def _find_sweet_spots(call: Call, program: Program) -> Iterator[Rule]:
    for row in call.reference.examples(program.slug):
        limits: Limits = {"points": row.points, "cabin": row.cabin, "direction": row.direction}
        yield Rule(
            topic="sweet_spots",
            allowed=None,
            summary=describe_example(row),
            limits=limits,
            **describe_verified(row),
        )


def describe_missing(program: Program, topics: Sequence[Topic]) -> str:
    return f"We have no rule of {program.name} for {join_names([_TOPIC_WORDS[t] for t in topics])}."


def list_rule_rows(call: Call, program: Program, topics: Sequence[Topic]) -> list[Any]:
    """The rows behind a programme's rules on these topics, with those too old to be shown."""
    files = [_FILES[t] for t in topics if t in _FILES]
    rows = [row for file in files for row in call.reference.rows(file)]
    rows += [row for row in call.reference.rows("program_facts.csv") if _FACTS.get(row.topic) in topics]
    return [row for row in rows if row.program == program.slug]


def explain_missing(call: Call, program: Program, topic: Topic) -> str | None:
    """Why a rule is unknown, if there is a reason: its sources contradict each other or are too old."""
    if topic == "pooling" and (pooling := call.reference.pooling(program.slug)):
        return f"Pooling is not known: {pooling.terms}."
    rows = list_rule_rows(call, program, [topic])
    return explain_outdated("program_facts.csv", rows[0]) if rows else None


def list_rules(call: Call, program: Program) -> list[Rule]:
    """Every known rule, by topic."""
    rules = chain(
        _find_expiry_rule(call, program),
        _find_pooling_rule(call, program),
        _find_fee_rule(call, program),
        _find_fact_rules(call, program),
        _find_sweet_spots(call, program),
    )
    return sorted(rules, key=lambda r: TOPICS.index(r.topic))
