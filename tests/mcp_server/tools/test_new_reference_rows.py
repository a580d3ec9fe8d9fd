"""A new airline, hotel programme or source needs only rows and a folder; the tools show it."""

import csv
import shutil
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import shared.providers
from mcp_server.toolkit.registry import TOOLS, build_arguments
from shared import clock
from shared.providers import registry
from shared.reference import load
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_seats import live
from tests.support.people import People

__all__ = ["live"]

FOLDERS = str(Path(__file__).parents[2] / "shared" / "providers" / "new_providers")
TOLD = {"source_url": "https://meridian.example/", "as_of": "2026-11-20", "confidence": "medium"}
ROWS: dict[str, dict[str, str]] = {
    "airlines.csv": {
        "iata": "9M",
        "icao": "MRD",
        "slug": "meridian-air",
        "name": "Meridian Air",
        "program": "",
        "in_alert_list": "false",
    },
    "airline_facts.csv": {"airline": "MRD", "topic": "hub", "value": "LHR"},
    "programs.csv": {
        "slug": "meridian-circle",
        "name": "Meridian Circle",
        "currency": "Meridian points",
        "kind": "hotel",
        "home_country": "GB",
        "home_currency": "GBP",
        "expiry_as_of": "2026-11-20",
        "pooling": "unknown",
    },
    "hotel_programmes.csv": {
        "program": "meridian-circle",
        "name": "Meridian Circle",
        "award_pricing": "dynamic",
    },
    "hotels.csv": {
        "slug": "meridian-mayfair",
        "name": "Meridian Mayfair",
        "brand": "Meridian",
        "program": "meridian-circle",
        "city": "London",
        "country": "GB",
        "lat": "51.51",
        "lon": "-0.15",
        "status": "open",
    },
}


def _schemas() -> dict[str, Any]:
    """What a program that starts now would show of each tool."""
    return {name: build_arguments(tool.function, condenses=tool.condenses).schema for name, tool in TOOLS.items()}


@pytest.fixture
def new_rows(live: None, tmp_path: Path) -> Iterator[None]:
    """The shipped data with one row more in each file, in their order, and one folder more next to the sources."""
    folder = Path(shutil.copytree(load.FOLDER, tmp_path / "data"))
    for name, more in ROWS.items():
        with (folder / name).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
            fields = list(lines[0])
        row = dict.fromkeys(fields, "") | {k: v for k, v in (TOLD | more).items() if k in fields}
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted([*lines, row], key=lambda line: line[fields[0]]))
    before = load.reference()
    load.replace(load.load(folder).reference)
    shared.providers.__path__.append(FOLDERS)
    registry.providers.cache_clear()
    yield
    load.replace(before)
    shared.providers.__path__.remove(FOLDERS)
    registry.providers.cache_clear()
    for name in [n for n in sys.modules if n.startswith("shared.providers.meridian")]:
        del sys.modules[name]


@pytest.mark.spec("s1.6.new_carriers_without_upgrade")
def test_no_tool_has_another_schema_for_them(new_rows: None) -> None:
    assert _schemas() == {name: tool.arguments.schema for name, tool in TOOLS.items()}


@pytest.mark.spec("s1.6.new_carriers_without_upgrade")
def test_a_new_airline_is_listed_with_the_new_source(new_rows: None, people: People, use: Use) -> None:
    answer = use(people.alice, "list_supported_airlines")
    (airline,) = [a for a in answer["airlines"] if a["code"] == "9M"]
    assert (airline["slug"], airline["name"], airline["state"]) == ("meridian-air", "Meridian Air", "live")
    assert "meridian" in answer["message"]


@pytest.mark.spec("s1.6.new_carriers_without_upgrade")
def test_a_new_hotel_programme_is_listed(new_rows: None, people: People, use: Use) -> None:
    answer = use(people.alice, "list_programs", kind="hotel", query="meridian")
    assert [(p["program"], p["currency_name"]) for p in answer["programs"]] == [("meridian-circle", "Meridian points")]


@pytest.mark.spec("s1.6.new_carriers_without_upgrade")
def test_a_new_airlines_seats_are_found_among_all(new_rows: None, people: People, use: Use) -> None:
    day = clock.today() + timedelta(days=60)
    answer = use(people.alice, "search_all_airlines", origin="LHR", destination="JFK", date=day.isoformat())
    assert [(o["airline"], o["points"], o["source"]) for o in answer["options"]] == [("9M", 15_000, "meridian")]
    assert {"airline": "9M", "outcome": "available", "cheapest": 15_000} in answer["by_airline"]
    assert {"meridian", "9M"} <= set(answer["coverage"]["answered"])


@pytest.mark.spec("s1.6.new_carriers_without_upgrade")
def test_a_new_programmes_hotel_is_found_with_the_new_sources_price(new_rows: None, people: People, use: Use) -> None:
    day = clock.today() + timedelta(days=60)
    stay = {"check_in_date": day.isoformat(), "check_out_date": (day + timedelta(days=2)).isoformat()}
    answer = use(people.alice, "search_hotels", destination="London", chains=["Meridian Circle"], **stay)
    (hotel,) = answer["hotels"]
    assert (hotel["hotel_code"], hotel["chain"], hotel["points_per_night"], hotel["cash_per_night"]) == (
        "htl_meridian-mayfair",
        "meridian-circle",
        12_000,
        200,
    )
    assert "meridian" in answer["coverage"]["answered"]
