"""Tools called for a person at the dashboard, over MCP with a token of the page, and the pages that refuse."""

from dataclasses import dataclass
from typing import Any

from auth_server.oauth import page_tokens
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import FlowResult, Page, show_problem
from auth_server.web.tool_server import PAGE_SECONDS, Answer, ToolCall
from shared.domain.preferences import SETTINGS

__all__ = ["Answer"]

SEARCH_SECONDS = 4.0  # that a page waits for a search before it says so
NO_ANSWER = "The service did not answer in time. Please look whether it was stored before you try again."


async def look(member: Member, tool: str, /, **arguments: Any) -> Answer:
    """Calls any tool with a token that can change nothing; looks that start together share one request."""
    token = page_tokens.issue(member.session, read_only=True)
    return await _ask(member, ToolCall(token, tool, arguments, is_look=True))


async def search(member: Member, tool: str, /, **arguments: Any) -> Answer:
    """Starts a slow look once, however often the page is loaded, and caches it for minutes.

    Until it ends its status is `waiting`, and the page reloads.
    """
    token = page_tokens.issue(member.session, read_only=True)
    owner = f"{member.account.public_id} {member.plan.slug}"  # another plan gets another answer
    return await _ask(member, ToolCall(token, tool, arguments, SEARCH_SECONDS, owner))


async def read_usual(member: Member) -> dict[str, str]:
    """The profile's values for arguments, to fill a form: a page shows each choice before it is sent."""
    profile = (await look(member, "get_profile")).get("profile") or {}
    return {name: str(value) for name, setting in SETTINGS.items() if (value := profile.get(setting))}


async def change(member: Member, tool: str, /, seconds: float = PAGE_SECONDS, **arguments: Any) -> Answer:
    """Makes a call that may change the person's data, through the same gate as an assistant's."""
    return await _ask(member, ToolCall(page_tokens.issue(member.session, read_only=False), tool, arguments, seconds))


async def _ask(member: Member, call: ToolCall) -> Answer:
    assert member.tools is not None  # of a handler that is a coroutine function
    return await member.tools.call(call)


def read_faults(answer: Answer) -> dict[str, str]:
    """The faults by field, under "" those without a field. Empty when the tool did its work.

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


@dataclass(frozen=True)
class Subject:
    """The subject of pages, for refusals; `path` leads to the list, `words` is the link's text."""

    noun: str
    path: str
    words: str

    def show_away(self) -> Page:
        """Shows the page for a look without an answer."""
        text = f"{self.words} could not be read right now. Please try again."
        return show_problem("Back in a moment", text, 503, 5)

    def show_gone(self) -> Page:
        text = "It may have been deleted in the meantime; the others are as they were."
        return show_problem(f"There is no such {self.noun}", text, 404, links=((self.path, self.words),))

    def show_missing(self, answer: Answer) -> Page:
        """Shows the page for a row that a look did not return, or that it got no answer for."""
        return self.show_gone() if answer else self.show_away()

    def refuse(self, answer: Answer) -> Page:
        """Shows why a tool did not do its work."""
        links = ((self.path, self.words),)
        if not answer:
            return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=links)
        if answer.status == "not_found":
            return self.show_gone()
        if answer.status == "paywall":
            words = " ".join(filter(None, (answer["message"], answer.get("free_alternative"))))
            return show_problem("A higher plan is needed", words, 403, links=(("/plans", "See the plans"), *links))
        status = 503 if answer.status == "backend_unavailable" else 422
        return show_problem("That did not work", " ".join(read_faults(answer).values()), status, links=links)

    async def delete(self, member: Member, tool: str, /, **which: Any) -> FlowResult:
        """Deletes it, and returns to the list, which says so."""
        deleted = await change(member, tool, **which)
        return redirect_back(self.path, "deleted") if deleted.is_good else self.refuse(deleted)
