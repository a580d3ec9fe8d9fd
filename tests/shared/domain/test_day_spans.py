"""A window of any length is cut into spans that have a sum, each day in one of them."""

import random
from datetime import date, timedelta

from shared.domain.day_spans import LONG, SHORT, WINDOW, Span, cut_window, list_spans

START = date(2026, 1, 1)


def test_every_day_of_a_window_is_read_once_whichever_spans_are_summed() -> None:
    draw = random.Random(1)
    for number in range(3 * LONG):
        since = START + timedelta(days=number)
        until = since + timedelta(days=draw.randrange(WINDOW))
        spans = [span for span in list_spans(since, until) if draw.random() < 0.7]
        cut = cut_window(since, spans)
        read = [span.first + timedelta(days=day) for span in cut.spans for day in range(span.days)] + cut.days
        assert set(cut.spans) <= set(spans)
        assert sorted(read) == [since + timedelta(days=day) for day in range((cut.rest - since).days)]
        assert cut.rest == max((span.end for span in spans), default=since)


def test_a_window_with_all_its_sums_is_some_twenty_rows_of_each_kind() -> None:
    for number in range(LONG):
        since = START + timedelta(days=number)
        until = since + timedelta(days=WINDOW)
        cut = cut_window(since, list_spans(since, until))
        assert len(cut.spans) + len(cut.days) + (until - cut.rest).days <= 18


def test_spans_are_whole_and_within_the_days() -> None:
    for number in range(LONG):
        since = START + timedelta(days=number)
        until = since + timedelta(days=WINDOW)
        spans = list_spans(since, until)
        assert {span.days for span in spans} == {SHORT, LONG}
        for span in spans:
            assert since <= span.first < span.end <= until
            assert span.first == list_spans(span.first, span.end)[0].first
        shorts = [span.first for span in spans if span.days == SHORT]
        assert {day - shorts[0] for day in shorts} == {timedelta(days=SHORT * step) for step in range(len(shorts))}
        assert {span.first for span in spans if span.days == LONG} <= set(shorts)
        assert spans == [span for span in spans if isinstance(span, Span)]
