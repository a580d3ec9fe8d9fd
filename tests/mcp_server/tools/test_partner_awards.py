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
    assert "avianca-lifemiles" not in by  # it has no fixed prices of partners
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


def test_a_chart_that_does_not_name_the_airline_gives_way_to_a_dated_price_that_does(people: People, use: Use) -> None:
    """Qatar's partner chart has no 25,000 in economy: JetBlue, priced at 25,000, is priced apart from it."""
    qatar, ask = "qatar-airways-privilege-club", {"origin": "JFK", "destination": "LHR"}
    answer = use(people.paula, "get_partner_award_options", operating_airline="B6", **ask)
    assert qatar not in {o["program"] for o in [*answer["options"], *answer["if_flown"]]}
    assert [(e["program"], e["points"]) for e in answer["examples"]] == [(qatar, 25_000)]
    assert "1 dated price is quoted in examples." in answer["message"]
    price = use(people.paula, "get_pricing", program=qatar, partner_airline="B6", **ask)
    assert (price["status"], {e["points"] for e in price["examples"]}) == ("no_data", {25_000, 78_000})
    rates = use(people.paula, "get_program_rates", program=qatar, partner_airline="B6")
    assert rates["status"] == "no_data"
    others = use(people.paula, "get_program_rates", program=qatar, partner_airline="AA", cabin="economy")
    assert 20_750 in {row["standard"] for row in others["chart"]["rows"]}


def test_a_dated_price_that_stands_in_the_chart_leaves_the_chart_in_force(people: People, use: Use) -> None:
    ask = {"origin": "JFK", "destination": "LHR", "operating_airline": "AA", "cabin": "business"}
    answer = use(people.paula, "get_partner_award_options", **ask)
    assert ("jal-mileage-bank", 42_000) in {(o["program"], o["points"]) for o in answer["options"]}
    assert "jal-mileage-bank" not in {e["program"] for e in answer["examples"]}


def test_get_partner_award_options_quotes_what_was_announced_where_no_chart_is_in_force(
    people: People, use: Use
) -> None:
    ask = {"origin": "LHR", "destination": "JFK", "operating_airline": "BA", "cabin": "first"}
    answer = use(people.paula, "get_partner_award_options", **ask)
    announced = [e for e in answer["examples"] if e["program"] == "british-airways-club"]
    assert [(e["points"], e["direction"]) for e in announced] == [(150_000, "round_trip")]
