"""The sweep of home airports: the best routes of each first, both ways, as far as a live source has calls."""

from datetime import timedelta
from typing import Any

import pytest

from jobs.handlers import route_sweeps as handler
from shared import clock
from shared.db.base import transaction
from shared.db.profile import Profile
from shared.db.runs import Claim
from shared.db.swept_routes import Route, list_swept, note_swept
from shared.providers.contract import Reading, SeatsQuestion
from shared.providers.request import PUT_OFF
from shared.reference.load import reference
from shared.services.search import route_sweeps
from shared.settings import settings
from tests.support.fake_seats import live
from tests.support.people import account

__all__ = ["live"]

CLAIM = Claim(1, "route_sweep", 0, 1)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, clean: None) -> list[SeatsQuestion]:
    """The questions of a sweep, each answered by one source until three were."""
    questions: list[SeatsQuestion] = []

    async def answer(_ask: Any, _verb: str, some: list[SeatsQuestion]) -> list[Reading[Any]]:
        questions.extend(some)
        return [_read(len(questions) - len(some) + at < 3) for at in range(len(some))]

    monkeypatch.setattr(handler.Ask, "all", answer)
    monkeypatch.setattr(route_sweeps, "TOGETHER", 2)
    return questions


def _read(is_answered: bool) -> Reading[Any]:
    if is_answered:
        return Reading("one", "ok", (), None, "live", clock.now())
    return Reading("one", "quota_exhausted", None, PUT_OFF, "live", clock.now())


def live_at(email: str, airport: str) -> None:
    who = account(email)
    with transaction(who.account_id) as session:
        session.add(Profile(home_airport=airport))


def sweep() -> None:
    finish = handler.check(CLAIM)
    with transaction() as session:
        finish(session)


def list_done(*origins: str) -> frozenset[Route]:
    with transaction() as session:
        last = clock.today() + timedelta(days=route_sweeps.DAYS_AHEAD)
        return list_swept(session, origins, clock.now() - timedelta(hours=1), clock.today(), last)


def test_a_sweep_looks_at_the_best_routes_of_homes_until_the_source_keeps_its_calls(
    live: None, asked: list[SeatsQuestion]
) -> None:
    for email, airport in (("a@example.test", "LHR"), ("b@example.test", "LHR"), ("c@example.test", "SEA")):
        live_at(email, airport)
    sweep()
    (best,) = route_sweeps.choose_routes(reference(), ("LHR",), 1)
    routes = [(question.origin, question.destination) for question in asked]
    assert routes[:2] == [best, best[::-1]]
    assert routes[2][0] == "SEA"
    assert len(routes) == 4, "after the portion in which it was put off nothing is asked"
    assert all(question.airlines for question in asked)
    assert list_done("LHR", "SEA", best[1]) == set(routes[:3])
    sweep()
    assert (asked[4].origin, asked[4].destination) == routes[3], "what was answered today is not asked again"


def test_a_sweep_asks_nothing_without_homes_or_in_the_sandbox(asked: list[SeatsQuestion]) -> None:
    assert settings().data_mode == "sandbox"
    live_at("a@example.test", "LHR")
    sweep()
    assert asked == []


def test_days_next_to_a_sweep_are_added_to_it_and_others_take_its_place(clean: None) -> None:
    today, now = clock.today(), clock.now()

    def note(first: int, last: int) -> None:
        with transaction() as session:
            note_swept(session, [("LHR", "JFK")], today + timedelta(first), today + timedelta(last), now)

    def covers(first: int, last: int) -> bool:
        with transaction() as session:
            ends = today + timedelta(first), today + timedelta(last)
            return bool(list_swept(session, ["LHR"], now - timedelta(hours=1), *ends))

    note(0, 30)
    note(31, 60)
    assert covers(0, 60)
    assert not covers(0, 61)
    note(100, 130)
    assert covers(100, 130)
    assert not covers(0, 30)
