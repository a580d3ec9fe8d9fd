"""Rules of a loyalty programme: expiry, holds, stopovers, pooling and the like."""

from collections.abc import Sequence

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import LooseName
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Result
from mcp_server.views.program_rules import TOPICS, Rule, Topic, describe_missing, explain_missing, list_rules
from shared.domain.plurals import pluralize
from shared.errors import NoData
from shared.reference.rows import Program

_LONGEST_ANSWER = 300


class ProgramRules(Result):
    program: str
    rules: list[Rule]
    missing_topics: list[Topic]


def _describe_rules(program: Program, rules: Sequence[Rule]) -> str:
    """Few rules in their own words, many as a count."""
    unconfirmed = sum(r.unaudited for r in rules)
    answer = f"{program.name}: {' '.join(r.summary for r in rules)}"
    if len(answer) <= _LONGEST_ANSWER:
        return f"{answer} Not checked." if unconfirmed == len(rules) else answer
    return f"{pluralize(len(rules), 'rule')} of {program.name}, {unconfirmed} of them not checked."


@tool(
    area="pricing",
    tier=Tier.FREE,
    effect=Effect.READS,
    title="Show a programme's rules",
    phrases="What do the rules say: do miles expire or die if I don't fly, can I hold, pool, add family?",
    static=True,
)
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
    return ProgramRules(
        message=f"{_describe_rules(resolved, rules)} {gaps}".rstrip(),
        program=resolved.slug,
        rules=rules,
        missing_topics=missing,
    )
