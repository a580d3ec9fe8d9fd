"""Charts: values become places, gaps stay gaps, and the sentence, the scale and the table say the same figures."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from auth_server.pages.hotel_bookings import draw_prices
from auth_server.web.charts import (
    MAX_BARS,
    MAX_ROWS,
    WIDTH,
    Chart,
    choose_ticks,
    draw_bars,
    draw_line,
    draw_stacks,
    format_short,
    thin_points,
)
from auth_server.web.rendering import _environment

DAY = date(2026, 10, 27)


def after(days: int) -> date:
    return DAY + timedelta(days)


def draw(picture: Chart) -> str:
    source = '{% from "charts.html" import chart %}{{ chart(picture) }}'
    return _environment().from_string(source).render(picture=picture)


def need(picture: Chart | None) -> Chart:
    assert picture is not None
    return picture


def test_a_line_steps_from_value_to_value_in_time_and_height() -> None:
    picture = need(draw_line([(DAY, 60), (after(1), 100), (after(4), 80)], "Price"))
    assert [mark.words for mark in picture.scale] == ["60", "70", "80", "90", "100"]
    assert picture.path == "M52 186H157V14H472V100"  # a quarter of the time, then all of it; the middle of the scale
    assert picture.dots == ((472, 100),)


def test_the_sentence_says_first_last_lowest_and_highest() -> None:
    picture = need(draw_line([(DAY, 75_000), (after(5), 58_000), (after(9), 62_000)], "Best price"))
    assert picture.summary == (
        "Best price: 75,000 on 27 Oct 2026, 62,000 on 5 Nov 2026; lowest 58,000 on 1 Nov 2026,"
        " highest 75,000 on 27 Oct 2026."
    )


def test_what_never_changed_is_said_once() -> None:
    assert need(draw_line([(DAY, 5), (after(3), 5)], "Price")).summary == "Price: 5 on 27 Oct 2026 to 30 Oct 2026."
    assert need(draw_line([(DAY, 5)], "Price")).summary == "Price: 5 on 27 Oct 2026."


def test_a_gap_breaks_the_line_and_is_shown_and_counted() -> None:
    points = [(DAY, 10), (after(1), None), (after(2), None), (after(3), 20), (after(4), 20)]
    picture = need(draw_line(points, "Price"))
    assert picture.path.count("M") == 2
    assert [(box.kind, box.x, box.width) for box in picture.boxes] == [("miss", 52, 315)]
    assert picture.dots[0] == (52, 186), "what stands alone is a dot, for it has no line"
    assert picture.summary.endswith(" 2 of 5 times: no answer.")
    assert picture.rows == (("27 Oct 2026", "10"), ("28 Oct 2026", "no answer"), ("30 Oct 2026", "20"))
    assert "no answer</li>" in draw(picture)
    sold_out = need(draw_line(points, "Price", gap="sold out"))
    assert sold_out.summary.endswith(" 2 of 5 times: sold out.")
    assert sold_out.rows[1] == ("28 Oct 2026", "sold out")
    assert "sold out</li>" in draw(sold_out)


def test_a_chart_without_a_value_is_none() -> None:
    assert draw_line([(DAY, None)], "Price") is None
    assert draw_line([], "Price") is None
    assert draw_bars([("Oct 2026", None)], "Spent") is None
    assert draw_stacks([("Oct 2026", {})], "Spent") is None


def test_a_limit_lies_within_the_scale() -> None:
    picture = need(draw_line([(DAY, 90), (after(1), 95)], "Price", want=70))
    assert picture.want is not None
    assert (picture.want.at, picture.want.words, picture.scale[0].words) == (186, "limit, 70", "70")
    assert "limit, 70" in draw(picture)


def test_many_points_are_thinned_and_keep_their_extremes_and_gaps() -> None:
    points = [(after(n), n % 50 + 100) for n in range(5_000)]
    points[2_222] = (after(2_222), 9_000)
    points[3_333] = (after(3_333), 1)
    thin = thin_points([*points[:4_000], (after(4_000), None), *points[4_001:]])
    values = [value for _, value in thin]
    assert len(thin) <= 40 * 5
    assert (max(v for v in values if v), min(v for v in values if v), values.count(None)) == (9_000, 1, 1)
    assert [at for at, _ in thin] == sorted(at for at, _ in thin)
    assert len(draw(need(draw_line(points, "Price")))) < 10_000


def test_the_table_holds_the_newest_changes_and_says_what_is_left_out() -> None:
    picture = need(draw_line([(after(n), n) for n in range(100)], "Price"))
    assert (len(picture.rows), picture.omitted) == (MAX_ROWS, 100 - MAX_ROWS)
    assert picture.rows[-1] == ("3 Feb 2027", "99")
    assert "76 earlier ones are left out" in draw(picture)


def test_moments_of_one_day_have_one_word_below_them() -> None:
    noon = datetime.fromisoformat("2026-11-23T12:00+00:00")
    picture = need(draw_line([(noon, 1), (noon + timedelta(hours=2), 3)], "Price"))
    assert [mark.words for mark in picture.labels] == ["23 Nov"]
    assert picture.path.startswith("M52 ")


def test_years_are_said_where_the_time_is_long() -> None:
    picture = need(draw_line([(DAY, 1), (after(800), 3)], "Worth"))
    assert [mark.words for mark in picture.labels] == ["Oct 2026", "Jul 2027", "Apr 2028", "Jan 2029"]


def test_bars_stand_on_zero_and_leave_what_is_missing_out() -> None:
    picture = need(draw_bars([("Oct 2026", 50), ("Nov 2026", None), ("Dec 2026", Decimal(100))], "Spent"))
    assert [(box.kind, box.y, box.height) for box in picture.boxes] == [
        ("k1", 100, 86),
        ("miss", 14, 172),
        ("k1", 14, 172),
    ]
    assert [mark.words for mark in picture.labels] == ["Oct", "Nov", "Dec"]
    assert picture.summary == "Spent: 100 in Dec 2026. 1 of 3 had no answer."
    assert picture.rows[1] == ("Nov 2026", "no answer")


def test_months_of_two_years_keep_their_year() -> None:
    picture = need(draw_bars([("Dec 2026", 2), ("Jan 2027", 1)], "Spent", format_value="{:.2f} EUR".format))
    assert [mark.words for mark in picture.labels] == ["Dec 2026", "Jan 2027"]
    assert picture.summary == "Spent: 1.00 EUR in Jan 2027; most in Dec 2026: 2.00 EUR."


def test_months_with_their_year_have_room_beside_each_other() -> None:
    months = [(f"{name} {year}", 1) for year in (2026, 2027) for name in ("Jan", "Mar", "May", "Jul", "Sep", "Nov")]
    picture = need(draw_bars(months, "Spent"))
    assert [mark.words for mark in picture.labels] == ["May 2026", "Nov 2026", "May 2027", "Nov 2027"]


def test_a_month_with_more_given_back_than_spent_has_no_bar() -> None:
    picture = need(draw_bars([("Oct 2026", -20), ("Nov 2026", 10)], "Spent"))
    assert (picture.boxes[0].height, picture.rows[0]) == (0, ("Oct 2026", "-20"))


def test_only_the_newest_bars_are_drawn_with_words_below_six() -> None:
    picture = need(draw_bars([(f"m{n}", n) for n in range(60)], "Spent"))
    assert (len(picture.boxes), len(picture.labels), picture.labels[-1].words) == (MAX_BARS, 6, "m59")


def test_stacks_join_the_small_categories_and_sum_up() -> None:
    parts = {"dining": 50, "fuel": 20, "hotels": 10, "retail": 8, "transit": 6, "other": 4, "pharmacy": 2}
    picture = need(draw_stacks([("Oct 2026", parts), ("Nov 2026", {"dining": 10})], "Spent"))
    assert picture.legend == (
        ("k1", "dining"),
        ("k2", "fuel"),
        ("k3", "hotels"),
        ("k4", "retail"),
        ("k5", "transit"),
        ("k6", "others"),
    )
    assert picture.rows == (
        ("Oct 2026", "50", "20", "10", "8", "6", "6", "100"),
        ("Nov 2026", "10", "0", "0", "0", "0", "0", "10"),
    )
    assert [box.kind for box in picture.boxes] == ["k1", "k2", "k3", "k4", "k5", "k6", "k1"]
    assert picture.boxes[0].y == picture.boxes[1].y + picture.boxes[1].height == 100
    assert picture.boxes[5].y == 14
    assert picture.summary == "Spent: 10 in Nov 2026; most in Oct 2026: 100. Most went to dining: 60 in all."


def test_the_newest_of_many_weeks_ends_at_the_edge() -> None:
    weeks = [(f"week of {day} Nov", day) for day in range(10, 24)]
    picture = need(draw_bars(weeks, "Calls", unit="Week"))
    assert [mark.words for mark in picture.labels] == ["11 Nov", "15 Nov", "19 Nov", "23 Nov"]
    assert [mark.anchor for mark in picture.labels] == ["middle", "middle", "middle", "end"]
    assert picture.labels[-1].at == WIDTH
    assert picture.columns == (("Week", ""), ("Calls", "num"))
    assert picture.rows[0] == ("week of 10 Nov", "10")
    assert picture.summary == "Calls: 23 in week of 23 Nov."
    few = need(draw_bars(weeks[-3:], "Calls", unit="Week"))
    assert {mark.anchor for mark in few.labels} == {"middle"}


def test_three_categories_have_no_others() -> None:
    picture = need(draw_stacks([("Oct 2026", {"a": 1, "b": 2, "c": 0})], "Spent"))
    assert [words for _, words in picture.legend] == ["b", "a"]
    assert picture.columns == (("Month", ""), ("b", "num"), ("a", "num"), ("in all", "num"))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 100, (0, 25, 50, 75, 100)),
        (58_000, 75_000, (55_000, 60_000, 65_000, 70_000, 75_000)),
        (1.1, 1.9, (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)),
        (0, 0, (0, 0.25)),
        (75_000, 75_000, (60_000, 80_000)),
        (-30, 10, (-30, -20, -10, 0, 10)),
    ],
)
def test_ticks_are_round_and_enclose_the_values(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert choose_ticks(low, high) == ticks


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (0.25, "0.25"), (7_500, "7,500"), (60_000, "60k"), (62_500, "62.5k"), (1_500_000, "1.5M"), (2e9, "2G")],
)
def test_words_of_a_scale_are_short(value: float, words: str) -> None:
    assert format_short(value) == words


def test_the_picture_is_an_image_with_one_sentence_and_a_table_and_has_no_inline_style() -> None:
    html = draw(need(draw_line([(DAY, 1), (after(1), 2)], 'Price <of> "x"')))
    assert '<svg class="chart" viewBox="0 0 480 220" role="img" aria-label="Price &lt;of&gt; &#34;x&#34;: 1 on' in html
    assert "style=" not in html
    assert re.search(r"<details.*<table.*</details>", html, re.DOTALL)


def _look_at_stay(day: int, points: int | None, cash: float | None) -> dict[str, object]:
    captured_at = f"2026-10-{day}T12:00:00+00:00"
    return {"captured_at": captured_at, "points": points, "cash": cash, "currency": "USD" if cash else None}


@pytest.mark.parametrize(("cash", "gap"), [(None, "sold out"), (410.5, "no price in points")])
def test_a_look_at_a_stay_without_a_price_says_what_was_seen(cash: float | None, gap: str) -> None:
    booking = {"kind": "award", "booked": True, "original_points": 60_000}
    looks = [_look_at_stay(day, points, cash) for day, points in ((29, 55_000), (28, None), (27, 60_000))]
    picture = need(draw_prices(booking, looks))
    assert picture.rows == (("27 Oct 2026", "60,000"), ("28 Oct 2026", gap), ("29 Oct 2026", "55,000"))


def test_a_rate_in_another_currency_is_not_called_sold_out() -> None:
    booking = {"kind": "cash", "booked": True, "cash_rate_currency": "EUR", "original_pay_rate_usd": 400}
    looks = [_look_at_stay(28, None, 410.5), _look_at_stay(27, None, 390) | {"currency": "EUR"}]
    picture = need(draw_prices(booking, looks))
    assert (picture.name, picture.rows[1]) == ("EUR for the stay", ("28 Oct 2026", "no price in EUR"))


@pytest.mark.parametrize(("high", "ticks"), [(1, (0, 1)), (2, (0, 1, 2)), (9, (0, 5, 10)), (100, (0, 25, 50, 75, 100))])
def test_what_is_counted_has_whole_numbers_at_its_scale(high: float, ticks: tuple[float, ...]) -> None:
    assert choose_ticks(0, high, whole=True) == ticks
    chart = draw_bars([("May 2026", high)], "Accounts")
    assert chart is not None
    assert [mark.words for mark in chart.scale] == [str(tick) for tick in ticks]
