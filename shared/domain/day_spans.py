"""Spans of days that figures are summed by, so that a window of 90 days is some 20 sums and not 90 days."""

from collections.abc import Collection
from datetime import date, timedelta
from typing import NamedTuple

SHORT, LONG = 5, 25  # days; every long one is five short ones
WINDOW = 90  # days that statistics go back at most


class Span(NamedTuple):
    days: int
    first: date

    @property
    def end(self) -> date:
        """The day after it."""
        return self.first + timedelta(days=self.days)


class Cut(NamedTuple):
    """A window as it is read: spans, days between them, and all days from one on."""

    since: date
    spans: list[Span]
    days: list[date]
    rest: date


def list_spans(since: date, until: date) -> list[Span]:
    """The spans within these days, the second not counted. All programs count from the same day."""
    days = [since + timedelta(days=number) for number in range((until - since).days)]
    spans = [Span(length, day) for day in days for length in (SHORT, LONG) if day.toordinal() % length == 0]
    return [span for span in spans if span.end <= until]


def cut_window(since: date, spans: Collection[Span]) -> Cut:
    """A window that has no end, by the longest of these spans."""
    day, used, days = since, list[Span](), list[date]()
    end = max((span.end for span in spans if span.first >= since), default=since)
    while day < end:
        span = next((span for length in (LONG, SHORT) if (span := Span(length, day)) in spans), Span(1, day))
        if span.days > 1:
            used.append(span)
        else:
            days.append(day)
        day = span.end
    return Cut(since, used, days, day)
