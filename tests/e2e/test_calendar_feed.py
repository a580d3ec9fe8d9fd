"""The calendar link from a tool call to a calendar: it is fetched from the web host, and ends when it is replaced."""

import httpx
from icalendar import Calendar

from tests.e2e.conftest import Call


def test_calendar_link_of_a_tool_opens_on_the_web_host_until_it_is_replaced(call: Call) -> None:
    link = call("get_calendar_feed")
    with httpx.Client(trust_env=False, timeout=90) as web:
        answer = web.get(link["url"])
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/calendar")
        assert len(Calendar.from_ical(answer.content).walk("VEVENT")) == link["events"]
        again = web.get(link["url"], headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = web.head(link["url"])
        assert (head.status_code, head.headers["etag"]) == (200, answer.headers["etag"])
        new = call("reset_calendar_feed", confirm=True)["url"]
        assert [web.get(url).status_code for url in (link["url"], new)] == [404, 200]
