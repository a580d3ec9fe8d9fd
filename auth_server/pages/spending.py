"""Spending page of the dashboard: statement files go to the import tool, and what was spent is shown by month."""

from asyncio import gather
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic_core import to_json
from sqlalchemy import select
from sqlalchemy.orm import Session

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.tool_calls import Answer, change, look
from auth_server.web.charts import Chart, draw_stacks
from auth_server.web.outcomes import FlowResult, show_problem
from shared.db.cards import Card
from shared.db.spending import SpendingStatement
from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text
from shared.domain.card_value import CATEGORIES
from shared.domain.dates import add_months
from shared.domain.party_prices import format_money
from shared.domain.plans import Plan
from shared.domain.spending.categories import describe_uncategorised
from shared.limits.heavy_work import run_heavy

__all__ = ["MAX_FILE_BYTES", "delete", "import_statement", "show", "show_too_large"]

TOOL = "import_spending_statement"
MAX_CHARACTERS = 3_000_000
MAX_JSON_BYTES = (4 << 20) - 4096  # the tool server's limit for a request, less the rest of the request
_MAX_STATEMENTS, _MONTHS = 24, 12
MOST_SHOPS = 15  # to ask about at once: a form has at most 40 fields
PATH = "/dashboard/spending"
_IMPORT_SECONDS = 60.0  # a file of 20,000 lines takes three
# What a file can leave open: the parameter, the question, and the answers.
_QUESTIONS = (
    (
        "date_order",
        "Dates such as 03/04/26",
        (("day_first", "Day first"), ("month_first", "Month first"), ("year_first", "Year first")),
    ),
    ("positive_is", "A positive amount", (("spent", "Money I spent"), ("received", "Money I received"))),
)
_UNAVAILABLE = "The service that reads statements does not answer. Nothing was imported; please try again in a moment."


async def show(member: Member) -> FlowResult:
    """Shows spending; `currency` in the query chooses among several."""
    return await _show(member, member.data.query_value("currency"))


async def _show(
    member: Member, currency: str | None = None, *, status: int = 200, fault: str = "", imported: Answer | None = None
) -> FlowResult:
    """Shows the tool's totals next to the form, which keeps its values when there is a fault."""
    only = {"currency": currency} if currency else {}
    (cards, statements), answer = await gather(
        member.transact(lambda db: _list_rows(db, member.account.id)),
        look(member, "get_spending_summary", months_back=_MONTHS, **only),
    )
    summary = answer if answer.status == "ok" else Answer()
    categories = _list_categories(summary)
    return member.show(
        "spending.html",
        status,
        cards=cards,
        statements=statements,
        may=member.plan >= Plan.PREMIUM,
        fault=fault,
        made=imported,
        most=MAX_FILE_BYTES,
        chosen=dict(member.data.form) if fault else {},
        questions=_QUESTIONS,
        unknown_shops=imported.get("unknown_shops", [])[:MOST_SHOPS] if imported else [],
        choices=CATEGORIES,
        totals=_draw_months(summary),
        categories=categories,
        unsorted=" ".join(describe_uncategorised((name, Decimal(str(total))) for name, total, *_ in categories)),
        is_away=bool(statements) and not answer,
        summary=summary,
    )


def _list_rows(db: Session, account_id: int) -> tuple[Sequence[Card], Sequence[SpendingStatement]]:
    """The open cards, and the newest statements."""
    cards = select(Card).where(Card.account_id == account_id, Card.closed_on.is_(None)).order_by(Card.id).limit(200)
    statements = select(SpendingStatement).where(SpendingStatement.account_id == account_id)
    newest = statements.order_by(SpendingStatement.imported_at.desc(), SpendingStatement.id.desc())
    return db.scalars(cards).all(), db.scalars(newest.limit(_MAX_STATEMENTS)).all()


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
    return draw_stacks(stacks, f"Spent in {currency}", format_value=lambda value: format_money(value, currency))


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


async def delete(member: Member) -> FlowResult:
    """Deletes all that was imported; the tool's answer decides what the person reads."""
    answer = await change(member, "delete_spending_data", confirm=True)
    if answer.is_good:
        return redirect_back(PATH, "spending_deleted")
    text = str(answer.get("message", "The service does not answer. Nothing was deleted; please try again."))
    return show_problem("Nothing was deleted", text, 422 if answer else 503, links=((PATH, "Back to your spending"),))


async def sort_shops(member: Member) -> FlowResult:
    """What the person chose for shops that are not known; those without a choice are left as they are."""
    pairs = ((f"shop_{number}", f"category_{number}") for number in range(MOST_SHOPS))
    choices = {member.data.form_value(shop): member.data.form_value(category) for shop, category in pairs}
    shops = {shop: category for shop, category in choices.items() if shop and category}
    if not shops:
        return await _show(member)
    answer = await change(member, TOOL, shops=shops)
    if answer.is_good:
        return redirect_back(PATH, "shops_sorted")
    text = _describe_failure(answer) if answer else "The service does not answer. Nothing was saved; please try again."
    return show_problem("Nothing was saved", text, 422 if answer else 503, links=((PATH, "Back to your spending"),))


async def show_too_large(member: Member) -> FlowResult:
    fault = f"The file is larger than {MAX_FILE_BYTES // 1048576} MiB. Nothing was imported."
    return await _show(member, status=413, fault=fault)


async def import_statement(member: Member) -> FlowResult:
    if not member.data.file:
        return await _show(member, status=422, fault="Choose a file first.")
    try:
        text = await run_heavy(_read_text, member.data.file)
    except NoText as error:
        return await _show(member, status=422, fault=f"This file cannot be read: it is {error}.")
    if text is None:
        fault = f"The statement is too long: it may have {MAX_CHARACTERS:,} characters and 4 MiB. Split it."
        return await _show(member, status=422, fault=fault)
    fields = {"card_id": member.data.form_value("card_id"), "currency": member.data.form_value("currency").strip()}
    arguments: dict[str, Any] = {name: value for name, value in fields.items() if value}
    arguments |= {name: value for name, *_ in _QUESTIONS if (value := member.data.form_value(name))}
    if member.data.form_value("replace"):
        arguments["replace"] = True
    answer = await change(member, TOOL, _IMPORT_SECONDS, statement_text=text, **arguments)
    if answer.status == "ok":
        return await _show(member, imported=answer)
    fault = _describe_failure(answer) if answer else _UNAVAILABLE
    return await _show(member, status=422 if answer else 503, fault=fault)


def _read_text(content: bytes) -> str | None:
    """Reads it, which may take a while; None if larger than the tool accepts. Raises NoText."""
    text = decode_text(content)
    return None if len(text) > MAX_CHARACTERS or len(to_json(text)) > MAX_JSON_BYTES else text


def _describe_failure(result: dict[str, object]) -> str:
    """Why the tool did not import it, for a person who sees a file and not a parameter."""
    errors = result.get("errors")
    if isinstance(errors, list) and errors:
        first = errors[0]
        if first["field"] in {name for name, *_ in _QUESTIONS}:
            return f"The file {first['problem']}. Choose what is right below, and send the file again."
        what = {"statement_text": "The file", "card_id": "The card", "currency": "The currency"}
        return f"{what.get(first['field'], first['field'])} {first['problem']}. Wanted: {first['expected']}."
    return str(result.get("message", "The statement was not imported."))
