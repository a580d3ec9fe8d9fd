"""Calendar arithmetic, and dates as people read them in sentences; fields of a result keep ISO 8601."""

from calendar import monthrange
from datetime import UTC, date, datetime, tzinfo


def format_day(day: date) -> str:
    """`8 Oct 2027`."""
    return f"{day.day} {day:%b %Y}"


def format_weekday(day: date) -> str:
    """`Thu 21 Jan 2027`, for days of travel."""
    return f"{day:%a} {format_day(day)}"


def format_short_weekday(day: date) -> str:
    """`Thu 21 Jan`, where the year is said nearby or cannot be another."""
    return f"{day:%a} {day.day} {day:%b}"


def format_weekdays(first: date, last: date) -> str:
    """`Mon 1 to Wed 31 Mar 2027`, `Sat 30 Jan to Tue 2 Feb 2027`; with both years where they differ."""
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
    """The same day so many months later, cut to the end of a shorter month and to the end of the calendar."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    if year > date.max.year:
        return date.max
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def next_anniversary(opened: date, today: date) -> date:
    """The first yearly return of a date that is not past; the day itself does not count as one."""
    years = max(1, today.year - opened.year)
    coming = add_months(opened, 12 * years)
    return coming if coming >= today else add_months(opened, 12 * (years + 1))


def find_month_bounds(month: str) -> tuple[date, date]:
    """The first and the last day of a month written YYYY-MM."""
    first = date.fromisoformat(f"{month}-01")
    return first, first.replace(day=monthrange(first.year, first.month)[1])


def format_iso_day(text: str) -> str:
    """An ISO date as above; what is no whole date, such as a month, stays as it is."""
    try:
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
    """The same without the year, for what was just seen."""
    local = moment.astimezone(zone)
    return f"{format_short_weekday(local)}, {local:%H:%M %Z}"


def format_instant(moment: datetime) -> str:
    """Formats as HTML's `datetime` attribute takes it, with three digits of a second at most."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def format_iso_moment(text: str) -> str:
    """An ISO instant in UTC as above."""
    return format_moment(datetime.fromisoformat(text))
