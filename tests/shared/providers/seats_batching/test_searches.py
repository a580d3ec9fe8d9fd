"""Questions answered together: each gets what it would have been told alone, and one search pays for all of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import func, select

from shared import limits
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat, Reading, SeatsQuestion
from shared.providers.seats_aero.client import PAGES
from shared.providers.seats_batching.rates import read_rates
from shared.redis import connect
from tests.support.fake_seats import WithSources
from tests.support.paging_source import PagingSource, find_rows, make_row
from tests.support.spare_questions import Spare

DAY = date(2027, 3, 1)
HEALTH = "seats_aero:operator"


def question(origin: str, destination: str, first: int = 0, days: int = 10, *airlines: str) -> SeatsQuestion:
    start = DAY + timedelta(days=first)
    return SeatsQuestion(origin, destination, start, start + timedelta(days=days - 1), airlines)


MIXED = [
    question("JFK", "LHR"),
    question("JFK", "LHR", 4, 5, "BA", "DL"),
    question("JFK", "CDG", 2, 20, "AF"),
    question("BOS", "LHR", 0, 3),
    question("BOS", "CDG", 8, 9),
]


@pytest.fixture
def source(with_sources: WithSources) -> PagingSource:
    paging = PagingSource()
    with_sources(paging.card)
    return paging


def every(questions: Sequence[SeatsQuestion], **more: Any) -> list[Reading[Any]]:
    async def go() -> list[Reading[Any]]:
        return await Ask(1, **more).all("award_seats", questions)

    return anyio.run(go)


def check(asked: SeatsQuestion, others: Spare) -> Reading[Any]:
    return every([asked], background=True, can_wait=True, others=others)[0]


def endless_page(params: dict[str, str]) -> httpx.Response:
    rows = find_rows(params)
    skip = int(params.get("skip", 0))
    page = b",".join(
        make_row(*rows[n % len(rows)], True).replace(b'"ID": "', b'"ID": "%d-' % (skip + n)) for n in range(1000)
    )
    return httpx.Response(200, content=b'{"data":[%b],"hasMore":true,"cursor":1795210812}' % page)


def alone(asked: SeatsQuestion) -> tuple[AwardSeat, ...]:
    """What the source answers to this question alone."""

    async def go() -> tuple[AwardSeat, ...]:
        async with PagingSource().card.build("key") as client:
            found: tuple[AwardSeat, ...] = await client.award_seats(asked)
            return found

    return anyio.run(go)


def test_questions_of_one_call_are_one_search_and_each_is_told_what_it_would_be_alone(source: PagingSource) -> None:
    readings = every(MIXED)
    assert source.calls == 1
    assert [r.value for r in readings] == [alone(q) for q in MIXED]
    assert all(r.value and r.good_until and not r.cached for r in readings)


def test_each_answer_is_kept_under_its_own_question(source: PagingSource) -> None:
    together = every(MIXED)
    assert [every([q])[0] for q in MIXED] == [replace(r, cached=True) for r in together]
    assert source.calls == 1


def test_a_seat_that_several_questions_share_is_observed_once(source: PagingSource) -> None:
    readings = every(MIXED[:2])
    seats = {seat for r in readings for seat in r.value or ()}
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(AwardObservation)) == len(seats)


def test_a_check_asks_for_further_watches_too_and_they_come_forward(source: PagingSource) -> None:
    others = Spare(MIXED[1:])
    reading = check(MIXED[0], others)
    assert (source.calls, reading.value) == (1, alone(MIXED[0]))
    assert (set(others.forward), others.scopes) == (set(MIXED), {"operator"})
    assert [check(q, Spare()).value for q in MIXED[1:]] == [alone(q) for q in MIXED[1:]]
    assert source.calls == 1


def test_what_was_answered_lately_is_not_asked_again(source: PagingSource) -> None:
    every(MIXED[1:2])
    check(MIXED[0], Spare(MIXED[1:]))
    assert source.searches[-1]["origin_airport"] == "JFK,BOS"
    assert source.searches[-1]["start_date"] == "2027-03-01"
    others = Spare(MIXED[1:])
    check(question("JFK", "LHR", 1, 8), others)
    assert others.forward == [question("JFK", "LHR", 1, 8)]


def test_others_cost_no_page_more(source: PagingSource) -> None:
    """Ten days of what is learnt of seven routes, and then a hundred days of as many of them as fit a page."""
    ends = ("LHR", "CDG", "FRA", "MAD", "LIS", "FCO", "ATH")
    every([question("JFK", end) for end in ends])
    others = Spare([question("JFK", end, 20, 100) for end in ends[1:]])
    check(question("JFK", "LHR", 20, 100), others)
    assert source.calls == 2
    assert 1 < len(others.forward) < 7


def test_with_a_connection_of_ones_own_the_scope_is_ones_own(
    source: PagingSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.settings import settings

    async def connection(_provider: str) -> str:
        return "Bearer mine"

    monkeypatch.setenv("SEATS_AERO_API_KEY", "")
    settings.cache_clear()
    others = Spare()
    every(MIXED[:1], background=True, others=others, connections=connection)
    assert others.scopes == {"account-1"}


def test_rows_of_a_route_are_learnt_and_pages_are_counted(source: PagingSource) -> None:
    check(question("JFK", "LHR", 0, 300), Spare())
    pages = source.calls
    assert pages == 2
    assert limits.peek(f"calls:{HEALTH}", 1000, 86_400).count == pages
    learnt = read_rates(HEALTH, ["JFK", "BOS"])
    assert set(learnt) == {("JFK", "LHR")}
    assert learnt["JFK", "LHR"] == pytest.approx(len(find_rows(source.searches[0])) / 300, abs=0.001)


def test_what_a_search_shows_of_routes_nobody_asked_about_is_learnt_too(source: PagingSource) -> None:
    every([question("JFK", "LHR"), question("BOS", "CDG")])
    (search,) = source.searches
    assert (search["origin_airport"], search["destination_airport"]) == ("JFK,BOS", "LHR,CDG")
    learnt = read_rates(HEALTH, ["JFK", "BOS"])
    for route in product(("JFK", "BOS"), ("LHR", "CDG")):
        ends = dict(zip(("origin_airport", "destination_airport"), route, strict=True))
        assert learnt[route] == pytest.approx(len(find_rows(search | ends)) / 10, abs=0.001)


def test_nothing_is_learnt_from_rows_of_some_airlines_alone(source: PagingSource) -> None:
    asked = [question("JFK", "LHR", 0, 10, "BA"), question("JFK", "CDG", 0, 10, "AF")]
    assert [r.value for r in every(asked)] == [alone(q) for q in asked]
    assert [search["carriers"] for search in source.searches] == ["AF,BA"]
    assert read_rates(HEALTH, ["JFK"]) == {}


def test_a_search_of_too_many_pages_answers_nobody_and_the_next_one_is_smaller(source: PagingSource) -> None:
    """Each page is full and has another behind it, wherever two airports are asked together."""
    source.answer = lambda params: endless_page(params) if "," in params["destination_airport"] else None
    others = Spare([question("JFK", end) for end in ("CDG", "FRA", "MAD")])
    assert check(question("JFK", "LHR"), others).value == alone(question("JFK", "LHR"))
    assert (source.calls, others.forward) == (PAGES + 1, [])
    assert check(question("JFK", "CDG"), others).has_answer
    assert source.calls == PAGES + 2


def test_a_search_too_large_to_be_read_is_asked_in_its_parts(source: PagingSource) -> None:
    source.answer = lambda params: httpx.Response(200, content=b"[]") if "," in params["origin_airport"] else None
    readings = every(MIXED)
    assert [r.value for r in readings] == [alone(q) for q in MIXED]
    assert source.calls == 1 + len(MIXED)


def test_a_question_with_too_many_rows_is_not_asked_twice(source: PagingSource) -> None:
    source.answer = endless_page
    assert check(question("JFK", "LHR"), Spare()).reason == "too_many_rows"
    assert source.calls == PAGES


def test_a_check_whose_search_cannot_be_read_asks_alone_for_itself_and_not_for_others(source: PagingSource) -> None:
    source.answer = lambda params: httpx.Response(200, content=b"[]") if "," in params["origin_airport"] else None
    others = Spare(MIXED[1:])
    assert check(MIXED[0], others).value == alone(MIXED[0])
    assert (source.calls, others.forward) == (2, [])


def test_after_three_searches_that_cannot_be_read_each_is_asked_alone_until_one_can(source: PagingSource) -> None:
    """Of the first three checks each pays for two searches."""
    source.answer = lambda params: httpx.Response(200, content=b"[]") if "," in params["origin_airport"] else None
    ends, calls = ["LHR", "CDG", "FRA", "MAD"], []
    for end in ends:
        assert check(question("JFK", end), Spare([question("BOS", end, 0, 9)])).has_answer
        calls.append(source.calls)
    assert calls == [2, 4, 6, 7]


def test_searches_that_cannot_be_read_now_and_then_end_no_plan(source: PagingSource) -> None:
    source.answer = lambda params: httpx.Response(200, content=b"[]") if "CHI" in params["origin_airport"] else None
    for n, origin in enumerate(("CHI", "CHI", "BOS", "CHI", "CHI", "BOS")):
        days = 10 * n
        others = Spare([question(origin, "CDG", days)])
        assert check(question("JFK", "LHR", days), others).has_answer
        assert len(others.forward) == (2 if origin == "BOS" else 0)


def test_a_source_without_lists_is_asked_one_by_one(with_sources: WithSources) -> None:
    source, others = PagingSource(), Spare(MIXED)
    with_sources(replace(source.card, page_rows=None))
    assert [r.value for r in every(MIXED, background=True, others=others)] == [alone(q) for q in MIXED]
    assert (source.calls, others.forward, others.scopes) == (len(MIXED), [], set())


def test_what_was_learnt_may_be_lost_at_any_time(source: PagingSource) -> None:
    check(question("JFK", "LHR"), Spare())
    connect().flushall()
    assert read_rates(HEALTH, ["JFK"]) == {}
    others = Spare(MIXED[1:])
    assert check(MIXED[0], others).value == alone(MIXED[0])
    assert (source.calls, set(others.forward)) == (2, set(MIXED))


def test_a_source_that_is_down_is_asked_once_and_everybody_hears_it(source: PagingSource) -> None:
    source.answer = lambda _params: httpx.Response(500)
    others = Spare(MIXED[1:])
    assert check(MIXED[0], others).reason == "http_500"
    assert (source.calls, others.forward) == (1, [])
    source.answer = lambda _params: None
    assert check(MIXED[1], Spare()).has_answer


def test_when_calls_are_short_a_check_works_for_the_watch_that_waits_longest(
    with_sources: WithSources,
) -> None:
    source = PagingSource()
    with_sources(replace(source.card, calls_a_day=40))
    second, old = question("GRU", "MAD", 300), MIXED[2]
    for n in range(19):  # of 36 at noon 18, and one more as a start
        assert check(question("SYD", "AKL", 20 * n), Spare()).has_answer
    refused = check(second, Spare())
    assert (refused.status, refused.reason) == ("quota_exhausted", "put_off")
    limits.take_back(f"calls:{HEALTH}", 86_400)
    others = Spare(near=[MIXED[1]], oldest=[old])
    told = check(second, others)
    assert (told.status, told.reason) == ("quota_exhausted", "put_off")
    assert set(others.forward) == {old, MIXED[1]}
    assert check(old, Spare()).value == alone(old)


def test_a_person_is_answered_while_checks_are_put_off(with_sources: WithSources) -> None:
    source = PagingSource()
    with_sources(replace(source.card, calls_a_day=10))
    told = [check(question("SYD", "AKL", 20 * n), Spare()) for n in range(9)]
    assert [r.reason == "put_off" for r in told] == [False] * 5 + [True] * 4
    assert every([question("GRU", "MAD", 0, 60)])[0].has_answer
