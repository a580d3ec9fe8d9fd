"""Charts as inline SVG: plain data become the geometry, the sentence and the table that `charts.html` draws.

A page module makes the chart and its template draws it::

    picture = draw_line([(day, price), (other_day, None)], "Best price per person", want=70_000)
    picture = draw_bars([("Oct 2026", 1200), ("Nov 2026", None)], "Spent", format_value="{:,.2f} EUR".format)
    picture = draw_stacks([("Oct 2026", {"dining": 300, "fuel": 40})], "Spent in EUR")

    {% from "charts.html" import chart %}
    {{ chart(picture) }}

`None` is a time without a value: the line has a gap there, and the bar is missing. The lists come oldest first. Each
function returns None where nothing has a value, so that the page can say so: `{% if picture %}`. Steps and not
slopes join the values of a line, because the price between two looks is not known.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import groupby
from math import floor, log10

from shared.domain.dates import format_day

Value = int | float | Decimal
Moment = date | datetime
Points = Sequence[tuple[Moment, Value | None]]
Bars = Sequence[tuple[str, Value | None]]
Stacks = Sequence[tuple[str, Mapping[str, Value]]]
Format = Callable[[Value], str]
WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 472, 14, 186
MAX_BARS, MAX_ROWS, MAX_SERIES = 24, 24, 5
_SLICES = 40  # of time, each with four values at most: more cannot be told apart on 420 units
_STEPS = (1, 2, 2.5, 5, 10)
_LONG_SECONDS = 300 * 86400.0


@dataclass(frozen=True)
class Mark:
    """A label of a scale and its position."""

    at: float
    words: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Box:
    """A bar, or a time without an answer; `kind` is its class in site.css."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True)
class Chart:
    """What `charts.html` draws, in units of a picture of 480 by 220. Rows beyond the table's limit are `omitted`."""

    summary: str
    name: str
    scale: tuple[Mark, ...]
    labels: tuple[Mark, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    omitted: int = 0
    path: str = ""
    dots: tuple[tuple[float, float], ...] = ()
    boxes: tuple[Box, ...] = ()
    want: Mark | None = None
    legend: tuple[tuple[str, str], ...] = ()
    gap: str = "no answer"


@dataclass(frozen=True)
class _Axis:
    """A linear scale from values to units of the picture."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def draw_line(
    points: Points,
    name: str,
    *,
    format_value: Format = "{:,.0f}".format,
    want: Value | None = None,
    want_name: str = "limit",
    gap: str = "no answer",
) -> Chart | None:
    """A value over time. `want` is a limit drawn across, such as what someone paid; `gap` says why a value is None."""
    values = [value for _, value in points if value is not None]
    if not values:
        return None
    thin = thin_points(points)
    limits = [float(v) for v in (*values, *((want,) if want is not None else ()))]
    ticks = choose_ticks(min(limits), max(limits))
    across = _Axis(_measure_time(points[0][0]), _measure_time(points[-1][0]), LEFT, RIGHT)
    up = _Axis(ticks[0], ticks[-1], BOTTOM, TOP)
    path, dots = _trace(thin, across, up)
    rows = _list_changes(points, format_value, gap)
    return Chart(
        _describe_points(points, name, format_value, gap),
        name,
        _mark_scale(ticks, up),
        _mark_times(across),
        (("From", ""), (name, "num")),
        rows[-MAX_ROWS:],
        max(0, len(rows) - MAX_ROWS),
        path,
        dots,
        _box_gaps(thin, across),
        Mark(up.place(float(want)), f"{want_name}, {format_value(want)}") if want is not None else None,
        gap=gap,
    )


def draw_bars(bars: Bars, name: str, *, format_value: Format = "{:,.0f}".format, unit: str = "Month") -> Chart | None:
    """A figure by month, or by whatever the labels name: `week of 2 Nov`, with `unit` Week.

    The newest `MAX_BARS` are drawn.
    """
    bars = bars[-MAX_BARS:]
    values = [float(value) for _, value in bars if value is not None]
    if not values:
        return None
    ticks = choose_ticks(0, max(values), whole=True)
    up = _Axis(0, ticks[-1], BOTTOM, TOP)
    width = (RIGHT - LEFT) / len(bars)
    boxes = [_box_bar(n, width, None if value is None else float(value), up) for n, (_, value) in enumerate(bars)]
    return Chart(
        _describe_bars(bars, name, format_value),
        name,
        _mark_scale(ticks, up),
        _mark_bars([words for words, _ in bars], width),
        ((unit, ""), (name, "num")),
        tuple((words, "no answer" if value is None else format_value(value)) for words, value in bars),
        boxes=tuple(boxes),
    )


def draw_stacks(
    stacks: Stacks, name: str, *, format_value: Format = "{:,.0f}".format, unit: str = "Month"
) -> Chart | None:
    """Figures by month and category. Each of the largest categories has a colour; the others share one."""
    stacks = stacks[-MAX_BARS:]
    totals = Counter[str]()
    for _, parts in stacks:
        totals.update({category: max(0.0, float(value)) for category, value in parts.items()})
    series = [category for category, total in totals.most_common(MAX_SERIES) if total]
    if not series:
        return None
    columns = [(words, _group_parts(parts, series)) for words, parts in stacks]
    ticks = choose_ticks(0, max(sum(map(float, parts)) for _, parts in columns), whole=True)
    up, width = _Axis(0, ticks[-1], BOTTOM, TOP), (RIGHT - LEFT) / len(columns)
    has_others = any(parts[-1] for _, parts in columns)
    names = (*series, *(("others",) if has_others else ()))
    sums: Bars = [(words, sum(parts, Decimal(0))) for words, parts in columns]
    most = f" Most went to {series[0]}: {format_value(totals[series[0]])} in all."
    return Chart(
        _describe_bars(sums, name, format_value) + most,
        name,
        _mark_scale(ticks, up),
        _mark_bars([words for words, _ in columns], width),
        ((unit, ""), *((category, "num") for category in names), ("in all", "num")),
        tuple(
            (words, *map(format_value, parts[: len(names)]), format_value(sum(parts, Decimal(0))))
            for words, parts in columns
        ),
        boxes=tuple(box for n, (_, parts) in enumerate(columns) for box in _stack_boxes(n, width, parts, up)),
        legend=tuple((f"k{n}", category) for n, category in enumerate(names, 1)),
    )


def choose_ticks(low: float, high: float, count: int = 4, *, whole: bool = False) -> tuple[float, ...]:
    """Round figures from below the lowest value to above the highest, at most two more than `count`."""
    span = (high - low) or abs(high) or 1.0
    raw = span / count
    power = max(10.0 ** floor(log10(raw)), 1.0 if whole else 0.0)
    step = next(s for s in (power * factor for factor in _STEPS) if s >= raw * 0.999 and not (whole and s % 1))
    first = floor(low / step)
    last = max(first + 1, -floor(-high / step))
    return tuple(round(n * step, 6) for n in range(first, last + 1))


def format_short(value: float) -> str:
    """`60k`, `1.5M`, `0.25`: for scales; the table has the whole figure."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if sign == 'k' else size):g}{sign}"
    return f"{value:,g}"


def thin_points(points: Points) -> Points:
    """Keeps at most four values and one gap of each fortieth of the time: the first, lowest, highest and last."""
    if len(points) <= 2 * _SLICES:
        return points
    first, last = _measure_time(points[0][0]), _measure_time(points[-1][0])
    part = (last - first) / _SLICES or 1.0

    def find_slice(point: tuple[Moment, Value | None]) -> int:
        return min(int((_measure_time(point[0]) - first) / part), _SLICES - 1)

    return [point for _, group in groupby(points, key=find_slice) for point in _keep_extremes(list(group))]


def _keep_extremes(group: Points) -> Points:
    places = [n for n, (_, value) in enumerate(group) if value is not None]
    gap = [n for n, (_, value) in enumerate(group) if value is None][:1]

    def read(n: int) -> float:
        return float(group[n][1] or 0)

    best = {places[0], min(places, key=read), max(places, key=read), places[-1]} if places else set()
    return [group[n] for n in sorted(best.union(gap))]


def _measure_time(moment: Moment) -> float:
    if isinstance(moment, datetime):
        return moment.timestamp()
    return datetime.combine(moment, time(), UTC).timestamp()


def _trace(points: Points, across: _Axis, up: _Axis) -> tuple[str, tuple[tuple[float, float], ...]]:
    """The path in steps, broken at gaps; a dot for a single value between gaps, and for the newest value."""
    path: list[str] = []
    dots: list[tuple[float, float]] = []
    for is_gap, group in groupby(points, key=lambda point: point[1] is None):
        if is_gap:
            continue
        places = [(across.place(_measure_time(at)), up.place(float(value or 0))) for at, value in group]
        path.append(f"M{places[0][0]:g} {places[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in places[1:]))
        if len(places) == 1:
            dots.append(places[0])
        newest = places[-1]
    return "".join(path), tuple(dict.fromkeys((*dots, newest)))


def _box_gaps(points: Points, across: _Axis) -> tuple[Box, ...]:
    """Draws a box from the last value before a gap to the first after it."""
    places = [across.place(_measure_time(at)) for at, _ in points]
    boxes = []
    for is_gap, group in groupby(range(len(points)), key=lambda n: points[n][1] is None):
        if is_gap:
            numbers = list(group)
            start, end = places[max(0, numbers[0] - 1)], places[min(len(points) - 1, numbers[-1] + 1)]
            boxes.append(Box(start, TOP, round(end - start, 1), BOTTOM - TOP, "miss"))
    return tuple(boxes)


def _box_bar(number: int, width: float, value: float | None, up: _Axis) -> Box:
    x = round(LEFT + number * width + width * 0.15, 1)
    if value is None:
        return Box(x, TOP, round(width * 0.7, 1), BOTTOM - TOP, "miss")
    y = up.place(max(0.0, value))
    return Box(x, y, round(width * 0.7, 1), round(BOTTOM - y, 1), "k1")


def _group_parts(parts: Mapping[str, Value], series: Sequence[str]) -> list[Decimal]:
    """The values of each series, then the sum of the other categories; below zero counts as zero."""
    amounts = {category: max(Decimal(0), Decimal(str(value))) for category, value in parts.items()}
    named = [amounts.get(category, Decimal(0)) for category in series]
    return [*named, sum(amounts.values(), Decimal(0)) - sum(named)]


def _stack_boxes(number: int, width: float, parts: Sequence[Decimal], up: _Axis) -> list[Box]:
    boxes, base = [], 0.0
    x, wide = round(LEFT + number * width + width * 0.15, 1), round(width * 0.7, 1)
    for n, part in enumerate(map(float, parts), 1):
        if part > 0:
            y = up.place(base + part)
            boxes.append(Box(x, y, wide, round(up.place(base) - y, 1), f"k{n}"))
            base += part
    return boxes


def _mark_scale(ticks: Sequence[float], up: _Axis) -> tuple[Mark, ...]:
    return tuple(Mark(up.place(tick), format_short(tick)) for tick in ticks)


def _mark_times(across: _Axis) -> tuple[Mark, ...]:
    """Marks both ends, and the points a third and two thirds between; a single day gets one label."""
    pattern = "{:%b %Y}" if across.high - across.low > _LONG_SECONDS else "{0.day} {0:%b}"
    thirds = [across.low + (across.high - across.low) * n / 3 for n in range(4)]
    words = [pattern.format(datetime.fromtimestamp(at, UTC)) for at in thirds]
    anchors = ("start", "middle", "middle", "end")
    marks = [Mark(across.place(thirds[n]), words[n], anchors[n]) for n in range(4) if words[n] not in words[:n]]
    return tuple(marks) if len(marks) > 1 else (Mark((LEFT + RIGHT) / 2, words[0]),)


def _mark_bars(words: Sequence[str], width: float) -> tuple[Mark, ...]:
    """Marks bars at even steps from the newest: six at most, four with long labels."""
    year = _find_year(words)
    marks = [word.removesuffix(year).removeprefix("week of ") for word in words]
    step = -(-len(marks) // (6 if max(map(len, marks)) < 6 else 4))
    numbers = [n for n in range(len(marks)) if (len(marks) - 1 - n) % step == 0]
    places = [Mark(round(LEFT + (n + 0.5) * width, 1), marks[n]) for n in numbers]
    is_cut = places[-1].at + 5 * len(marks[-1]) > WIDTH  # 16 px on a phone
    return (*places[:-1], Mark(WIDTH, marks[-1], "end")) if is_cut else tuple(places)


def _find_year(words: Sequence[str]) -> str:
    """The year that ends all labels, with its space, which then need not be under each bar."""
    ends = {word[-5:] for word in words}
    return ends.pop() if len(ends) == 1 and all(w[-4:].isdecimal() and len(w) > 5 for w in words) else ""


def _list_changes(points: Points, format_value: Format, gap: str) -> tuple[tuple[str, ...], ...]:
    """One row for each value that differs from the one before."""
    groups = groupby(points, key=lambda point: point[1])
    starts = [(next(group)[0], value) for value, group in groups]
    return tuple((format_day(at), gap if value is None else format_value(value)) for at, value in starts)


def _describe_points(points: Points, name: str, format_value: Format, gap: str) -> str:
    values = [(value, at) for at, value in points if value is not None]
    first, last = values[0], values[-1]
    low, high = (choose(values, key=lambda pair: pair[0]) for choose in (min, max))
    missing = len(points) - len(values)
    gaps = f" {missing} of {len(points)} times: {gap}." if missing else ""

    def describe(pair: tuple[Value, Moment]) -> str:
        return f"{format_value(pair[0])} on {format_day(pair[1])}"

    if low[0] == high[0]:
        since = f" to {format_day(last[1])}" if last[1] != first[1] else ""
        return f"{name}: {describe(first)}{since}.{gaps}"
    return f"{name}: {describe(first)}, {describe(last)}; lowest {describe(low)}, highest {describe(high)}.{gaps}"


def _describe_bars(bars: Bars, name: str, format_value: Format) -> str:
    values = [(value, words) for words, value in bars if value is not None]
    missing = len(bars) - len(values)
    gap = f" {missing} of {len(bars)} had no answer." if missing else ""
    last, most = values[-1], max(values, key=lambda pair: pair[0])
    peak = f"; most in {most[1]}: {format_value(most[0])}" if most[1] != last[1] else ""
    return f"{name}: {format_value(last[0])} in {last[1]}{peak}.{gap}"
