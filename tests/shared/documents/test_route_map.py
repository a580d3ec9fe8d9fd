"""Maps of routes: what is drawn stays in the picture, the shorter way is taken, and a picture stays light."""

import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.documents.route_map import MAX_LEGS, WIDTH, Place, draw_route_map

SFO = Place("SFO", "San Francisco", 37.62, -122.38)
NRT = Place("NRT", "Tokyo", 35.76, 140.39)
CDG = Place("CDG", "Paris", 49.01, 2.55)
places = st.builds(
    Place,
    name=st.from_regex(r"[A-Z]{3}", fullmatch=True),
    city=st.text(st.characters(exclude_categories=["C"]), max_size=12),
    lat=st.floats(-55, 80),
    lon=st.floats(-180, 180),
)


def follow(path: str) -> list[tuple[int, int]]:
    """The points of a path of relative steps."""
    numbers = [int(text) for text in re.findall(r"-?\d+", path)]
    x, y = numbers[:2]
    points = [(x, y)]
    for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
        x, y = x + dx, y + dy
        points.append((x, y))
    return points


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(places, places), max_size=4))
def test_everything_stays_in_the_picture(legs: list[tuple[Place, Place]]) -> None:
    drawn = draw_route_map(tuple(legs))
    if all(start == end for start, end in legs):
        assert drawn == ""
        return
    svg = ElementTree.fromstring(drawn)
    height = int(svg.attrib["viewBox"].split()[3])
    for circle in svg.iter("circle"):
        assert -1 <= float(circle.attrib["cx"]) <= WIDTH + 1
        assert -1 <= float(circle.attrib["cy"]) <= height + 1
    for path in svg.iter("path"):
        if path.attrib["class"] == "way":
            assert all(-1 <= x <= WIDTH + 1 and -1 <= y <= height + 1 for x, y in follow(path.attrib["d"]))
    assert len(drawn.encode()) < 16_000


def test_the_pacific_is_crossed_and_not_the_rest_of_the_world() -> None:
    svg = ElementTree.fromstring(draw_route_map(((SFO, NRT),)))
    assert len(list(svg.iter("circle"))) == 2
    way = next(path for path in svg.iter("path") if path.attrib["class"] == "way")
    points = follow(way.attrib["d"])
    assert points[0][0] > points[-1][0]  # Tokyo lies west of San Francisco there
    assert min(y for _, y in points) < min(points[0][1], points[-1][1])  # a great circle goes by the north


def test_a_map_says_what_it_shows_and_names_each_airport_once() -> None:
    drawn = draw_route_map(((SFO, CDG), (CDG, SFO)))
    assert "Map of the way from San Francisco to Paris, from Paris to San Francisco" in drawn
    assert drawn.count(">SFO</text>") == drawn.count(">CDG</text>") == 1


def test_the_other_side_of_the_globe_is_reached() -> None:
    antipodes = Place("AAA", "", 0.0, 180.0), Place("BBB", "", 0.001953125, 0.0)
    assert draw_route_map((antipodes,)).count('class="way"') == 1


def test_airports_close_to_each_other_share_a_label_and_none_goes_without() -> None:
    near = [Place(name, "Tokyo", 35.7 + at / 9, 139.9 + at / 3) for at, name in enumerate(("HND", "NRT", "TYO", "IBR"))]
    labels = re.findall(r"<text[^>]*>([^<]+)<", draw_route_map(((SFO, CDG), *((CDG, place) for place in near))))
    assert sorted(name for label in labels for name in label.split(", ")) == sorted(
        ["SFO", "CDG", *(place.name for place in near)]
    )


def test_names_become_text_and_never_markup() -> None:
    drawn = draw_route_map(((Place("<b>", '"><script>', 10, 10), SFO),))
    assert "<b>" not in drawn
    assert "<script" not in drawn
    ElementTree.fromstring(drawn)


def test_a_map_of_many_flights_stays_light() -> None:
    legs = tuple((SFO, CDG) if n % 2 else (NRT, SFO) for n in range(4 * MAX_LEGS))
    assert draw_route_map(legs).count('class="way"') == MAX_LEGS
