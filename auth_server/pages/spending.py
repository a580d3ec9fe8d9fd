"""Spending page of the dashboard: statement files go to the import tool, and its result is shown."""

from pydantic_core import to_json
from sqlalchemy import select

from auth_server.pages import tool_calls
from auth_server.pages.member import Flow, Member, form_for_member
from auth_server.pages.tool_calls import ToolCall
from auth_server.web.outcomes import FlowResult
from shared.db.cards import Card
from shared.db.spending import SpendingStatement
from shared.documents.text_decoding import MAX_FILE_BYTES, NoText, decode_text
from shared.domain.plans import Plan

__all__ = ["MAX_FILE_BYTES", "prepare_import", "show", "show_import"]

TOOL = "import_spending_statement"
MAX_CHARACTERS = 3_000_000
MAX_JSON_BYTES = (4 << 20) - 4096  # the tool server's limit for a request, less the rest of the request
_MAX_STATEMENTS = 24
_UNAVAILABLE = "The service that reads statements does not answer. Nothing was imported; please try again in a moment."


def show(
    member: Member, status: int = 200, fault: str | None = None, imported: dict[str, object] | None = None
) -> FlowResult:
    db, account_id = member.db, member.account.id
    cards = select(Card).where(Card.account_id == account_id, Card.closed_on.is_(None)).order_by(Card.id).limit(200)
    statements = select(SpendingStatement).where(SpendingStatement.account_id == account_id)
    newest = statements.order_by(SpendingStatement.imported_at.desc(), SpendingStatement.id.desc()).limit(
        _MAX_STATEMENTS
    )
    return member.show(
        "spending.html",
        status,
        cards=db.scalars(cards).all(),
        statements=db.scalars(newest).all(),
        may=member.plan >= Plan.PREMIUM,
        fault=fault,
        made=imported,
        most=MAX_FILE_BYTES,
    )


def prepare_import(member: Member) -> FlowResult | ToolCall:
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
    return tool_calls.prepare(member.uow, member.account, TOOL, statement_text=text, **arguments)


def show_import(call: ToolCall) -> Flow:
    def flow(member: Member) -> FlowResult:
        tool_calls.finish(member.uow, call)
        result = call.result
        if result is None:
            return show(member, 503, _UNAVAILABLE)
        if result.get("status") == "ok":
            return show(member, imported=result)
        return show(member, 422, _describe_failure(result))

    return form_for_member(flow)


def _describe_failure(result: dict[str, object]) -> str:
    """Why the tool did not import it, for a person who sees a file and not a parameter."""
    errors = result.get("errors")
    if isinstance(errors, list) and errors:
        first = errors[0]
        what = {"statement_text": "The file", "card_id": "The card", "currency": "The currency"}
        return f"{what.get(first['field'], first['field'])} {first['problem']}. Wanted: {first['expected']}."
    return str(result.get("message", "The statement was not imported."))
