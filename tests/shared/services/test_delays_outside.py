"""From watched airports to the sources' sockets and back: reports, or that nothing is known."""

import anyio
import pytest

from shared.providers.ask import Ask
from shared.providers.contract import AirportDelay
from shared.services.watches.delay_alerts import Report, find_coverage, query_sources
from tests.shared.providers.fakes.server import Pretend, World, fake_world, pretend

__all__ = ["fake_world", "pretend"]


def asked(world: World) -> list[tuple[str, str]]:
    return [(a.provider, a.path) for a in world.asked]


def told(report: Report) -> list[tuple[str, int | None, int | None]]:
    rows: tuple[AirportDelay, ...] = report.delays
    return [(row.kind, row.minutes, row.shown_minutes) for row in rows]


def test_one_document_serves_every_us_airport_of_a_round(pretend: Pretend) -> None:
    world = pretend("faa_nas")
    reports = anyio.run(query_sources, ["SFO", "BOS", "DCA", "SEA", "LAX"])
    assert asked(world) == [("faa_nas", "/airport-status-information")]
    assert {airport: told(report) for airport, report in reports.items()} == {
        "SFO": [("ground_delay", 88, 88)],
        "BOS": [("departure", 30, 30), ("arrival", 45, 45)],
        "DCA": [("ground_stop", None, None)],
        "SEA": [],
        "LAX": [],  # its closure is for private flights
    }


def test_elsewhere_the_second_source_is_asked_and_its_seconds_are_not_shown(pretend: Pretend) -> None:
    world = pretend("faa_nas", "flightaware")
    reports = anyio.run(query_sources, ["LHR"])
    assert asked(world) == [("flightaware", "/airports/EGLL/delays")]
    assert (reports["LHR"].source, told(reports["LHR"])) == (
        "flightaware",
        [("departure", 45, None), ("arrival", 19, None)],
    )


@pytest.mark.parametrize("kind", ["broken", "html", "truncated", "forbidden", "quota", "redirect"])
def test_a_source_in_trouble_is_never_a_quiet_airport(pretend: Pretend, kind: str) -> None:
    pretend("faa_nas", faa_nas=kind)
    assert anyio.run(query_sources, ["SEA"]) == {}


@pytest.mark.parametrize(
    ("airport", "kind", "found"),
    [("SEA", "good", "covered"), ("SEA", "broken", "silent"), ("LHR", "good", "not_covered")],
)
def test_who_can_tell_of_an_airport_is_known_before_it_is_watched(
    pretend: Pretend, airport: str, kind: str, found: str
) -> None:
    pretend("faa_nas", faa_nas=kind)
    assert anyio.run(find_coverage, Ask(), airport) == found
