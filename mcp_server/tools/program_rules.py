"""A programme's rules on expiry, holds, stopovers and the like: a programme and topics go in, rules come out."""

from typing import Annotated

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import LooseName
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Result
from mcp_server.views.program_rules import TOPICS, Rule, Topic, list_rules
from shared.domain.plurals import some
from shared.errors import NoData


class ProgramRules(Result):
    program: str
    rules: list[Rule]
    missing_topics: list[Topic]


@tool(area="pricing", tier=Tier.FREE, effect=Effect.READS, title="Get programme rules")
def get_program_rules(
    call: Call,
    program: LooseName,
    topics: Annotated[list[Topic] | None, Field(description="Default all.")] = None,
) -> ProgramRules:
    """Explains a programme's rules on expiry, holds, stopovers, pooling, changes and similar, with sources.

    allowed is null where a rule is neither yes nor no. Free.
    """
    found = call.reference.program(program)
    wanted = [t for t in TOPICS if t in topics] if topics else list(TOPICS)
    rules = [r for r in list_rules(call, found) if r.topic in wanted]
    known = {r.topic for r in rules}
    missing = [t for t in wanted if t not in known]
    untold = ", ".join(missing).replace("_", " ")
    if not rules:
        raise NoData(f"Nothing is known about {untold} of {found.name}.", missing=[*missing])
    unconfirmed = sum(r.unaudited for r in rules)
    said = f"{some(len(rules), 'rule')} of {found.name}, {unconfirmed} of them unaudited."
    if missing:
        said += f" Not known: {untold}."
    return ProgramRules(message=said, program=found.slug, rules=rules, missing_topics=missing)
