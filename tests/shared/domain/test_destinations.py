"""Which destinations a balance reaches."""

from shared.domain.destinations import Destination, find_farthest


def place(code: str, city: str, points: int, miles: int, cabin: str = "economy") -> Destination:
    return Destination(code, city, "US", "LHR", cabin, points, None, miles)


PLACES = [
    place("JFK", "New York", 14_300, 3_451),
    place("JFK", "New York", 55_000, 3_451, "business"),
    place("LGA", "New York", 14_400, 3_460),
    place("BOS", "Boston", 14_300, 3_265),
    place("SFO", "San Francisco", 17_875, 5_367),
]


def test_each_city_stands_once_at_its_lowest_price_the_farthest_first() -> None:
    visible, total = find_farthest(PLACES, 60_000, 10)
    assert [(d.airport, d.cabin, d.points) for d in visible] == [
        ("SFO", "economy", 17_875),
        ("JFK", "economy", 14_300),
        ("BOS", "economy", 14_300),
    ]
    assert total == 3


def test_a_balance_covers_its_own_price_and_no_point_more() -> None:
    assert [d.airport for d in find_farthest(PLACES, 14_300, 10)[0]] == ["JFK", "BOS"]
    assert find_farthest(PLACES, 14_299, 10) == ([], 0)


def test_the_list_is_cut_and_the_whole_is_counted() -> None:
    visible, total = find_farthest(PLACES, 60_000, 1)
    assert ([d.airport for d in visible], total) == (["SFO"], 3)
