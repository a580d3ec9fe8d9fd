"""Tools called for a person at the dashboard, over MCP with a token of the page: what is asked, and faults by field."""

from collections.abc import Callable
from typing import Any

from auth_server.oauth import page_tokens
from auth_server.pages.member import Member
from auth_server.web.outcomes import PageResult, WaitingPage
from auth_server.web.tool_server import PAGE_SECONDS, Answer, ToolCall

__all__ = [
    "Answer",
    "ToolCall",
    "prepare_change",
    "prepare_look",
    "prepare_search",
    "read_faults",
    "show_when_answered",
]

SEARCH_SECONDS = 4.0  # for which a page waits for a search, before it shows that it waits
NO_ANSWER = "The service did not answer in time. Please look whether it was stored before you try again."


def prepare_look(member: Member, tool: str, /, **arguments: Any) -> ToolCall:
    """A call that can change nothing, whatever the tool."""
    return ToolCall(page_tokens.issue(member.session, read_only=True), tool, arguments, is_look=True)


def prepare_search(member: Member, tool: str, /, **arguments: Any) -> ToolCall:
    """A look that may take long: begun once, however often the page is loaded, and kept for minutes."""
    token = page_tokens.issue(member.session, read_only=True)
    owner = f"{member.account.public_id} {member.plan.slug}"  # another plan gets another answer
    return ToolCall(token, tool, arguments, SEARCH_SECONDS, owner)


def prepare_change(member: Member, tool: str, /, seconds: float = PAGE_SECONDS, **arguments: Any) -> ToolCall:
    """A call that may change what the person keeps, by the same gate as an assistant's."""
    return ToolCall(page_tokens.issue(member.session, read_only=False), tool, arguments, seconds)


def show_when_answered(calls: dict[str, ToolCall], show: Callable[[dict[str, Answer]], PageResult]) -> WaitingPage:
    """`show` runs after the transaction, with the answer to each call by its name."""
    return WaitingPage(calls, show)


def read_faults(answer: Answer) -> dict[str, str]:
    """What is wrong, by the field it stands at; under "" what belongs to none. Empty when the tool did its work.

    A tool says what is wrong as "errors", each with field, problem and expected.
    """
    if answer.is_good:
        return {}
    if not answer:
        return {"": NO_ANSWER}
    faults: dict[str, str] = {}
    for error in answer.get("errors") or ():
        faults.setdefault(str(error["field"]), f"This {error['problem']}. Expected: {error['expected']}.")
    return faults or {"": str(answer.get("message", NO_ANSWER))}
