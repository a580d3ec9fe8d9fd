"""Partner awards, called through the gate."""

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

LONG_WAY = {"origin": "LAX", "destination": "HND", "cabin": "business"}


def test_get_partner_award_options_lists_chart_prices_cheapest_first(people: People, use: Use) -> None:
    answer = use(people.paula, "get_partner_award_options", operating_airline="ANA", passengers=2, **LONG_WAY)
    points = [o["points"] for o in answer["options"]]
    assert points == sorted(points)
    assert answer["total_found"] == len(points) > 3
    virgin = next(o for o in answer["options"] if o["program"] == "virgin-atlantic-flying-club")
    assert (virgin["points"], virgin["points_total"], virgin["season"]) == (52_500, 105_000, "standard")
    assert (virgin["chart"]["chart_id"], virgin["chart"]["flights"]) == ("vs_nh", "partner")
    assert virgin["operating_airlines"] == ["NH"]
    assert (virgin["reachable"], virgin["via"], virgin["taxes_estimate"]) == ("no", None, None)
    assert "united-mileageplus" in answer["dynamic_programs"]


def test_get_partner_award_options_shows_free_accounts_the_top_three(people: People, use: Use) -> None:
    answer = use(people.bob, "get_partner_award_options", operating_airline="ANA", **LONG_WAY)
    assert len(answer["options"]) == 3 < answer["total_found"]


def test_get_partner_award_options_tells_what_is_in_reach(people: People, use: Use) -> None:
    use(people.paula, "update_points_balance", program="virgin-atlantic-flying-club", balance=52_500)
    use(people.paula, "update_points_balance", program="amex-membership-rewards", balance=100_000)
    answer = use(people.paula, "get_partner_award_options", operating_airline="ANA", **LONG_WAY)
    by = {o["program"]: (o["reachable"], o["via"]) for o in answer["options"]}
    assert by["virgin-atlantic-flying-club"] == ("balance", None)
    assert by["avianca-lifemiles"] == ("transfer", "amex-membership-rewards")
    two = use(people.paula, "get_partner_award_options", operating_airline="ANA", passengers=2, **LONG_WAY)
    reach = {o["program"]: o["reachable"] for o in two["options"]}
    assert reach["virgin-atlantic-flying-club"] != "balance"


def test_get_partner_award_options_finds_who_flies_the_route(people: People, use: Use) -> None:
    answer = use(people.paula, "get_partner_award_options", origin="LON", destination="NYC", cabin="business")
    assert {"BA", "VS", "UA"} <= set(answer["flown_by"])
    assert "british-airways-club" not in {o["program"] for o in answer["options"]}  # its chart has ended
    avios = next(o for o in answer["options"] if o["program"] == "iberia-club" and "BA" in o["operating_airlines"])
    assert (avios["route"], avios["peak_points"] is None or avios["peak_points"] > avios["points"]) == ("known", True)
    assert answer["if_flown"] == []
    back = use(people.paula, "get_partner_award_options", origin="NYC", destination="LON", cabin="business")
    assert [o["points"] for o in back["options"]] == [o["points"] for o in answer["options"]]


def test_get_partner_award_options_says_when_it_is_not_known_who_flies(people: People, use: Use) -> None:
    answer = use(people.paula, "get_partner_award_options", origin="FRA", destination="LPB", cabin="business")
    assert answer["flown_by"] == []
    assert "It is not known whether Lufthansa flies from FRA to LPB without a stop." in answer["message"]
    assert any("LH" in o["operating_airlines"] and o["route"] == "unknown" for o in answer["options"])


def test_get_partner_award_options_sets_flights_nobody_knows_apart(people: People, use: Use) -> None:
    ask = {"origin": "SIN", "destination": "LHR", "operating_airline": "EI"}
    answer = use(people.paula, "get_partner_award_options", **ask)
    assert (answer["status"], answer["options"], answer["total_found"]) == ("ok", [], 0)
    assert answer["if_flown"]
    assert {o["route"] for o in answer["if_flown"]} == {"none_known"}
    assert "No non-stop flight of Aer Lingus from SIN to LHR is known: neither end is in its home" in answer["message"]
    flown = use(people.paula, "get_partner_award_options", origin="FRA", destination="JFK", operating_airline="SQ")
    assert (flown["if_flown"], {o["route"] for o in flown["options"]}) == ([], {"known"})


def test_get_partner_award_options_refuses_what_cannot_be(people: People, use: Use) -> None:
    same = use(people.bob, "get_partner_award_options", origin="LON", destination="LHR")
    assert (same["status"], same["errors"][0]["field"]) == ("invalid", "destination")
    strange = use(people.bob, "get_partner_award_options", origin="QQQ", destination="LHR")
    assert (strange["status"], len(strange["nearest"])) == ("not_found", 3)
    nobody = use(people.bob, "get_partner_award_options", origin="LIM", destination="CUZ", operating_airline="G3")
    assert "is known: neither end is in its home country" in nobody["message"]
    none = use(
        people.bob, "get_partner_award_options", origin="LIM", destination="CUZ", operating_airline="HX", cabin="first"
    )
    assert (none["status"], none["missing"]) == ("no_data", ["award price"])
