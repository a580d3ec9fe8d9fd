"""A map of routes as inline SVG: land and great circles in plate carrée, coloured by the classes of the stylesheet.

The land is Natural Earth 1:110m (public domain), kept as rings of longitudes and latitudes in tenths of a degree.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import acos, atan2, cos, degrees, dist, hypot, radians, sin

Point = tuple[float, float]  # longitude and latitude, or x and y
WIDTH, TALLEST, FLATTEST = 1000, 0.5, 0.3  # the picture, and its height for its width
ROOM = 0.12  # of the window on each side of the airports
SMALLEST_DEGREES = 28.0  # of longitude: a hop between neighbours still shows where in the world it is
NORTH, SOUTH = 90.0, -90.0
TOLERANCE, SMALLEST_AREA = 0.55, 5.0  # pixels; islands below so many square pixels are left out
ARC_STEPS = 24
MAX_LEGS = 24
LETTER, LABEL_GAP, LABEL_HEIGHT = 18, 30, 44  # of names as large as on a phone


@dataclass(frozen=True, slots=True)
class Place:
    """A named point: an airport by its code, or a city."""

    name: str
    city: str
    lat: float
    lon: float


@dataclass(frozen=True, slots=True)
class MapWindow:
    west: float
    south: float
    east: float
    north: float

    @property
    def scale(self) -> float:
        return WIDTH / (self.east - self.west)

    @property
    def height(self) -> int:
        return round((self.north - self.south) * self.scale)

    def project(self, point: Point) -> Point:
        return (point[0] - self.west) * self.scale, (self.north - point[1]) * self.scale


@dataclass(frozen=True, slots=True)
class Spot:
    """A point with the name written for it, and where; no label where a neighbour's names it too."""

    name: str
    x: int
    y: int
    label: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class RouteMap:
    """The parts of the picture in pixels, WIDTH wide; `land` and `ways` are paths as SVG writes them."""

    says: str
    height: int
    land: str
    ways: tuple[str, ...]
    spots: tuple[Spot, ...]


@lru_cache(maxsize=256)
def lay_out_map(legs: tuple[tuple[Place, Place], ...]) -> RouteMap | None:
    """None without a leg. 1 to 11 kB, and the shorter way round for each leg."""
    legs = tuple(leg for leg in legs if leg[0] != leg[1])[:MAX_LEGS]
    ways = _lay_out(legs)
    if not ways:
        return None
    window = _find_window([point for way in ways for point in way])
    lines = [[window.project(point) for point in way] for way in ways]
    spots: dict[str, Point] = {}
    for leg, way in zip(legs, lines, strict=True):
        spots.setdefault(leg[0].name, way[0])
        spots.setdefault(leg[1].name, way[-1])
    paths = tuple(_write_path(way, closed=False) for way in lines)
    named = tuple(_place_names(spots, window.height))
    return RouteMap(describe(legs), window.height, "".join(_draw_land(window)), paths, named)


def draw_route_map(legs: tuple[tuple[Place, Place], ...]) -> str:
    """The picture with its sentence; empty without a leg."""
    route = lay_out_map(legs)
    if route is None:
        return ""
    ways = "".join(f'<path class="way" d="{way}"/>' for way in route.ways)
    spots = "".join(f'<circle class="city" cx="{spot.x}" cy="{spot.y}" r="7"/>' for spot in route.spots)
    names = "".join(
        f'<text x="{spot.label[0]}" y="{spot.label[1]}" text-anchor="middle">{escape(spot.name)}</text>'
        for spot in route.spots
        if spot.label
    )
    return (
        f'<svg class="map" viewBox="0 0 {WIDTH} {route.height}" role="img" aria-label="{escape(route.says)}">'
        f'<path class="land" d="{route.land}"/>{ways}{spots}{names}</svg>'
    )


def describe(legs: Iterable[tuple[Place, Place]]) -> str:
    """`Map of the way from San Francisco to Tokyo, from Osaka to San Francisco`."""
    return "Map of the way " + ", ".join(f"from {start.city} to {end.city}" for start, end in legs)


def _lay_out(legs: Sequence[tuple[Place, Place]]) -> list[list[Point]]:
    """Each leg as points without a jump at the date line, all in the turn of the globe in which the first one is."""
    ways: list[list[Point]] = []
    for start, end in legs:
        points = _draw_great_circle((start.lon, start.lat), (end.lon, end.lat))
        way = points[:1]
        for lon, lat in points[1:]:
            way.append((lon + 360 * round((way[-1][0] - lon) / 360), lat))
        middle = (way[0][0] + way[-1][0]) / 2
        turn = 360 * round(((ways[0][0][0] + ways[0][-1][0]) / 2 - middle) / 360) if ways else 0
        ways.append([(lon + turn, lat) for lon, lat in way])
    return ways


def _draw_great_circle(start: Point, end: Point) -> list[Point]:
    def find_vector(point: Point) -> tuple[float, float, float]:
        lon, lat = radians(point[0]), radians(point[1])
        return cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)

    a, b = find_vector(start), find_vector(end)
    angle = acos(max(-1.0, min(1.0, sum(x * y for x, y in zip(a, b, strict=True)))))
    if sin(angle) < 1e-9:
        return [start, end]
    points = [start]
    for step in range(1, ARC_STEPS):
        of_a, of_b = sin((1 - step / ARC_STEPS) * angle) / sin(angle), sin(step / ARC_STEPS * angle) / sin(angle)
        x, y, z = (of_a * p + of_b * q for p, q in zip(a, b, strict=True))
        points.append((degrees(atan2(y, x)), degrees(atan2(z, hypot(x, y)))))
    return [*points, end]


def _find_window(points: Sequence[Point]) -> MapWindow:
    """What holds all points with some room, neither too flat nor too tall."""
    west, east = min(x for x, _ in points), max(x for x, _ in points)
    south, north = min(y for _, y in points), max(y for _, y in points)
    tall = (north - south) * (1 + 2 * ROOM)
    width = max((east - west) * (1 + 2 * ROOM), tall / TALLEST, SMALLEST_DEGREES)
    height = min(NORTH - SOUTH, max(tall, width * FLATTEST))
    centre = (west + east) / 2
    top = min(NORTH, max((north + south + height) / 2, SOUTH + height))
    return MapWindow(centre - width / 2, top - height, centre + width / 2, top)


@lru_cache(maxsize=1)
def _load_rings() -> tuple[tuple[Point, ...], ...]:
    rings: list[list[int]] = json.loads(files("shared.documents").joinpath("land.json").read_text("utf-8"))
    return tuple(tuple((ring[n] / 10, ring[n + 1] / 10) for n in range(0, len(ring), 2)) for ring in rings)


def _draw_land(window: MapWindow) -> Iterable[str]:
    for ring in _load_rings():
        for turn in (-360, 0, 360):
            inside = _clip_to([(x + turn, y) for x, y in ring], window)
            shape = [window.project(point) for point in inside]
            if len(shape) > 2 and _measure_area(shape) > SMALLEST_AREA:
                path = _simplify([*shape, shape[0]])
                if len(path) > 3:
                    yield _write_path(path[:-1], closed=True)


def _clip_to(ring: Sequence[Point], window: MapWindow) -> Sequence[Point]:
    """Sutherland-Hodgman, a side of the window at a time."""
    for axis, edge, side in ((0, window.west, 1), (0, window.east, -1), (1, window.south, 1), (1, window.north, -1)):
        ring = _clip(ring, axis, edge, side) if ring else ()
    return ring


def _clip(ring: Sequence[Point], axis: int, edge: float, side: int) -> list[Point]:
    corners: list[Point] = []
    for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
        is_inside = side * (a[axis] - edge) >= 0
        if is_inside:
            corners.append(a)
        if is_inside != (side * (b[axis] - edge) >= 0):
            share = (edge - a[axis]) / (b[axis] - a[axis])
            other = a[1 - axis] + (b[1 - axis] - a[1 - axis]) * share
            corners.append((edge, other) if axis == 0 else (other, edge))
    return corners


def _simplify(points: Sequence[Point]) -> list[Point]:
    """Douglas-Peucker without recursion."""
    places, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        (ax, ay), (bx, by) = points[first], points[last]
        length = hypot(bx - ax, by - ay)
        farthest, where = 0.0, 0
        for place in range(first + 1, last):
            x, y = points[place]
            off = abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length if length else hypot(x - ax, y - ay)
            if off > farthest:
                farthest, where = off, place
        if farthest > TOLERANCE:
            places.add(where)
            spans += [(first, where), (where, last)]
    return [points[place] for place in sorted(places)]


def _measure_area(points: Sequence[Point]) -> float:
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, [*points[1:], points[0]], strict=True))) / 2


def _write_path(points: Sequence[Point], *, closed: bool) -> str:
    """Relative steps in whole pixels are a third of the bytes of absolute decimals."""
    whole = [(round(x), round(y)) for x, y in points]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(whole) if a != b]
    body = "".join(f"{x if x < 0 else f' {x}'}{y if y < 0 else f' {y}'}" for x, y in steps)
    return f"M{whole[0][0]} {whole[0][1]}l{body.lstrip()}" + ("z" if closed else "")


def _place_names(spots: dict[str, Point], height: int) -> Iterable[Spot]:
    """Points with names; those too close for a name each share one, as `HND, NRT`."""
    groups = [[name] for name in spots]
    labels: list[tuple[str, tuple[int, int]]] = []
    while len(labels) < len(groups):
        labels = []
        for group in groups:
            text = ", ".join(group)
            free = _find_room(text, spots[group[0]], height, spots.values(), labels)
            if free is None:
                nearest = min(groups[: len(labels)], key=lambda other: dist(spots[other[0]], spots[group[0]]))
                nearest += group
                groups.remove(group)
                labels.clear()
                break
            labels.append((text, free))
    named = {group[0]: label for group, label in zip(groups, labels, strict=True)}
    for name, (x, y) in spots.items():
        text, label = named.get(name, (name, None))
        yield Spot(text, round(x), round(y), label)


def _find_room(
    text: str, point: Point, height: int, points: Iterable[Point], labels: Sequence[tuple[str, Point]]
) -> tuple[int, int] | None:
    """A place above or below the point where no other label is, rather one that hides no point."""
    half = LETTER * len(text) / 2
    across = round(max(half, min(WIDTH - half, point[0])))
    sides = (34, -18) if point[1] < height - 60 else (-18, 34)
    places = [(across, round(point[1] + side)) for side in sides if 20 <= point[1] + side <= height - 6]
    places.sort(
        key=lambda at: sum(abs(x - at[0]) < half + 7 and abs(y - at[1] + LETTER / 2) < LETTER for x, y in points)
    )
    for place in places:
        rooms = [(LETTER * (len(text) + len(other)) / 2 + LABEL_GAP, taken) for other, taken in labels]
        if all(abs(place[0] - x) > room or abs(place[1] - y) > LABEL_HEIGHT for room, (x, y) in rooms):
            return place
    return None
