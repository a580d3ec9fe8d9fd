"""Which backups of a folder stay: the newest of each of the last days, and of each of the last weeks."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

_NAME = re.compile(r"award-travel-([0-9]{8}T[0-9]{6})Z\.backup(\.age)?")
_MOMENT = "%Y%m%dT%H%M%S"


def build_name(moment: datetime, *, encrypted: bool) -> str:
    return f"award-travel-{moment.astimezone(UTC):{_MOMENT}}Z.backup{'.age' if encrypted else ''}"


def read_moment(name: str) -> datetime | None:
    """When the backup of this name was made; None for any other file."""
    match = _NAME.fullmatch(name)
    try:
        return datetime.strptime(match[1], _MOMENT).replace(tzinfo=UTC) if match else None
    except ValueError:  # 30 February
        return None


def select_expired(names: Iterable[str], today: date, days: int, weeks: int) -> list[str]:
    """The names to delete, oldest first. The newest backup of all stays, however old it is."""
    moments = sorted(((moment, name) for name in names if (moment := read_moment(name))), reverse=True)
    newest_of_days: dict[date, str] = {}
    newest_of_weeks: dict[date, str] = {}
    for moment, name in moments:
        day = moment.date()
        newest_of_days.setdefault(day, name)
        newest_of_weeks.setdefault(day - timedelta(days=day.weekday()), name)
    monday = today - timedelta(days=today.weekday())
    staying = {name for day, name in newest_of_days.items() if day > today - timedelta(days=days)}
    staying |= {name for first, name in newest_of_weeks.items() if first > monday - timedelta(weeks=weeks)}
    staying |= {name for _, name in moments[:1]}
    return [name for _, name in reversed(moments) if name not in staying]
