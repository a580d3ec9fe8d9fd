"""Calendar page: the private link under which calendars subscribe to flights, stays and plans, and a new one."""

from collections.abc import Mapping
from functools import partial

from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import NO_ANSWER, Answer, ToolCall, prepare_change, read_faults, show_when_answered
from auth_server.web.outcomes import FlowResult, PageResult, show_problem

PATH = "/dashboard/calendar"
RESET = f"{PATH}/reset"
_BACK = ((PATH, "Back to the calendar"),)


def show(member: Member) -> FlowResult:
    """The link is a secret, so it is shown when someone asks for it, and not at every look at the page."""
    return member.show("calendar_feed.html", feed=None, is_new=False)


def show_link(member: Member) -> PageResult:
    return _show_when_made(member, prepare_change(member, "get_calendar_feed"), is_new=False)


def reset(member: Member) -> PageResult:
    return _show_when_made(member, prepare_change(member, "reset_calendar_feed", confirm=True), is_new=True)


def _show_when_made(member: Member, call: ToolCall, *, is_new: bool) -> PageResult:
    return show_when_answered({"feed": call}, partial(_show_link, member, is_new))


def _show_link(member: Member, is_new: bool, answers: Mapping[str, Answer]) -> FlowResult:
    feed = answers["feed"]
    if not feed:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=_BACK)
    if not feed.is_good:
        return show_problem("That did not work", " ".join(read_faults(feed).values()), 422, links=_BACK)
    return member.show("calendar_feed.html", feed=feed, is_new=is_new)


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(PATH, show_link),
    post_for_member(RESET, reset),
]
