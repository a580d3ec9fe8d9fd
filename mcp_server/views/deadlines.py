"""The part of a result that shows a deadline, shared by list_upcoming_deadlines and get_portfolio."""

from datetime import date

from mcp_server.toolkit.results import Money, Part
from shared.domain.deadlines import Kind


class AtRisk(Part):
    amount: Money
    currency: str


class Subject(Part):
    type: str
    id: str


class UpcomingDeadline(Part):
    # No docstring: it would be published. Built with model_validate from a Deadline, whose fields have these names.

    kind: Kind
    title: str
    due_on: date
    days_left: int
    amount: Money | None
    currency: str | None
    value_at_risk: AtRisk | None
    subject: Subject
    suggested_action: str
