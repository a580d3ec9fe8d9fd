"""Calendar arithmetic, and dates as people read them in sentences; fields of a result keep ISO 8601."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo

_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)


def format_day(day: date) -> str:
    """`8 Oct 2027`."""
    return f"{day.day} {day:%b %Y}"


def format_weekday(day: date) -> str:
    """`Thu 21 Jan 2027`, for days of travel."""
    return f"{day:%a} {format_day(day)}"


def format_short_weekday(day: date) -> str:
    """`Thu 21 Jan`, if the year is obvious."""
    return f"{day:%a} {day.day} {day:%b}"


def format_weekdays(first: date, last: date) -> str:
    """`Mon 1 to Wed 31 Mar 2027`, `Sat 30 Jan to Tue 2 Feb 2027`; with both years if they differ."""
    if first == last:
        return format_weekday(first)
    if first.year != last.year:
        return f"{format_weekday(first)} to {format_weekday(last)}"
    start = f"{first:%a} {first.day}" if first.month == last.month else format_short_weekday(first)
    return f"{start} to {format_weekday(last)}"


def format_days(first: date, last: date) -> str:
    """`8 Oct 2027`, or `8 Oct 2027 to 2 Nov 2027`."""
    return format_day(first) if first == last else f"{format_day(first)} to {format_day(last)}"


def add_months(day: date, months: int) -> date:
    """The same day that many months later, cut to the end of a shorter month and to the end of the calendar."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    if year > date.max.year:
        return date.max
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def next_anniversary(opened: date, today: date) -> date:
    """The first anniversary of a date that is not past; the day itself does not count."""
    years = max(1, today.year - opened.year)
    coming = add_months(opened, 12 * years)
    return coming if coming >= today else add_months(opened, 12 * (years + 1))


def find_month_bounds(month: str) -> tuple[date, date]:
    """The first and the last day of a month written YYYY-MM."""
    first = date.fromisoformat(f"{month}-01")
    return first, first.replace(day=monthrange(first.year, first.month)[1])


def format_iso_day(text: str) -> str:
    """An ISO date as above, `Dec 2025` of a month; other text is unchanged."""
    try:
        if _MONTH.fullmatch(text):
            return format_day(date.fromisoformat(f"{text}-01")).removeprefix("1 ")
        return format_day(date.fromisoformat(text))
    except ValueError:
        return text


def format_iso_weekday(text: str) -> str:
    """`Thu 21 Jan 2027`, of an ISO date."""
    return format_weekday(date.fromisoformat(text))


def parse_loose_day(text: str) -> date:
    """The day of an ISO date, or the first day of a year or month."""
    year, month, day = (*map(int, text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def format_moment(moment: datetime, zone: tzinfo = UTC) -> str:
    """`Fri 8 Oct 2027, 05:58 UTC`, or with the hour and the name of another zone."""
    local = moment.astimezone(zone)
    return f"{format_weekday(local)}, {local:%H:%M %Z}"


def format_short_moment(moment: datetime, zone: tzinfo = UTC) -> str:
    """The same without the year, for recent times."""
    local = moment.astimezone(zone)
    return f"{format_short_weekday(local)}, {local:%H:%M %Z}"


def format_age(moment: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """`7 min ago` or `in 6 h` within a day, else the day: `Fri 8 Oct`, with its year if that is not the present one."""
    minutes = abs(now - moment) // timedelta(minutes=1)
    if minutes < 24 * 60:
        span = f"{minutes} min" if minutes < 60 else f"{minutes // 60} h"
        # The clocks of two machines may be some minutes apart: what has happened is never told as still to come.
        is_now = not minutes or (moment > now and minutes < 5)
        return "right now" if is_now else f"{span} ago" if moment < now else f"in {span}"
    local = moment.astimezone(zone)
    return format_short_weekday(local) if local.year == now.astimezone(zone).year else format_weekday(local)


def format_instant(moment: datetime) -> str:
    """Formats it for HTML's `datetime` attribute, which takes three digits of a second at most."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def format_iso_moment(text: str) -> str:
    """An ISO instant in UTC as above."""
    return format_moment(datetime.fromisoformat(text))
