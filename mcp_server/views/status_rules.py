"""What flights, cards and awards count for status and points, in sentences by programme."""

from collections.abc import Iterator, Sequence

from mcp_server.toolkit.context import Call
from shared.reference.rows.earning import StatusEarningRule

# The question each kind of rule answers; the facts hold no other kinds (a test checks).
RULE_QUESTIONS = {
    "avios_per_currency": "How many Avios do tickets earn?",
    "basic_economy_earning": "Does basic economy earn?",
    "bonus_per_segment": "Which extra points does each flight count towards status?",
    "card_spend": "Does card spending count towards status?",
    "earning_track": "Which ways of earning can be chosen?",
    "elite_bonus": "How much more do elite members earn?",
    "elite_points_per_currency": "What do tickets count towards status?",
    "extra_elite_points_on_ba": "Which extra points do British Airways flights count towards status?",
    "loyalty_points_per_mile": "Which miles count towards status?",
    "miles_per_currency": "How many miles do tickets earn?",
    "milestone_bonus": "Which bonuses come on the way to the next tier?",
    "partner_formula": "What do flights of partners earn?",
    "points_per_flight": "What do flights count towards status?",
    "revenue": "What do tickets count towards status?",
    "status_credits_per_currency": "What do tickets count towards status?",
    "status_points_on_awards": "Do award flights count towards status?",
    "tier_points_on_holidays": "Do package holidays count towards status?",
}
_TRUST = ("missing", "low", "medium", "high")


def explain_status_rules(call: Call, program: str) -> Iterator[tuple[str, str, StatusEarningRule]]:
    """Question, answer and the row whose source stands for it: the least sure of its kind."""
    facts: Sequence[StatusEarningRule] = call.reference.fresh_rows("status_earning_rules.csv", call.today)
    for rule, question in RULE_QUESTIONS.items():
        rows = [r for r in facts if (r.program, r.rule) == (program, rule)]
        if rows:
            answer = "; ".join(_describe_rule(r) for r in rows)
            yield question, f"{answer}.", min(rows, key=lambda r: (_TRUST.index(r.confidence), r.as_of or ""))


def _describe_rule(row: StatusEarningRule) -> str:
    """`Gold: 7 miles per EUR`, or `long-haul, business: 400 extra tier points`."""
    cabin = None if row.cabin == "any" else row.cabin
    of = ", ".join(word for word in (row.key, cabin) if word)
    value = f"{row.value} {row.unit}".strip()
    return f"{of}: {value}" if of else value
