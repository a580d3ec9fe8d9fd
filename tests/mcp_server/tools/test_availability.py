"""Live award search and the list of airlines, through the gate, over the sandbox and over sources of the tests."""

import re
from datetime import date, timedelta
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import NOTICE, dispatch
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.tools.availability import OTHER_SEARCHES
from shared import clock, provider_health
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.db.trips import SearchRecord
from shared.domain.plans import CABINS
from shared.providers.contract import Unanswered
from shared.reference.load import reference
from shared.services.search.award_options import AwardOption
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_seats import WithSources, failing, live, seat, selling, with_sources
from tests.support.people import People
from tests.support.sandbox_seats import set_seat
from tests.support.settings_and_clock import Configure

__all__ = ["live", "with_sources"]


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def search_arguments() -> dict[str, Any]:
    return {"airline": "BA", "origin": "LHR", "destination": "JFK", "date": travel_day().isoformat()}


OWN = "british-airways-club"


@pytest.fixture(autouse=True, scope="module")
def _facts() -> None:
    reference()


def open_seat(cabin: str = "business", seats: int = 4, value: str = "open", **more: Any) -> None:
    set_seat(f"{value}:{seats}", "LHR", "JFK", travel_day(), cabin, "BA", **more)


def shut(*cabins: str) -> None:
    for cabin in cabins or CABINS:
        set_seat("shut", "LHR", "JFK", travel_day(), cabin)


# what a search gives


@pytest.mark.spec("s4.4.search_availability.result")
def test_search_availability_gives_seats_and_points_per_cabin(people: People, use: Use) -> None:
    shut()
    open_seat("business", 4)
    answer = use(people.alice, "search_availability", **search_arguments())
    assert answer["status"] == "ok"
    own = next(o for o in answer["options"] if o["program"] == OWN)
    marks = {name: own[name] for name in ("source", "synthetic", "live", "generated_at")}
    assert answer["cabins"] == {
        "economy": "no_data",
        "premium_economy": "no_data",
        "business": {
            "program": OWN,
            "seats": 4,
            "points": own["points"],
            "taxes": own["taxes"],
            "taxes_currency": "USD",
        }
        | {"per": "person", "party_points": None, "party_taxes": None}
        | marks,
        "first": "no_data",
    }
    assert answer["states"] == dict.fromkeys(answer["cabins"], "none") | {"business": "available"}
    assert f"Business: {own['points']:,} points of The British Airways Club per person, " in answer["message"]
    assert answer["coverage"] == {"asked": ["sandbox"], "answered": ["sandbox"], "failed": [], "skipped": []}
    assert answer["searches_left_today"] is None
    assert {o["cabin"] for o in answer["options"]} == {"business"}
    assert own["bookable_with"] == [OWN]
    assert set(answer["names"]) == {"BA"} | {o["program"] for o in answer["options"]}
    assert (answer["names"]["BA"], answer["names"][OWN]) == ("British Airways", "The British Airways Club")


def test_search_availability_prices_come_from_the_charts(people: People, use: Use) -> None:
    shut()
    open_seat("business")
    answer = use(people.alice, "search_availability", **search_arguments())
    for option in answer["options"]:
        day = reference().last_chart_day(option["program"]) or clock.today()
        chart = reference().route_price(option["program"], "BA", "LHR", "JFK", day)
        assert chart is not None
        assert option["points"] in chart.cabins["business"].points.values()


@pytest.mark.spec("s4.4.search_availability.carriers")
@pytest.mark.parametrize(("airline", "origin"), [("BA", "LHR"), ("QR", "DOH"), ("CX", "HKG")])
def test_search_availability_takes_the_three_carrier_tags(people: People, use: Use, airline: str, origin: str) -> None:
    answer = use(people.alice, "search_availability", **(search_arguments() | {"airline": airline, "origin": origin}))
    assert answer["status"] == "ok"
    assert all(o["airline"] == airline for o in answer["options"])


@pytest.mark.parametrize("name", ["british-airways", "British Airways", "ba", " BA "])
def test_search_availability_reads_an_airlines_code_slug_or_name(people: People, use: Use, name: str) -> None:
    open_seat()
    answer = use(people.alice, "search_availability", **(search_arguments() | {"airline": name, "origin": "lhr"}))
    assert {o["airline"] for o in answer["options"]} == {"BA"}


def test_search_availability_takes_a_city_code_for_its_airports(people: People, use: Use) -> None:
    answer = use(people.alice, "search_availability", **(search_arguments() | {"origin": "LON"}))
    assert answer["message"].endswith(" LON means LHR, LGW and LCY.")
    assert answer["status"] == "ok"
    assert {o["origin"] for o in answer["options"]} <= {"LHR", "LGW", "LCY"}


def test_search_availability_says_what_was_asked_with_names_resolved(people: People, use: Use) -> None:
    query = search_arguments() | {"airline": "British Airways", "origin": "LON", "passengers": 2}
    assert use(people.alice, "search_availability", **query)["asked"] == {
        "origin": "LON",
        "destination": "JFK",
        "date": travel_day().isoformat(),
        "month": None,
        "flex_days": 0,
        "cabins": ["economy", "premium_economy", "business", "first"],
        "passengers": 2,
        "airline": "BA",
    }


def test_search_availability_says_no_seats_when_there_are_none(people: People, use: Use) -> None:
    shut()
    answer = use(people.alice, "search_availability", **search_arguments())
    assert (answer["status"], answer["options"]) == ("ok", [])
    assert set(answer["cabins"].values()) == {"no_data"}
    assert answer["message"].startswith("No award seats")
    assert OTHER_SEARCHES in answer["message"]
    assert answer["freshness"]["mode"] == "sandbox"


def test_search_availability_agrees_with_the_seat_calendar_on_what_is_not_known(
    people: People, use: Use, with_sources: WithSources
) -> None:
    month = search_arguments() | {"month": travel_day().strftime("%Y-%m")}
    del month["date"]

    def read_both() -> tuple[Any, Any, str]:
        one = use(people.alice, "search_availability", **search_arguments(), cabin="first")
        days = use(people.alice, "search_monthly_availability", **month, cabin="first")["days"]
        state = next(d["state"] for d in days if d["date"] == travel_day().isoformat())
        return one["states"], state, one["message"]

    with_sources(selling("one"))
    states, state, words = read_both()
    assert (states, state) == ({"first": "none"}, "none")
    assert words.startswith("No award seats of British Airways are open")
    with_sources(selling("one"), failing("two", Unanswered("down", "timeout")))
    states, state, words = read_both()
    assert (states, state) == ({"first": "unknown"}, "unknown")
    assert words.startswith("Whether British Airways has award seats")
    assert "No award seats" not in words


def test_search_availability_leaves_out_what_seats_too_few(people: People, use: Use) -> None:
    shut()
    open_seat("business", 2)
    assert use(people.alice, "search_availability", **search_arguments(), passengers=3)["options"] == []


def test_search_availability_marks_a_replayed_answer_with_its_age(people: People, use: Use) -> None:
    first = use(people.alice, "search_availability", **search_arguments())
    second = use(people.alice, "search_availability", **search_arguments())
    assert second["freshness"]["fetched_at"] == first["freshness"]["fetched_at"]
    assert second["freshness"]["cached_until"] is not None
    assert second["freshness"]["age_seconds"] >= 0


def test_search_availability_binds_ids_of_rows_to_the_account(people: People, use: Use) -> None:
    open_seat()
    mine, again, theirs = (
        use(who, "search_availability", **search_arguments())["options"][0]["trip_id"]
        for who in (people.alice, people.alice, people.charlie)
    )
    assert mine == again != theirs
    assert mine.startswith("sbx_")


def test_search_availability_leaves_a_search_record(people: People, use: Use) -> None:
    use(people.alice, "search_availability", **search_arguments())
    with transaction(people.alice.account_id) as session:
        (record,) = session.scalars(select(SearchRecord)).all()
    assert (record.tool, record.outcome, record.synthetic) == ("search_availability", "ok", True)
    assert record.arguments["date"] == travel_day().isoformat()


# plans


@pytest.mark.spec("s8.free_economy_only")
@pytest.mark.parametrize("cabin", ["premium_economy", "business", "first"])
def test_search_availability_of_another_cabin_needs_premium(people: People, use: Use, cabin: str) -> None:
    answer = use(people.bob, "search_availability", **search_arguments(), cabin=cabin)
    assert (answer["status"], answer["required_tier"], answer["current_tier"]) == ("paywall", "premium", "free")
    assert "economy" in answer["free_alternative"]
    assert use(people.bob, "get_usage")["searches"]["used_today"] == 0


def test_search_availability_on_free_answers_economy_and_says_what_is_missing(people: People, use: Use) -> None:
    answer = use(people.bob, "search_availability", **search_arguments())
    assert list(answer["cabins"]) == ["economy"]
    assert {o["cabin"] for o in answer["options"]} <= {"economy"}
    assert "business, first need Premium" in answer["message"]
    asked = use(people.bob, "search_availability", **search_arguments(), cabin="economy")
    assert "Premium" not in asked["message"]


@pytest.mark.spec("s8.free_five_searches")
def test_search_availability_on_free_is_five_a_day(people: People, use: Use) -> None:
    left = [use(people.bob, "search_availability", **search_arguments())["searches_left_today"] for _ in range(5)]
    assert left == [4, 3, 2, 1, 0]
    sixth = use(people.bob, "search_availability", **search_arguments())
    assert (sixth["status"], sixth["limit"]) == ("limit_reached", "searches_per_day")


@pytest.mark.spec("s8.premium_unlimited")
def test_search_availability_on_premium_has_every_cabin(people: People, use: Use) -> None:
    found = [use(people.alice, "search_availability", **search_arguments(), cabin=cabin) for cabin in CABINS]
    assert [list(f["cabins"]) for f in found] == [[c] for c in CABINS]


# what is refused


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"date": lambda: (clock.today() - timedelta(days=1)).isoformat()}, "date"),
        ({"date": "2027-02-30"}, "date"),
        ({"destination": "LHR"}, "destination"),
        ({"origin": "LHRX"}, "origin"),
        ({"passengers": 0}, "passengers"),
        ({"passengers": True}, "passengers"),
        ({"cabin": "suite"}, "cabin"),
    ],
)
def test_search_availability_names_a_bad_argument(people: People, use: Use, change: dict[str, Any], field: str) -> None:
    change = evaluate(change)
    answer = use(people.alice, "search_availability", **(search_arguments() | change))
    assert (answer["status"], [e["field"] for e in answer["errors"]]) == ("invalid", [field])


@pytest.mark.parametrize(
    ("change", "what"),
    [({"airline": "Qantus"}, "airline"), ({"origin": "QQQ"}, "airport"), ({"airline": "??"}, "airline")],
)
def test_search_availability_names_what_it_does_not_know_and_the_nearest(
    people: People, use: Use, change: dict[str, Any], what: str
) -> None:
    answer = use(people.alice, "search_availability", **(search_arguments() | change))
    assert (answer["status"], answer["what"]) == ("not_found", what)
    assert isinstance(answer["nearest"], list)


def test_search_availability_beyond_the_release_window_is_no_data(people: People, use: Use) -> None:
    far = (clock.today() + timedelta(days=400)).isoformat()
    answer = use(people.alice, "search_availability", **(search_arguments() | {"date": far}))
    assert (answer["status"], answer["missing"]) == ("no_data", ["award seats"])
    assert "355 days ahead" in answer["message"]


def test_search_availability_of_a_route_nobody_flies_is_no_data(people: People, use: Use) -> None:
    answer = use(people.alice, "search_availability", **(search_arguments() | {"origin": "SFO", "destination": "NRT"}))
    assert answer["status"] == "no_data"
    assert answer["missing"] == ["BA SFO-NRT"]


# outages


@pytest.mark.spec("s1.5.outage_is_said")
@pytest.mark.parametrize(("fault", "reason"), [("down", "down"), ("quota", "quota_exhausted")])
def test_search_availability_during_an_outage_names_it_and_does_not_count(
    people: People, use: Use, configure: Configure, fault: str, reason: str
) -> None:
    configure(SANDBOX_FAULT=fault)
    answer = use(people.bob, "search_availability", **search_arguments())
    assert answer["status"] == "backend_unavailable"
    assert [(b["name"], b["reason"]) for b in answer["backends"]] == [("sandbox", reason)]
    assert "options" not in answer
    assert use(people.bob, "get_usage")["searches"]["used_today"] == 0


def test_search_availability_of_an_empty_source_is_no_seats_and_not_an_outage(
    people: People, use: Use, configure: Configure
) -> None:
    configure(SANDBOX_FAULT="empty")
    answer = use(people.alice, "search_availability", **search_arguments())
    assert (answer["status"], answer["options"]) == ("ok", [])


def test_search_availability_waits_for_a_slow_source(people: People, use: Use, configure: Configure) -> None:
    configure(SANDBOX_FAULT="slow:0.3s")
    assert use(people.alice, "search_availability", **search_arguments())["status"] == "ok"


def test_search_availability_of_part_of_the_sources_says_who_is_missing(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one", seat(travel_day())), failing("two", Unanswered("down", "timeout")))
    answer = use(people.alice, "search_availability", **search_arguments())
    assert (answer["status"], len(answer["options"])) == ("partial", 1)
    assert answer["coverage"]["failed"] == [{"name": "two", "reason": "down"}]
    assert "two (down)" in answer["message"]


@pytest.mark.parametrize("airline", ["BA", "QR", "CX"])
def test_search_availability_without_a_backend_is_unavailable_and_not_unknown(
    people: People, use: Use, with_sources: WithSources, airline: str
) -> None:
    with_sources()
    answer = use(people.alice, "search_availability", **(search_arguments() | {"airline": airline}))
    assert answer["status"] == "backend_unavailable"
    assert [b["reason"] for b in answer["backends"]] == ["not_configured"]


def test_search_availability_never_answers_a_live_outage_from_the_sandbox(people: People, use: Use, live: None) -> None:
    answer = use(people.alice, "search_availability", **search_arguments())
    assert answer["status"] == "backend_unavailable"
    assert "sandbox" not in repr(answer)


def test_search_availability_names_the_airlines_own_price_before_a_partners(
    people: People, use: Use, with_sources: WithSources
) -> None:
    cheap = seat(travel_day(), program="qatar-airways-privilege-club", points=40_000)
    with_sources(selling("one", cheap, seat(travel_day(), points=80_000)))
    answer = use(people.alice, "search_availability", **search_arguments())
    assert answer["cabins"]["business"]["points"] == 80_000
    assert {o["program"] for o in answer["options"]} == {OWN, "qatar-airways-privilege-club"}


# labels of invented data


def test_search_availability_in_the_sandbox_carries_every_label(people: People, use: Use) -> None:
    open_seat()
    answer = use(people.alice, "search_availability", **search_arguments())
    assert list(answer)[:2] == ["data_mode", "notice"]
    assert (answer["data_mode"], answer["notice"]) == ("sandbox", NOTICE)
    assert (answer["freshness"]["mode"], answer["freshness"]["source"]) == ("sandbox", "sandbox")
    assert answer["options"]
    for row in answer["options"]:
        assert (row["source"], row["mode"], row["synthetic"], row["live"]) == ("sandbox", "sandbox", True, False)
        assert row["generated_at"] is not None
        assert row["provider_checked_at"] is None
        assert row["trip_id"].startswith("sbx_")
        assert all(re.fullmatch(r"[A-Z0-9]{2}-SBX-\d{3}", n) for n in row["flight_numbers"])


def test_search_availability_texts_begin_with_the_notice(people: People) -> None:
    limiter.cache_clear()
    said = anyio.run(dispatch, "search_availability", search_arguments(), people.alice, "mcp")
    assert said.text.splitlines()[0] == NOTICE


def test_search_availability_of_a_live_source_carries_no_sandbox_label(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(selling("one", seat(travel_day())))
    answer = use(people.alice, "search_availability", **search_arguments())
    assert not {"data_mode", "notice"} & set(answer)
    (row,) = answer["options"]
    assert not {"synthetic", "live", "generated_at"} & set(row)
    assert row["mode"] == "live"


def test_an_award_option_needs_every_field() -> None:
    with pytest.raises(TypeError, match="generated_at"):
        AwardOption(trip_id=None)  # type: ignore[call-arg]


def test_search_availability_records_observations_as_invented(people: People, use: Use) -> None:
    open_seat()
    use(people.alice, "search_availability", **search_arguments())
    with transaction() as session:
        rows = session.scalars(select(AwardObservation)).all()
    assert rows
    assert {(r.source, r.synthetic) for r in rows} == {("sandbox", True)}


# the airlines


@pytest.mark.spec("s4.4.list_supported_airlines.result")
@pytest.mark.spec("s4.4.search_availability.carriers")
def test_list_supported_airlines_names_codes_and_searches(people: People, use: Use) -> None:
    answer = use(people.bob, "list_supported_airlines")
    rows = {a["code"]: a for a in answer["airlines"]}
    assert {"BA", "QR", "CX"} <= set(rows)
    assert (rows["BA"]["slug"], rows["BA"]["program"], rows["BA"]["state"]) == ("british-airways", OWN, "live")
    assert "availability" in rows["BA"]["endpoints"]
    assert answer["total"] == answer["live"] == len(rows)
    assert answer["mode"] == "sandbox"
    assert answer["message"].startswith(f"{len(rows)} airlines, among them: ")
    assert ". Their award seats are invented by the sandbox" in answer["message"]


def test_list_supported_airlines_lists_only_what_a_search_would_take(people: People, use: Use) -> None:
    for airline in use(people.bob, "list_supported_airlines")["airlines"]:
        assert reference().airline(airline["code"]).slug == airline["slug"]
        assert reference().airline(airline["slug"]).iata == airline["code"]


def test_list_supported_airlines_filters_by_search(people: People, use: Use) -> None:
    some = use(people.bob, "list_supported_airlines", endpoint="availability")
    assert all("availability" in a["endpoints"] for a in some["airlines"])
    assert use(people.bob, "list_supported_airlines", endpoint="fares")["status"] == "invalid"


def test_list_supported_airlines_remembers_the_last_success(people: People, use: Use) -> None:
    before = use(people.bob, "list_supported_airlines")["airlines"][0]
    use(people.alice, "search_availability", **search_arguments())
    after = use(people.bob, "list_supported_airlines")["airlines"][0]
    assert before["last_success_at"] is None
    assert after["last_success_at"] is not None


def test_list_supported_airlines_tells_degraded_and_down_apart(people: People, use: Use) -> None:
    def state() -> set[str]:
        return {a["state"] for a in use(people.bob, "list_supported_airlines")["airlines"]}

    provider_health.record_failure("sandbox:anyone", "timeout")
    assert state() == {"degraded"}
    for _ in range(4):
        provider_health.record_failure("sandbox:anyone", "timeout")
    assert state() == {"down"}
    assert use(people.bob, "list_supported_airlines", live_only=True)["airlines"] == []


def test_list_supported_airlines_is_down_where_nobody_is_configured(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources()
    answer = use(people.bob, "list_supported_airlines")
    assert {a["state"] for a in answer["airlines"]} == {"down"}
    assert {"BA", "QR", "CX"} <= {a["code"] for a in answer["airlines"]}
    assert "No source of award seats is configured." in answer["message"]
