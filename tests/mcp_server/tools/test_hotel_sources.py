"""Hotel tools against pretended sources over HTTP: answers are merged and failures are named."""

import json
from datetime import date, timedelta
from typing import Any

from shared import clock
from tests.mcp_server.tools.conftest import Use
from tests.shared.providers.fakes import INJECTION, SECRET
from tests.shared.providers.fakes.server import Pretend, fake_world, pretend
from tests.support.people import People

__all__ = ["fake_world", "pretend"]


def check_in_day() -> date:
    return clock.today() + timedelta(days=60)


def stay_arguments() -> dict[str, Any]:
    return {
        "check_in_date": check_in_day().isoformat(),
        "check_out_date": (check_in_day() + timedelta(days=3)).isoformat(),
    }


def hotel_arguments() -> dict[str, Any]:
    return {"hotel_id": "park-hyatt-tokyo"} | stay_arguments()


def test_points_and_rates_of_two_sources_meet_in_one_stay(people: People, use: Use, pretend: Pretend) -> None:
    world = pretend("rooms_aero", "liteapi")
    world.asked.clear()
    answer = use(people.alice, "get_hotel", **hotel_arguments())
    assert answer["status"] == "ok", answer
    assert answer["rates"]["points_total"] == 105_000
    assert answer["rates"]["cash_total"] != "no_data"
    assert {a.provider for a in world.asked} == {"rooms_aero", "liteapi"}
    assert answer["freshness"]["source"] == "liteapi, rooms_aero"
    # A crawl is never called live, and its own age is shown.
    assert (answer["freshness"]["mode"], answer["freshness"]["provider_checked_at"] is not None) == ("cached", True)


def test_a_hotel_source_in_trouble_is_named_and_the_other_still_answers(
    people: People, use: Use, pretend: Pretend
) -> None:
    pretend("rooms_aero", "liteapi", rooms_aero="broken")
    answer = use(people.alice, "search_hotels", destination="Tokyo", per_page=100, **stay_arguments())
    assert (answer["status"], answer["coverage"]["failed"]) == ("partial", [{"name": "rooms_aero", "reason": "down"}])
    (park,) = [h for h in answer["hotels"] if h["hotel_code"] == "htl_park-hyatt-tokyo"]
    assert (park["points_per_night"], park["cents_per_point"]) == ("no_data", "no_data")
    assert park["cash_per_night"] != "no_data"
    pretend(liteapi="quota")
    answer = use(people.alice, "get_hotel", **hotel_arguments())
    assert answer["status"] == "backend_unavailable"
    assert {b["reason"] for b in answer["backends"]} == {"down", "quota_exhausted"}
    assert SECRET not in json.dumps(answer)
    assert INJECTION not in json.dumps(answer)


def test_a_booked_stay_is_checked_at_the_sources(people: People, use: Use, pretend: Pretend) -> None:
    booked = use(people.alice, "add_hotel_booking", **hotel_arguments(), original_points=120_000)["booking"][
        "booking_id"
    ]
    pretend("rooms_aero", "liteapi")
    answer = use(people.alice, "check_hotel_booking_price", booking_id=booked)
    assert (answer["status"], answer["drop"]["points_saved"]) == ("ok", 15_000)
    assert answer["booking"]["monitoring"]["last_error"] is None
    assert (answer["snapshots"][0]["source"], answer["snapshots"][0]["mode"]) == ("liteapi, rooms_aero", "cached")


def test_a_source_that_does_not_list_a_hotel_is_no_trouble_of_its_bookings(
    people: People, use: Use, pretend: Pretend
) -> None:
    given = {"hotel_id": "conrad-tokyo"} | stay_arguments()
    booked = use(people.alice, "add_hotel_booking", **given, original_points=120_000)["booking"]["booking_id"]
    pretend("liteapi")
    answer = use(people.alice, "check_hotel_booking_price", booking_id=booked)
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "not_covered")
    pretend("rooms_aero")
    assert use(people.alice, "check_hotel_booking_price", booking_id=booked)["status"] in ("partial", "no_data")
    shown = use(people.alice, "get_hotel_booking", booking_id=booked)["booking"]["monitoring"]
    assert (shown["active"], shown["last_error"]) == (True, None)
