"""The private link with which calendars subscribe to the bookings of an account (iCalendar, RFC 5545)."""

from datetime import datetime

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from shared.domain.plurals import pluralize
from shared.errors import ConfirmationRequired
from shared.services.bookings import calendar_feed, secret_links
from shared.settings import settings


class CalendarFeed(Result):
    url: str
    webcal_url: str
    events: int
    updated_at: datetime


class NewCalendarFeed(Result):
    url: str | None
    webcal_url: str | None


def _build_links(secret: str) -> tuple[str, str]:
    """The https link, and the webcal link that opens in a calendar application."""
    url = f"{settings().web_url}/feeds/{secret}.ics"
    return url, "webcal" + url[url.index(":") :]


@tool("inbox", Tier.FREE, Effect.FILES, "Get the calendar link")
def get_calendar_feed(call: Call) -> CalendarFeed:
    """Gives a link (ics) that shows the user's flights and hotel nights in a Google, Apple or Outlook calendar.

    For "I want my trips in my calendar." The link is a secret. Nothing past or cancelled. Free.
    """
    link = secret_links.get_link(call.db, call.account_id, calendar_feed.PURPOSE)
    events = calendar_feed.list_events(call.db, call.reference, call.now)
    url, webcal = _build_links(link.secret)
    count = pluralize(len(events), "upcoming event")
    return CalendarFeed(
        message=f"Your calendar link shows flights, check-in, stays, plans and deadlines: {count}. Keep it secret;"
        " a reset ends it. With ?alarms=on behind it the calendar gets reminders, with ?deadlines=off no deadlines.",
        url=url,
        webcal_url=webcal,
        events=len(events),
        updated_at=max([link.created_at, *(e.updated_at for e in events)]),
    )


@tool("inbox", Tier.FREE, Effect.REPLACES, "Replace the calendar link")
def reset_calendar_feed(call: Call, confirm: bool = False) -> NewCalendarFeed:
    """Replaces the private calendar link by a new one, as when it leaked or others see it; the old one is dead.

    For "My ex has the link to my calendar." Without confirm nothing changes. Free.
    """
    if not confirm:
        message = (
            "Calendars that use the present link would no longer be updated. Ask the user, then send confirm true."
        )
        question = "Calendars that use your present link will no longer be updated. Replace the link?"
        raise ConfirmationRequired(message, question, would_change={"calendar_link": "replaced"})
    url, webcal = _build_links(secret_links.renew_link(call.db, call.account_id, calendar_feed.PURPOSE).secret)
    return NewCalendarFeed(message="The old link is ended; this is the new one.", url=url, webcal_url=webcal)
