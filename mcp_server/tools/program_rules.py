"""Rules of a loyalty programme: expiry, holds, stopovers, pooling and the like."""

from collections.abc import Sequence

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from mcp_server.toolkit.parameters import LooseName
from mcp_server.views.program_rules import (
    TOPICS,
    Rule,
    Topic,
    describe_missing,
    explain_missing,
    list_rule_rows,
    list_rules,
)
from shared.domain.plurals import pluralize
from shared.errors import NoData
from shared.reference.ages import describe_left_out
from shared.reference.rows.programmes import Program

_LONGEST_ANSWER = 300


class ProgramRules(Result):
    program: str
    rules: list[Rule]
    missing_topics: list[Topic]


def _describe_rules(program: Program, rules: Sequence[Rule]) -> str:
    """As many rules as fit in their own words, then the number of those that only the fields have."""
    words = f"{program.name}:"
    for position, rule in enumerate(rules):
        if position and len(words) + len(rule.summary) > _LONGEST_ANSWER:
            return f"{words} {pluralize(len(rules) - position, 'more rule')} in the list."
        words += f" {rule.summary}"
    return words


@tool("pricing", Tier.FREE, Effect.READS, "Show a programme's rules", static=True)
def get_program_rules(
    call: Call,
    program: LooseName,
    topics: list[Topic] | None = None,
) -> ProgramRules:
    """Explains a programme's rules: do miles expire, can awards be held, changed, pooled, have a stopover.

    For "Can I book for my mother? What if I change it?" Waitlists, mixed cabins, infants, gifts and family too, with
    sources. allowed null: unknown. Free.
    """
    resolved = call.reference.program(program)
    wanted_topics = [t for t in TOPICS if t in topics] if topics else list(TOPICS)
    rules = [r for r in list_rules(call, resolved) if r.topic in wanted_topics]
    answered = {r.topic for r in rules}
    missing = [t for t in wanted_topics if t not in answered]
    reasons = " ".join(filter(None, (explain_missing(call, resolved, t) for t in missing)))
    gaps = f"{describe_missing(resolved, missing)} {reasons}".rstrip() if missing else ""
    if not rules:
        raise NoData(gaps, missing=[*missing])
    kept_topics = [t for t in wanted_topics if t in answered]
    old = describe_left_out("program_facts.csv", list_rule_rows(call, resolved, kept_topics), call.today)
    return ProgramRules(
        message=f"{_describe_rules(resolved, rules)}{old} {gaps}".rstrip(),
        program=resolved.slug,
        rules=rules,
        missing_topics=missing,
    )
