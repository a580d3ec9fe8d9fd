"""Spending page of the dashboard: statement files go to the import tool, and what was spent is shown by month."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Any

from pydantic_core import to_json
from sqlalchemy import select

from auth_server.pages.member import Flow, Member, form_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, ToolCall, prepare_change, prepare_look, show_when_answered
from auth_server.web.charts import Chart, draw_stacks
from auth_server.web.outcomes import FlowResult, PageResult, WaitingPage, show_problem
from shared.db.cards import Card
from shared.db.spending import SpendingStatement
from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text
from shared.domain.dates import add_months
from shared.domain.plans import Plan

__all__ = ["MAX_FILE_BYTES", "prepare_import", "show", "show_import", "show_too_large"]

TOOL = "import_spending_statement"
MAX_CHARACTERS = 3_000_000
MAX_JSON_BYTES = (4 << 20) - 4096  # the tool server's limit for a request, less the rest of the request
_MAX_STATEMENTS, _MONTHS = 24, 12
PATH = "/dashboard/spending"
_IMPORT_SECONDS = 60.0  # a file of 20,000 lines takes three
_UNAVAILABLE = "The service that reads statements does not answer. Nothing was imported; please try again in a moment."


def show(
    member: Member, status: int = 200, fault: str | None = None, imported: dict[str, object] | None = None
) -> PageResult:
    """What the tool sums up stands next to the form; `currency` of the query chooses among several."""
    db, account_id = member.db, member.account.id
    cards = select(Card).where(Card.account_id == account_id, Card.closed_on.is_(None)).order_by(Card.id).limit(200)
    statements = select(SpendingStatement).where(SpendingStatement.account_id == account_id)
    newest = statements.order_by(SpendingStatement.imported_at.desc(), SpendingStatement.id.desc()).limit(
        _MAX_STATEMENTS
    )
    context = {
        "cards": db.scalars(cards).all(),
        "statements": db.scalars(newest).all(),
        "may": member.plan >= Plan.PREMIUM,
        "fault": fault,
        "made": imported,
        "most": MAX_FILE_BYTES,
        "chosen": dict(member.data.form) if fault else {},
    }
    currency = member.data.query_value("currency")
    only = {"currency": currency} if currency and not fault else {}
    call = prepare_look(member, "get_spending_summary", months_back=_MONTHS, **only)
    return show_when_answered({"summary": call}, partial(_show, member, status, context))


def _show(member: Member, status: int, context: Mapping[str, Any], answers: Mapping[str, Answer]) -> FlowResult:
    summary = answers["summary"] if answers["summary"].status == "ok" else Answer()
    is_away = bool(context["statements"]) and not answers["summary"]
    pictures = {"totals": _draw_months(summary), "categories": _list_categories(summary), "is_away": is_away}
    return member.show("spending.html", status, **context, **pictures, summary=summary)


def _draw_months(summary: Answer) -> Chart | None:
    """Each month from the first with spending to the last, by category."""
    months = {row["month"]: row["totals"] for row in summary.get("months", ())}
    if not months:
        return None
    first, last = (date.fromisoformat(f"{month}-01") for month in (min(months), max(months)))
    days = [first]
    while days[-1] < last:
        days.append(add_months(days[-1], 1))
    stacks = [
        (f"{day:%b %Y}", {name.replace("_", " "): value for name, value in months.get(f"{day:%Y-%m}", {}).items()})
        for day in days
    ]
    currency = summary["currency"]
    return draw_stacks(stacks, f"Spent in {currency}", format_value=lambda value: f"{value:,.2f} {currency}")


def _list_categories(summary: Answer) -> list[tuple[str, float, float, float]]:
    """Category, its sum, the average of a month with spending, and its share of all in hundredths."""
    sums = Counter[str]()
    for month in summary.get("months", ()):
        sums.update(month["totals"])
    whole = sum(sums.values()) or 1
    averages = summary.get("monthly_average", {})
    return [
        (name.replace("_", " "), total, averages.get(name, 0), 100 * total / whole)
        for name, total in sums.most_common()
    ]


def delete(member: Member) -> PageResult:
    """All that was imported; the answer of the tool decides what the person reads."""
    call = prepare_change(member, "delete_spending_data", confirm=True)

    def show_result(answers: dict[str, Answer]) -> FlowResult:
        answer = answers["deleted"]
        if answer.is_good:
            return redirect_back(PATH, "spending_deleted")
        text = str(answer.get("message", "The service does not answer. Nothing was deleted; please try again."))
        return show_problem(
            "Nothing was deleted", text, 422 if answer else 503, links=((PATH, "Back to your spending"),)
        )

    return WaitingPage({"deleted": call}, show_result)


def show_too_large(member: Member) -> PageResult:
    return show(member, 413, f"The file is larger than {MAX_FILE_BYTES // 1048576} MiB. Nothing was imported.")


def prepare_import(member: Member) -> PageResult | ToolCall:
    """The call of the import tool, or the page that says what is wrong with the file."""
    if not member.data.file:
        return show(member, 422, "Choose a file first.")
    try:
        text = decode_text(member.data.file)
    except NoText as error:
        return show(member, 422, f"This file cannot be read: it is {error}.")
    if len(text) > MAX_CHARACTERS or len(to_json(text)) > MAX_JSON_BYTES:
        return show(
            member, 422, f"The statement is too long: it may have {MAX_CHARACTERS:,} characters and 4 MiB. Split it."
        )
    fields = {"card_id": member.data.form_value("card_id"), "currency": member.data.form_value("currency").strip()}
    arguments: dict[str, object] = {
        name: int(value) if value.isdigit() else value for name, value in fields.items() if value
    }
    if member.data.form_value("replace"):
        arguments["replace"] = True
    return prepare_change(member, TOOL, seconds=_IMPORT_SECONDS, statement_text=text, **arguments)


def show_import(answer: Answer) -> Flow:
    def flow(member: Member) -> PageResult:
        if not answer:
            return show(member, 503, _UNAVAILABLE)
        if answer.status == "ok":
            return show(member, imported=answer)
        return show(member, 422, _describe_failure(answer))

    return form_for_member(flow)


def _describe_failure(result: dict[str, object]) -> str:
    """Why the tool did not import it, for a person who sees a file and not a parameter."""
    errors = result.get("errors")
    if isinstance(errors, list) and errors:
        first = errors[0]
        what = {"statement_text": "The file", "card_id": "The card", "currency": "The currency"}
        return f"{what.get(first['field'], first['field'])} {first['problem']}. Wanted: {first['expected']}."
    return str(result.get("message", "The statement was not imported."))
