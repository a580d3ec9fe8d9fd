"""Searching and watching award seats over sources of the tests: what is shown, what is known, what is refused."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

import anyio
import pytest

from shared import clock
from shared.domain.award_matches import MatchKey
from shared.domain.plans import CABINS
from shared.errors import BackendUnavailable, ConnectionRequired, NoData
from shared.providers.ask import Ask
from shared.providers.contract import Reading, SeatsQuestion, Unanswered
from shared.services.search.availability import Found, Window, search, search_window
from shared.services.search.provenance import MixedModes, coverage, freshness, require_answer
from tests.support.fake_seats import WithSources, failing, seat, selling, source
from tests.support.settings_and_clock import StandingClock

T = TypeVar("T")


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def next_day() -> date:
    return travel_day() + timedelta(days=1)


OWN = "british-airways-club"
SEEN = datetime(2026, 11, 1, 12, tzinfo=UTC)
DOWN = Unanswered("down", "http_500")


def run(work: Callable[[], Awaitable[T]]) -> T:
    return anyio.run(work)


def find(account_id: int = 1, cabins: tuple[str, ...] = CABINS, passengers: int = 1) -> Found:
    return run(lambda: search(Ask(account_id), "BA", [("LHR", "JFK")], travel_day(), cabins, passengers))


def look(**more: Any) -> Window:
    return run(lambda: search_window(Ask(1), [("LHR", "JFK")], travel_day(), next_day(), **more))


def key(day: date | None = None, cabin: str = "business", airline: str = "BA", program: str = OWN) -> MatchKey:
    day = day or travel_day()
    return MatchKey(airline, program, day, cabin)


# search


def test_an_option_says_whose_price_it_is_and_how_old(with_sources: WithSources) -> None:
    with_sources(selling("crawl", seat(travel_day(), program="qantas-frequent-flyer", checked_at=SEEN)))
    found = find()
    (option,) = found.options
    assert (option.airline, option.program, option.source, option.mode) == (
        "BA",
        "qantas-frequent-flyer",
        "crawl",
        "cached",
    )
    assert option.provider_checked_at == SEEN
    assert option.age_seconds >= int((clock.now() - SEEN).total_seconds()) - 5
    assert option.generated_at is None


def test_what_a_source_looked_up_just_now_is_live_and_its_replay_is_not(with_sources: WithSources) -> None:
    with_sources(selling("now", seat(travel_day())))
    first, second = find(), find()
    assert (first.options[0].mode, first.freshness.mode) == ("live", "live")
    assert (second.options[0].mode, second.freshness.mode) == ("cached", "cached")
    assert second.freshness.fetched_at == first.freshness.fetched_at
    assert second.freshness.cached_until is not None


def test_a_crawl_is_never_called_live_and_both_ages_are_told_apart(with_sources: WithSources) -> None:
    with_sources(selling("crawl", seat(travel_day(), checked_at=SEEN)))
    fresh = find().freshness
    assert (fresh.mode, fresh.provider_checked_at) == ("cached", SEEN)
    assert fresh.age_seconds is not None
    assert fresh.provider_age_seconds is not None
    assert fresh.age_seconds < 60 < fresh.provider_age_seconds


def test_seats_too_few_are_left_out_and_an_unstated_number_is_not(with_sources: WithSources) -> None:
    rows = [
        seat(travel_day(), ref="a", seats=2),
        seat(travel_day(), ref="b", seats=None),
        seat(travel_day(), ref="c", seats=4),
    ]
    with_sources(selling("one", *rows))
    assert [o.seats for o in find(passengers=3).options] == [None, 4]


def test_only_the_cabins_asked_for_are_shown_cheapest_first(with_sources: WithSources) -> None:
    rows = [
        seat(travel_day(), cabin="first"),
        seat(travel_day(), points=90_000),
        seat(travel_day(), program="avios", points=70_000),
        seat(travel_day(), cabin="economy"),
    ]
    with_sources(selling("one", *rows))
    found = find(cabins=("economy", "business"))
    assert [(o.cabin, o.points) for o in found.options] == [
        ("economy", 80_000),
        ("business", 70_000),
        ("business", 90_000),
    ]


def test_nothing_open_is_an_answer_and_an_unknown_route_is_no_data(with_sources: WithSources) -> None:
    with_sources(selling("one"))
    found = find()
    assert (found.options, found.coverage.answered, found.coverage.failed) == ([], ("one",), ())
    with_sources(failing("two", Unanswered("no_data", "not_served")))
    with pytest.raises(NoData, match="LHR to JFK"):
        find()


@pytest.mark.spec("s1.5.outage_is_said")
def test_a_search_that_failed_is_refused_and_names_the_source_and_the_reason(with_sources: WithSources) -> None:
    with_sources(failing("one", DOWN), failing("two", Unanswered("quota_exhausted", "quota", 60)))
    with pytest.raises(BackendUnavailable) as no:
        find()
    one, two = no.value.facts["backends"]
    assert (one.name, one.reason, two.name, two.reason, two.retry_after_seconds) == (
        "one",
        "down",
        "two",
        "quota_exhausted",
        60,
    )
    assert one.since is not None


def test_a_source_that_failed_beside_one_that_answered_is_named(with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day())), failing("two", DOWN))
    found = find()
    assert len(found.options) == 1
    assert [(f.name, f.reason) for f in found.coverage.failed] == [("two", "down")]
    assert (found.coverage.asked, found.coverage.answered) == (("one", "two"), ("one",))


def test_with_no_source_at_all_the_service_is_not_configured_rather_than_without_seats(
    with_sources: WithSources,
) -> None:
    with_sources()
    with pytest.raises(BackendUnavailable) as no:
        find()
    assert [(o.name, o.reason) for o in no.value.facts["backends"]] == [("award_seats", "not_configured")]


def test_only_a_connection_missing_is_told_as_that(with_sources: WithSources) -> None:
    with_sources(source("seats_aero", no_call, credential="account"))
    with pytest.raises(ConnectionRequired) as no:
        find()
    assert no.value.facts == {"provider": "seats_aero", "connect_with": "connect_integration"}


async def no_call(_question: SeatsQuestion) -> Any:
    raise AssertionError("asked without a credential")


# watching


def test_a_window_gives_options_with_enough_seats_over_all_its_days(with_sources: WithSources) -> None:
    with_sources(
        selling("one", seat(travel_day(), seats=1), seat(next_day(), seats=3), seat(next_day(), cabin="first", seats=3))
    )
    window = look(cabin="business", passengers=2)
    assert [(o.date, o.seats) for o in window.options] == [(next_day(), 3)]
    assert (window.any_answered, window.failed) == (True, ())


def test_a_key_is_known_to_be_gone_when_everyone_answered(with_sources: WithSources) -> None:
    with_sources(selling("one"), selling("two"))
    window = look()
    assert window.knows_state(key())
    assert not window.knows_state(key(day=next_day() + timedelta(days=1)))


def test_while_a_source_failed_a_missing_key_is_unknown_and_a_seen_one_known(with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day())), failing("two", DOWN))
    window = look()
    assert window.failed == ("two",)
    assert window.knows_state(key())
    assert not window.knows_state(key(cabin="economy"))


def test_a_source_that_is_not_connected_does_not_keep_a_gone_key_alive(with_sources: WithSources) -> None:
    with_sources(selling("one"), failing("two", Unanswered("connection_required", "connection_required")))
    window = look()
    assert window.failed == ("two",)
    assert window.knows_state(key())


def test_when_nobody_answers_nothing_is_known(with_sources: WithSources) -> None:
    with_sources(failing("one", DOWN))
    window = look()
    assert (window.options, window.any_answered, window.failed) == ([], False, ("one",))
    assert not window.knows_state(key())
    with_sources()
    assert look().failed == ("award_seats",)


def test_an_airline_that_was_not_asked_for_is_not_known(with_sources: WithSources) -> None:
    with_sources(selling("one"))
    window = look(airlines=["VS"])
    assert window.knows_state(key(airline="VS"))
    assert not window.knows_state(key(airline="BA"))


def test_a_window_that_is_over_asks_nobody(with_sources: WithSources) -> None:
    with_sources(source("one", no_call))
    past = clock.today() - timedelta(days=3)
    window = run(lambda: search_window(Ask(1), [("LHR", "JFK")], past, past + timedelta(days=1)))
    assert (window.options, window.any_answered, window.failed) == ([], False, ())


@pytest.mark.spec("s1.5.most_queries_live")
def test_watches_of_one_route_share_an_answer_yet_each_check_looks_anew(
    with_sources: WithSources, standing_clock: StandingClock
) -> None:
    asked: list[str] = []

    async def act(_question: SeatsQuestion) -> tuple[()]:
        asked.append("asked")
        return ()

    with_sources(source("one", act, terms="anyone"))
    look()
    look(passengers=2)
    assert len(asked) == 1
    standing_clock.advance(timedelta(minutes=31))
    look()
    assert len(asked) == 2


# provenance


def reading(**more: Any) -> Reading[Any]:
    facts: dict[str, Any] = {
        "source": "one",
        "status": "ok",
        "value": (),
        "reason": None,
        "data_mode": "live",
        "taken_at": clock.now(),
    }
    return Reading(**(facts | more))


def test_invented_and_real_readings_never_make_one_answer() -> None:
    with pytest.raises(MixedModes):
        freshness([reading(), reading(source="sandbox", data_mode="sandbox")])


def test_the_oldest_answer_decides_how_old_the_whole_is() -> None:
    old = clock.now() - timedelta(hours=2)
    told = freshness([reading(), reading(source="two", cached=True, taken_at=old)])
    assert (told.mode, told.source, told.fetched_at) == ("cached", "one, two", old)


def test_of_nothing_there_is_no_freshness() -> None:
    told = freshness([reading(status="down", value=None, reason="timeout")])
    assert (told.mode, told.fetched_at, told.age_seconds) == ("none", None, None)


def test_a_source_that_failed_several_questions_is_named_once() -> None:
    lost = [reading(status="down", value=None, reason="timeout") for _ in range(3)]
    with pytest.raises(BackendUnavailable) as no:
        require_answer([*lost, reading(source="two", status="down", value=None, reason="timeout")], "seats", "It")
    assert "(one: down, two: down)" in no.value.message
    assert [b.name for b in no.value.facts["backends"]] == ["one", "two"]


def test_a_source_nobody_configured_was_skipped_and_not_failed() -> None:
    told = coverage([reading(), reading(source="two", status="not_configured", value=None, reason="not_configured")])
    assert (told.asked, told.answered, told.failed) == (("one",), ("one",), ())
    assert [(s.name, s.reason) for s in told.skipped] == [("two", "not_configured")]
