"""Programmes and award charts, called through the gate."""

import difflib

import pytest

from shared.domain import names
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.list_programs.result")
def test_list_programs_shows_name_currency_hubs_and_destinations(people: People, use: Use) -> None:
    answer = use(people.bob, "list_programs", query="british")
    line = answer["programs"][0]
    assert (line["program"], line["currency_name"]) == ("british-airways-club", "Avios")
    assert "LHR" in line["hubs"]
    assert line["destination_count"] > 100
    served = use(people.bob, "get_airports", airline="BA")["paging"]["total"]
    assert line["destination_count"] == served
    assert (line["has_chart"], line["chart_kind"]) == (False, None)  # its chart ended on 14 December 2025
    assert use(people.bob, "list_programs", query="iberia")["programs"][0]["has_chart"] is True


def test_list_programs_finds_old_names_and_tells_what_is_known_without_data(people: People, use: Use) -> None:
    slugs = [p["program"] for p in use(people.bob, "list_programs", query="HawaiianMiles")["programs"]]
    assert slugs == ["atmos-rewards"]
    told = use(people.bob, "list_programs", query="Club Vistara")
    assert (told["programs"], told["message"]) == ([], "Club Vistara is known here, but has no data.")


def test_list_programs_pages_and_filters(people: People, use: Use) -> None:
    whole = use(people.bob, "list_programs", kind="all", per_page=100)
    assert whole["paging"]["total"] == 90
    second = use(people.bob, "list_programs", kind="all", page=2, per_page=50)
    assert len(second["programs"]) == 40
    assert {p["alliance"] for p in use(people.bob, "list_programs", alliance="skyteam")["programs"]} == {"skyteam"}
    assert {p["kind"] for p in use(people.bob, "list_programs", kind="hotel")["programs"]} == {"hotel"}


@pytest.mark.spec("s4.4.get_pricing.result")
def test_get_pricing_shows_off_peak_and_peak_by_cabin(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="iberia-club", origin="mad", destination="JFK")
    assert answer["program"] == "iberia-club"
    assert answer["cabins"]["business"] == {"lowest": None, "off_peak": 40_500, "standard": None, "peak": None}
    assert answer["chart"] == {"kind": "distance_bands", "zone_or_band": "3001-4000 miles", "distance_miles": 3589}
    assert (answer["route"], answer["if_flown"], answer["dynamic"]) == ("known", None, False)
    assert answer["message"].endswith("Not checked; the oldest source is of 20 Apr 2026.")


def test_get_pricing_keeps_the_charts_notes_out_of_its_message(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="JAL", origin="HND", destination="ITM")
    assert answer["notes"]
    assert not any(note.lower() in answer["message"].lower() for note in answer["notes"])


def test_get_pricing_of_a_partner_uses_the_partner_chart(people: People, use: Use) -> None:
    answer = use(
        people.bob,
        "get_pricing",
        program="virgin-atlantic-flying-club",
        origin="LAX",
        destination="HND",
        cabin="business",
        partner_airline="ANA",
        date="2027-03-01",
    )
    assert answer["cabins"] == {"business": {"lowest": None, "off_peak": None, "standard": 52_500, "peak": None}}
    assert answer["season_on_date"] == "standard"


def test_get_pricing_of_a_dynamic_programme_says_so_and_prices_nothing(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="flying-blue", origin="CDG", destination="JFK", cabin="economy")
    assert answer["dynamic"] is True
    assert answer["cabins"] == {"economy": "no_data"}
    assert "no chart" in answer["message"]


def test_get_pricing_names_the_nearest_airports_and_programmes(people: People, use: Use) -> None:
    ask = {"origin": "LHR", "destination": "JFK"}
    assert len(use(people.bob, "get_pricing", program="brittish", **ask)["nearest"]) >= 1
    unknown = use(people.bob, "get_pricing", program="iberia-club", origin="QQQ", destination="JFK")
    assert (unknown["status"], unknown["what"]) == ("not_found", "airport")


def test_get_pricing_without_a_chart_for_the_carrier_is_no_data(people: People, use: Use) -> None:
    ask = {"program": "BA", "origin": "SIN", "destination": "LHR", "partner_airline": "SQ"}
    assert use(people.bob, "get_pricing", **ask)["status"] == "no_data"


def test_a_programme_without_a_chart_in_force_gives_no_price_but_what_was_announced(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="LHR", destination="JFK")
    assert (answer["status"], answer["missing"]) == ("no_data", ["award price"])
    assert "The last chart that is known ended on 14 Dec 2025." in answer["message"]
    announced = {(e["origin"], e["destination"], e["cabin"]): e["points"] for e in answer["examples"]}
    assert announced["LHR", "GVA", "economy"] == 10_000
    assert announced["LON", "NYC", "first"] == 150_000
    partner = use(people.bob, "get_pricing", program="BA", partner_airline="AA", origin="JFK", destination="LHR")
    assert partner["status"] == "no_data"
    rates = use(people.bob, "get_program_rates", program="BA")
    assert (rates["status"], rates["missing"]) == ("no_data", ["award chart"])
    assert announced.keys() <= {(e["origin"], e["destination"], e["cabin"]) for e in rates["examples"]}


def test_no_avios_price_of_the_programme_whose_chart_ended_is_left(people: People, use: Use) -> None:
    for airline in reference().airlines:
        for start, end in (("LHR", "JFK"), ("SIN", "HKG"), ("MAD", "LHR"), ("DOH", "LHR"), ("SCL", "LIM")):
            price = reference().route_price("british-airways-club", airline, start, end)
            assert price is None or not price.cabins


@pytest.mark.parametrize(
    ("program", "airline", "origin", "destination", "cabin"),
    [
        ("aer-lingus-aerclub", "EI", "SIN", "LHR", "economy"),
        ("american-airlines-aadvantage", "CX", "LHR", "JFK", "first"),
        ("american-airlines-aadvantage", "QF", "CDG", "JFK", "business"),
        ("american-airlines-aadvantage", "AS", "CDG", "JFK", "economy"),
        ("american-airlines-aadvantage", "BA", "SYD", "LAX", "business"),
        ("american-airlines-aadvantage", "JL", "JFK", "LHR", "business"),
    ],
)
def test_get_pricing_sets_the_price_of_a_flight_nobody_knows_apart(
    people: People, use: Use, program: str, airline: str, origin: str, destination: str, cabin: str
) -> None:
    ask = {"program": program, "partner_airline": airline, "origin": origin, "destination": destination}
    answer = use(people.bob, "get_pricing", cabin=cabin, **ask)
    assert (answer["status"], answer["route"], answer["cabins"]) == ("ok", "none_known", {cabin: "no_data"})
    assert answer["if_flown"][cabin] != "no_data"
    name = reference().airlines[airline].name
    assert f"No non-stop flight of {name} from {origin} to {destination} is known: " in answer["message"]


@pytest.mark.parametrize(
    ("program", "airline", "origin", "destination", "route"),
    [
        ("air-canada-aeroplan", "SQ", "FRA", "JFK", "known"),  # between two foreign countries, and flown
        ("air-canada-aeroplan", "SQ", "NRT", "LAX", "known"),
        ("qantas-frequent-flyer", "EK", "MXP", "JFK", "known"),
        ("qantas-frequent-flyer", "EK", "EWR", "ATH", "known"),
        ("american-airlines-aadvantage", "BA", "NAS", "GCM", "known"),  # an end in a dependent territory
        ("american-airlines-aadvantage", "QF", "SYD", "JFK", "none_known"),  # all its flights there are listed
        ("american-airlines-aadvantage", "QF", "SYD", "MNL", "unknown"),
    ],
)
def test_get_pricing_says_whether_the_flight_is_known(
    people: People, use: Use, program: str, airline: str, origin: str, destination: str, route: str
) -> None:
    ask = {"program": program, "partner_airline": airline, "origin": origin, "destination": destination}
    answer = use(people.bob, "get_pricing", **ask)
    assert (answer["status"], answer["route"]) == ("ok", route)
    assert (answer["if_flown"] is None) == (route != "none_known")
    doubt = f"It is not known whether {reference().airlines[airline].name} flies from {origin} to {destination}"
    assert (doubt in answer["message"]) == (route == "unknown")


@pytest.mark.spec("s4.4.get_program_rates.result")
def test_get_program_rates_gives_the_whole_chart(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="cathay", cabin="economy")
    assert answer["chart"]["kind"] == "distance"
    assert sorted(r["standard"] for r in answer["chart"]["rows"]) == [7000, 9000, 13_000, 20_000, 27_000, 38_000]
    assert answer["total"] == 6  # one length has two prices
    assert answer["has_more"] is False


def test_get_program_rates_cuts_long_charts_and_says_so(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="finnair-plus", chart="partner")
    assert answer["has_more"] is True
    assert len(answer["chart"]["rows"]) == 200 < answer["total"]
    one = use(people.bob, "get_program_rates", program="finnair-plus", chart="partner", partner_airline="JL")
    assert 0 < one["total"] < answer["total"]


def test_get_program_rates_of_a_dynamic_programme_quotes_examples(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="united")
    assert answer["chart"]["kind"] == "dynamic"
    assert answer["examples"]
    assert all(e["source_url"] for e in answer["examples"])


@pytest.mark.parametrize("program", ["marriott", "chase"])
def test_get_program_rates_of_what_flies_nothing_speaks_of_no_flights_of_its_own(
    people: People, use: Use, program: str
) -> None:
    answer = use(people.bob, "get_program_rates", program=program)
    assert (answer["status"], "own flights" in answer["message"]) == ("no_data", False)


def test_get_program_rates_of_a_hotel_programme_gives_categories_and_levels(people: People, use: Use) -> None:
    answer = use(people.bob, "get_program_rates", program="hyatt")
    assert answer["chart"]["kind"] == "category"
    assert answer["chart"]["seasons"] == ["lowest", "low", "moderate", "upper", "top"]
    first = answer["chart"]["rows"][0]
    assert first["levels"] == {"lowest": 3000, "low": 4500, "moderate": 6000, "upper": 7500, "top": 9000}
    fourth = answer["chart"]["rows"][3]["levels"]
    assert fourth == {"lowest": 12_000, "low": 15_000, "moderate": 20_000, "upper": 22_500, "top": 25_000}
    assert any("no standard level" in caveat for caveat in answer["caveats"])
    assert (answer["audited_on"], answer["confidence"]) == ("2026-05-20", "high")
    assert answer["message"].endswith("Checked 20 May 2026.")
    assert answer["total"] == 8
    assert answer["unaudited"] is (answer["confidence"] != "high")
    assert use(people.bob, "list_programs", kind="hotel", query="hyatt")["programs"][0]["chart_kind"] == "category"


def test_get_program_rates_of_a_programme_with_fixed_values_gives_them(people: People, use: Use) -> None:
    wyndham = use(people.bob, "get_program_rates", program="wyndham")
    assert (wyndham["status"], wyndham["chart"]["kind"]) == ("ok", "fixed")
    assert [(r["kind"], r["points"], r["unit"]) for r in wyndham["chart"]["rows"]] == [
        ("night", 7_500, "bedroom"),
        ("night", 15_000, "bedroom"),
        ("night", 30_000, "bedroom"),
    ]
    assert "a bedroom costs 7,500, 15,000 or 30,000 points a night, by hotel" in wyndham["message"]
    (line,) = use(people.bob, "list_programs", kind="hotel", query="wyndham")["programs"]
    assert (line["has_chart"], line["chart_kind"]) == (True, "fixed")
    accor = use(people.bob, "get_program_rates", program="accor")
    (row,) = accor["chart"]["rows"]
    assert (row["kind"], row["points"], row["amount"], row["currency"]) == ("bill", 2_000, 40.0, "EUR")
    assert (accor["unaudited"], "2,000 points pay EUR 40.00 of a bill" in accor["message"]) == (False, True)


@pytest.mark.parametrize("program", ["marriott", "hilton", "ihg"])
def test_get_program_rates_of_a_dynamic_hotel_programme_says_so(people: People, use: Use, program: str) -> None:
    answer = use(people.bob, "get_program_rates", program=program)
    assert (answer["status"], "priced dynamically" in answer["message"]) == ("no_data", True)


@pytest.mark.parametrize(("name", "airline"), [("swiss", "LX"), ("KLM", "KL"), ("hawaiian airlines", "HA")])
def test_get_pricing_of_an_airlines_name_prices_that_airline(people: People, use: Use, name: str, airline: str) -> None:
    answer = use(people.bob, "get_pricing", program=name, origin="JFK", destination="LAX")
    assert answer.get("airline", airline) == airline
    assert airline in answer["message"]


def test_get_pricing_refuses_a_route_that_goes_nowhere(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="LON", destination="LHR")
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "destination")


def test_get_pricing_never_prices_a_rejected_cell_by_distance(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="JAL", origin="HND", destination="TPE", cabin="first")
    assert answer["cabins"] == {"first": "no_data"}
    home = use(people.bob, "get_pricing", program="JAL", origin="HND", destination="ITM", cabin="first")
    assert home["cabins"] == {"first": "no_data"}  # JAL lists pairs of cities, of which only two cabins are known


@pytest.mark.parametrize(
    ("program", "airline", "origin", "destination", "cabin", "points"),
    [
        ("turkish-miles-and-smiles", "LH", "FRA", "MUC", "business", 22_500),
        ("american-airlines-aadvantage", "BA", "LHR", "EDI", "economy", 10_000),
        ("american-airlines-aadvantage", "JL", "LAX", "TYO", "first", 80_000),
        ("air-canada-aeroplan", "LH", "YYZ", "FRA", "business", 60_000),
        ("cathay-asia-miles", "CX", "HKG", "LON", "first", 125_000),
        ("atmos-rewards", "JL", "SEA", "NRT", "business", 60_000),
        ("virgin-atlantic-flying-club", "DL", "NYC", "LHR", "economy", 10_000),
        ("virgin-atlantic-flying-club", "AF", "CDG", "JFK", "business", 48_500),
        ("jal-mileage-bank", "AA", "JFK", "LHR", "business", 42_000),
    ],
)
def test_get_pricing_holds_against_prices_read_by_hand_in_either_direction(
    people: People, use: Use, program: str, airline: str, origin: str, destination: str, cabin: str, points: int
) -> None:
    for start, end in ((origin, destination), (destination, origin)):
        ask = {"program": program, "partner_airline": airline, "origin": start, "destination": end}
        assert use(people.bob, "get_pricing", cabin=cabin, **ask)["cabins"][cabin]["standard"] == points


def test_get_pricing_leaves_out_a_cabin_the_exception_does_not_price(people: People, use: Use) -> None:
    ask = {"program": "american-airlines-aadvantage", "partner_airline": "BA", "origin": "LHR", "destination": "EDI"}
    assert use(people.bob, "get_pricing", cabin="premium_economy", **ask)["cabins"] == {"premium_economy": "no_data"}


def test_get_pricing_quotes_the_examples_of_the_airline_it_prices(people: People, use: Use) -> None:
    own = use(people.bob, "get_pricing", program="flying-blue", origin="CDG", destination="JFK")
    assert [e["points"] for e in own["examples"]] == [25_000, 60_000]
    partner = use(people.bob, "get_pricing", program="united", partner_airline="LH", origin="EWR", destination="FRA")
    assert [(e["airline"], e["points"]) for e in partner["examples"]] == [("*", 88_000)]


def test_get_pricing_refuses_a_day_that_has_passed(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="LHR", destination="JFK", date="2020-01-01")
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "date")


def test_pricing_and_rates_say_what_was_asked_about(people: People, use: Use) -> None:
    first = use(people.bob, "get_pricing", program="iberia-club", origin="MAD", destination="JFK", cabin="first")
    assert first["cabins"] == {"first": "no_data"}
    assert "No price of first is known." in first["message"]
    american = use(people.bob, "get_program_rates", program="british-airways-club", partner_airline="AA")
    assert "American Airlines flights" in american["message"]
    none = use(people.bob, "get_program_rates", program="turkish-miles-and-smiles", cabin="first")
    assert (none["status"], none["missing"]) == ("no_data", ["award chart"])


def test_dated_examples_are_cited_though_there_is_no_price(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="LHR", destination="JFK")
    assert answer["status"] == "no_data"
    assert {example["unaudited"] for example in answer["examples"]} == {True, False}
    assert "not checked" in answer["message"].partition("Checked ")[2]


def test_get_pricing_of_one_cabin_names_that_cabin_alone(people: People, use: Use) -> None:
    asked = {"program": "air-canada-aeroplan", "origin": "JFK", "destination": "FRA", "partner_airline": "LH"}
    message = use(people.bob, "get_pricing", **asked, cabin="business")["message"]
    assert message.startswith("Business 60,000, one way per person, for Lufthansa (LH) flights from JFK to FRA by the")


def test_a_name_that_is_known_is_compared_with_no_other(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(difflib, "get_close_matches", lambda text, *_: compared.append(text) or [])
    for slug in ("cathay-asia-miles", "iberia-club", "Iberia", "CX"):
        use(people.bob, "get_pricing", program=slug, origin="HKG", destination="LHR")
        use(people.bob, "get_program_rates", program=slug)
    assert compared == []
    use(people.bob, "get_program_rates", program="Ibeira Clob")
    assert compared


def test_a_slug_is_looked_for_in_no_name(people: People, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search through the names of all airlines took a twentieth of the call."""
    sought: list[str] = []
    monkeypatch.setattr(names, "find_meanings", lambda text, *_: sought.append(text) or ())
    for tool, more in (("get_pricing", {"origin": "MAD", "destination": "JFK"}), ("get_program_rates", {})):
        assert use(people.bob, tool, program="iberia-club", **more)["program"] == "iberia-club"
    assert sought == []
    use(people.bob, "get_program_rates", program="Iberia Club")
    assert sought
