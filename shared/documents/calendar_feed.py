"""Calendar feed: bookings as an iCalendar document (RFC 5545)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from icalendar import Alarm, Calendar, Timezone, TimezoneDaylight, TimezoneStandard, vDuration
from icalendar import Event as Entry

REFRESH = timedelta(hours=4)  # refresh interval suggested to calendar clients
_FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)  # before any record
_YEARS_AHEAD = 5  # VTIMEZONE lists clock changes for so many years


@dataclass(frozen=True)
class CalendarEvent:
    """A date means the whole day; a time with a zone is local there; one without stays local wherever it is read.

    `end` is the first moment, or the first day, no longer part of it; None where it is not known. `alarms` are spans
    before the start, which for a whole day is its first moment. `geo` is latitude and longitude.
    """

    uid: str
    title: str
    place: str | None
    lines: tuple[str, ...]
    start: date
    end: date | None
    busy: bool
    created_at: datetime | None
    updated_at: datetime
    url: str | None = None
    geo: tuple[float, float] | None = None
    alarms: tuple[timedelta, ...] = ()


def build_calendar(name: str, events: Iterable[CalendarEvent], year: int) -> bytes:
    """The same events in the same year make the same bytes. `year` is the present one."""
    calendar = Calendar()
    calendar.add("prodid", f"-//{name.replace('/', ' ')}//Calendar feed//EN")  # RFC 5545, 3.7.3
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    calendar.add("name", name)
    calendar.add("x-wr-calname", name)
    calendar.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", vDuration(REFRESH))
    entries = list(events)
    for zone in sorted({z for e in entries for z in _list_zones(e)}):
        calendar.add_component(_build_timezone(zone, year))
    for event in entries:
        calendar.add_component(_build_entry(event))
    return bytes(calendar.to_ical())


def _list_zones(event: CalendarEvent) -> Iterable[str]:
    for moment in (event.start, event.end):
        if isinstance(moment, datetime) and isinstance(moment.tzinfo, ZoneInfo) and moment.tzinfo.key != "UTC":
            yield moment.tzinfo.key


def _build_entry(event: CalendarEvent) -> Entry:
    entry = Entry()
    entry.add("uid", event.uid)
    entry.add("dtstamp", event.updated_at.astimezone(UTC))
    if event.created_at is not None:
        entry.add("created", event.created_at.astimezone(UTC))
    entry.add("last-modified", event.updated_at.astimezone(UTC))
    # A number that rises with every edit: the seconds from the first version, or a fixed day, to the latest.
    entry.add("sequence", max(0, round((event.updated_at - (event.created_at or _FIRST_DAY)).total_seconds())))
    entry.add("summary", to_one_line(event.title))
    entry.add("dtstart", event.start)
    if event.end is not None:
        entry.add("dtend", event.end)
    if event.place:
        entry.add("location", to_one_line(event.place))
    if event.lines:
        entry.add("description", "\n".join(map(to_one_line, event.lines)))
    if event.url:
        entry.add("url", event.url)
    if event.geo:
        entry.add("geo", event.geo)
    entry.add("status", "CONFIRMED")
    entry.add("transp", "OPAQUE" if event.busy else "TRANSPARENT")
    for span in event.alarms:
        entry.add_component(_build_alarm(event, span))
    return entry


def _build_alarm(event: CalendarEvent, span: timedelta) -> Alarm:
    alarm = Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", to_one_line(event.title))
    alarm.add("trigger", -span)
    return alarm


def to_one_line(text: str) -> str:
    """Text of one line: what people wrote, without the control characters a calendar may not hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@lru_cache(maxsize=512)
def _build_timezone(name: str, year: int) -> Timezone:
    """The clock of a zone from the year before to some years ahead, each change written out by itself."""
    zone, component = ZoneInfo(name), Timezone()
    component.add("tzid", name)
    first = datetime(year - 1, 1, 1, tzinfo=UTC)
    component.add_component(_build_observance(zone, first, first))
    for change in _find_clock_changes(zone, first, datetime(year + _YEARS_AHEAD, 12, 31, tzinfo=UTC)):
        component.add_component(_build_observance(zone, change - timedelta(minutes=1), change))
    return component


def _find_clock_changes(zone: ZoneInfo, start: datetime, end: datetime) -> Iterable[datetime]:
    """The moments, to the minute, from which a zone's clock has another offset."""
    while start < end:
        after = start + timedelta(days=1)
        if _find_offset(zone, start) != _find_offset(zone, after):
            low, high = 0, 24 * 60
            while high - low > 1:
                middle = (low + high) // 2
                same = _find_offset(zone, start + timedelta(minutes=middle)) == _find_offset(zone, start)
                low, high = (middle, high) if same else (low, middle)
            yield start + timedelta(minutes=high)
        start = after


def _find_offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _build_observance(zone: ZoneInfo, before: datetime, onset: datetime) -> TimezoneStandard | TimezoneDaylight:
    """What holds from `onset` on. DTSTART is local time before the change (RFC 5545 3.6.5)."""
    local, offset_before = onset.astimezone(zone), _find_offset(zone, before)
    component = TimezoneDaylight() if local.dst() else TimezoneStandard()
    component.add("dtstart", (onset + offset_before).replace(tzinfo=None))
    component.add("tzoffsetfrom", offset_before)
    component.add("tzoffsetto", _find_offset(zone, onset))
    component.add("tzname", local.tzname() or zone.key)
    return component
