"""Award charts as rules over plain data: zones by rank, both directions, seasons, precedence."""

from datetime import date

from shared.domain.airports import Airport, Zone, find_zone
from shared.domain.award_charts import (
    ANY_DOMESTIC,
    CabinPrice,
    Chart,
    ChartRoute,
    DistanceBand,
    find_cabin_price,
    find_route_price,
    group_charts,
    is_refuted,
    merge_prices,
)
from shared.domain.plans import CABINS

NONE: frozenset[str] = frozenset()
TODAY = date(2026, 11, 21)


def place(code: str, country: str, region: str | None = None, continent: str = "NA") -> Airport:
    return Airport(code, code, code, country, 0.0, 0.0, "UTC", region, continent)


def zone(name: str, **kinds: set[str]) -> Zone:
    names = ("airports", "not_airports", "regions", "not_regions", "countries", "not_countries", "continents")
    return Zone(name, *(frozenset(kinds.get(n, ())) for n in names))


def chart(**more: object) -> Chart:
    plain: dict[str, object] = {
        "chart_id": "c",
        "program": "p",
        "scope": "own",
        "carriers": frozenset({"AA"}),
        "kind": "distance_bands",
        "level": "standard",
        "overrides": False,
        "zone_system": None,
        "from_zones": NONE,
        "to_zones": NONE,
        "threshold_miles": None,
        "valid_from": None,
        "valid_to": None,
        "bands": {"economy": (DistanceBand(0, 650, "standard", 6000), DistanceBand(651, None, "standard", 9000))},
        "zones": {},
        "source_url": "https://example.test",
        "second_source_url": None,
        "as_of": "2026-01-01",
        "audited_on": None,
        "confidence": "high",
        "remark": None,
    }
    return Chart(**(plain | more))  # type: ignore[arg-type]


def trip(
    miles: int, start: str | None = None, end: str | None = None, countries: tuple[str, str] = ("US", "US")
) -> ChartRoute:
    return ChartRoute(miles, countries, (start, end))


def test_the_more_specific_zone_wins_and_a_tie_is_no_zone() -> None:
    zones = [zone("world", continents={"NA"}), zone("usa", countries={"US"}), zone("hawaii", regions={"US-HI"})]
    assert find_zone(place("HNL", "US", "US-HI"), zones) == "hawaii"
    assert find_zone(place("JFK", "US", "US-NY"), zones) == "usa"
    assert find_zone(place("YYZ", "CA"), zones) == "world"
    assert find_zone(place("AUA", "AW"), [zone("x", countries={"AW"}), zone("y", countries={"AW"})]) is None
    assert find_zone(place("CDG", "FR", continent="EU"), zones) is None


def test_excluded_places_are_not_in_the_zone() -> None:
    asia = zone("asia", continents={"AS"}, not_countries={"TR"})
    assert find_zone(place("ESB", "TR", continent="AS"), [asia]) is None


def test_band_edges_belong_to_the_band() -> None:
    for miles, points in ((650, 6000), (651, 9000), (20_000, 9000)):
        result = find_cabin_price(chart(), trip(miles), "economy")
        assert result is not None
        assert result.points == {"standard": points}


def test_zone_pairs_are_looked_up_both_ways() -> None:
    zones = {"business": {("JP", "US"): {"standard": 60_000}}}
    result = chart(kind="zones", zones=zones, bands={})
    assert find_cabin_price(result, trip(5000, "US", "JP"), "business") == CabinPrice({"standard": 60_000}, "US - JP")
    assert find_cabin_price(result, trip(5000, "US", None), "business") is None


def test_a_chart_for_some_routes_is_silent_elsewhere() -> None:
    result = chart(from_zones=frozenset({"NA"}), to_zones=frozenset({"SA"}))
    assert find_cabin_price(result, trip(500, "SA", "NA"), "economy") is not None
    assert find_cabin_price(result, trip(500, "NA", "EU"), "economy") is None


def test_short_by_distance_else_by_zone() -> None:
    result = chart(
        kind="distance_then_zones", threshold_miles=1750, zones={"economy": {("EU", "NA"): {"standard": 12_000}}}
    )
    near, far = (
        find_cabin_price(result, trip(1749), "economy"),
        find_cabin_price(result, trip(1750, "NA", "EU"), "economy"),
    )
    assert near is not None
    assert near.points == {"standard": 9000}
    assert far is not None
    assert far.points == {"standard": 12_000}


def test_a_domestic_price_goes_by_country() -> None:
    result = chart(kind="domestic_fixed", zones={"economy": {("JP", "JP"): {"standard": 7500}}}, bands={})
    assert find_cabin_price(result, trip(500, countries=("JP", "JP")), "economy") is not None
    assert find_cabin_price(result, trip(500, countries=("JP", "KR")), "economy") is None


def test_a_price_for_any_country_holds_inside_each_and_across_none() -> None:
    result = chart(kind="domestic_fixed", zones={"economy": {ANY_DOMESTIC: {"standard": 15_000}}}, bands={})
    within = find_cabin_price(result, trip(200, countries=("DE", "DE")), "economy")
    assert within is not None
    assert within.points == {"standard": 15_000}
    assert find_cabin_price(result, trip(200, countries=("DE", "AT")), "economy") is None


def test_an_exception_prices_its_route_alone_and_says_which_chart_it_is() -> None:
    dear, dearer = DistanceBand(0, None, "standard", 9000), DistanceBand(0, None, "standard", 17_500)
    general = chart(bands={"economy": (dear,), "premium_economy": (dearer,)})
    special = chart(
        chart_id="s", overrides=True, kind="domestic_fixed", zones={"economy": {("GB", "GB"): {"standard": 5000}}}
    )
    at_home = find_route_price([[special], [general]], {None: trip(300, countries=("GB", "GB"))}, CABINS)
    assert at_home is not None
    assert {c: p.points for c, p in at_home.cabins.items()} == {"economy": {"standard": 5000}}
    assert at_home.chart_of("economy").chart_id == "s"
    abroad = find_route_price([[special], [general]], {None: trip(300, countries=("GB", "FR"))}, CABINS)
    assert abroad is not None
    assert set(abroad.cabins) == {"economy", "premium_economy"}
    assert abroad.chart_of("economy") is general


def test_seasons_of_several_charts_add_up_and_contradictions_are_left_out() -> None:
    both = merge_prices([CabinPrice({"off_peak": 1, "standard": 5}, "x"), CabinPrice({"peak": 2, "standard": 6}, "x")])
    assert both == CabinPrice({"off_peak": 1, "peak": 2}, "x")
    assert merge_prices([]) is None


def test_named_charts_come_before_the_chart_for_all_others() -> None:
    named, others = (
        chart(chart_id="n", scope="named_partners"),
        chart(chart_id="o", scope="all_other_partners", carriers=NONE),
    )
    assert [[c.chart_id for c in g] for g in group_charts([others, named], "AA", True, TODAY)] == [["n"]]
    assert [[c.chart_id for c in g] for g in group_charts([others, named], "BB", True, TODAY)] == [["o"]]
    assert group_charts([others, named], "BB", False, TODAY) == []


def test_exceptions_come_first_and_ended_charts_not_at_all() -> None:
    special = chart(chart_id="s", overrides=True)
    old = chart(chart_id="old", valid_to=date(2025, 12, 14))
    assert [[c.chart_id for c in g] for g in group_charts([chart(), special, old], "AA", False, TODAY)] == [
        ["s"],
        ["c"],
    ]


def test_a_dated_price_refutes_only_a_chart_that_names_no_airline_and_lacks_it() -> None:
    general = chart(scope="all_other_partners", carriers=NONE)
    assert is_refuted(general, [("economy", 7_000)])
    assert not is_refuted(general, [("economy", 9_000)])
    assert is_refuted(general, [("business", 9_000)])  # it has no business at all
    assert not is_refuted(general, [])
    assert not is_refuted(chart(), [("economy", 7_000)])
    zones = {"economy": {("a", "b"): {"standard": 7_000}}}
    assert not is_refuted(chart(scope="all_other_partners", bands={}, zones=zones), [("economy", 7_000)])
