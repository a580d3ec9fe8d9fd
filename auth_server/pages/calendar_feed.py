"""Calendar page: the private link under which calendars subscribe to flights, stays and plans, and a new one."""

from auth_server.pages.member import Member, get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, Subject, change
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/calendar"
RESET = f"{PATH}/reset"
_CALENDAR = Subject("calendar", PATH, "Back to the calendar")


def show(member: Member) -> FlowResult:
    """Shows the link, which is a secret, only when asked for, not on every view of the page."""
    return member.show("calendar_feed.html", feed=None, is_new=False)


async def show_link(member: Member) -> FlowResult:
    return _show(member, await change(member, "get_calendar_feed"), is_new=False)


async def reset(member: Member) -> FlowResult:
    return _show(member, await change(member, "reset_calendar_feed", confirm=True), is_new=True)


def _show(member: Member, feed: Answer, *, is_new: bool) -> FlowResult:
    return member.show("calendar_feed.html", feed=feed, is_new=is_new) if feed.is_good else _CALENDAR.refuse(feed)


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(PATH, show_link),
    post_for_member(RESET, reset),
]
