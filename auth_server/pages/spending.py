"""Spending on the dashboard: a statement's file comes in and goes to the import tool; what was counted is shown."""

from pydantic_core import to_json
from sqlalchemy import select

from auth_server.pages import tool_calls
from auth_server.pages.member import Flow, Member, form_for_member
from auth_server.pages.tool_calls import ToolCall
from auth_server.web.outcomes import FlowResult
from shared.db.cards import Card
from shared.db.spending import SpendingStatement
from shared.documents.text_decoding import MOST_BYTES, NoText, decode
from shared.domain.plans import Plan

__all__ = ["MOST_BYTES", "after", "begin", "page"]

TOOL = "import_spending_statement"
MOST_CHARACTERS = 3_000_000
MOST_SENT = (4 << 20) - 4096  # bytes of JSON the tool server takes, less what stands around the text
_SHOWN = 24  # statements listed
_AWAY = "The service that reads statements does not answer. Nothing was imported; please try again in a moment."


def page(me: Member, status: int = 200, fault: str | None = None, made: dict[str, object] | None = None) -> FlowResult:
    db, theirs = me.server.db, me.account.id
    cards = select(Card).where(Card.account_id == theirs, Card.closed_on.is_(None)).order_by(Card.id).limit(200)
    held = select(SpendingStatement).where(SpendingStatement.account_id == theirs)
    newest = held.order_by(SpendingStatement.imported_at.desc(), SpendingStatement.id.desc()).limit(_SHOWN)
    return me.page(
        "spending.html",
        status,
        cards=db.scalars(cards).all(),
        statements=db.scalars(newest).all(),
        may=me.plan >= Plan.PREMIUM,
        fault=fault,
        made=made,
        most=MOST_BYTES,
    )


def begin(me: Member) -> FlowResult | ToolCall:
    """What the tool is to be asked, or what is wrong with the file."""
    if not me.inc.file:
        return page(me, 422, "Choose a file first.")
    try:
        text = decode(me.inc.file)
    except NoText as no:
        return page(me, 422, f"This file cannot be read: it is {no}.")
    if len(text) > MOST_CHARACTERS or len(to_json(text)) > MOST_SENT:
        return page(
            me, 422, f"The statement is too long: it may have {MOST_CHARACTERS:,} characters and 4 MiB. Split it."
        )
    wanted = {"card_id": me.inc.form_value("card_id"), "currency": me.inc.form_value("currency").strip()}
    known = {name: int(value) if value.isdigit() else value for name, value in wanted.items() if value}
    return tool_calls.prepare(me.server, me.account, TOOL, statement_text=text, **known)


def after(errand: ToolCall) -> Flow:
    def shown(me: Member) -> FlowResult:
        tool_calls.finish(me.server, errand)
        answer = errand.answer
        if answer is None:
            return page(me, 503, _AWAY)
        if answer.get("status") == "ok":
            return page(me, made=answer)
        return page(me, 422, _words(answer))

    return form_for_member(shown)


def _words(answer: dict[str, object]) -> str:
    """Why the tool did not import it, for a person who sees a file and not a parameter."""
    errors = answer.get("errors")
    if isinstance(errors, list) and errors:
        first = errors[0]
        what = {"statement_text": "The file", "card_id": "The card", "currency": "The currency"}
        return f"{what.get(first['field'], first['field'])} {first['problem']}. Wanted: {first['expected']}."
    return str(answer.get("message", "The statement was not imported."))
