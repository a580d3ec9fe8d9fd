"""The gate, tried with small tools made here: who may call, in which order refusals come, and what a call uses up."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any
from unittest.mock import patch

import anyio
import pytest
from pydantic import Field
from sqlalchemy import select

from mcp_server.calls.dispatch import Answer, dispatch
from mcp_server.calls.quota import Quota
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller, LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.toolkit.results import Money, Result
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.trips import SearchRecord, Trip
from shared.db.usage import SEARCHES, count_used
from shared.domain.plans import Plan
from shared.errors import (
    Ambiguity,
    BackendUnavailable,
    Candidates,
    ConnectionRequired,
    Fault,
    Invalid,
    LimitReached,
    NoData,
    NotFound,
    Outage,
    Refusal,
)
from tests.support.people import People, everybody


class Said(Result):
    amount: Money


REFUSALS: dict[str, Refusal] = {
    "invalid": Invalid(Fault("number", "does not please", "another one")),
    "not_found": NotFound("trip", 3, ["Rome"]),
    "candidates": Candidates("Two fit.", [{"slug": "a"}], Ambiguity("card", "a", [])),
    "backend_unavailable": BackendUnavailable("Away.", [Outage("sandbox", "down")]),
    "connection_required": ConnectionRequired("Connect first.", provider="seats_aero"),
    "no_data": NoData("Nothing is known.", ["seats"]),
    "limit_reached": LimitReached("Enough.", limit="monitors", current=1, cap=1),
}


async def seek(call: LiveCall, number: Annotated[int, Field(ge=1, le=9)] = 1, end: str = "ok") -> Said:
    """Seek. Free."""
    await anyio.sleep(0)
    if end == "crash":
        raise RuntimeError("a library's own words")
    if end in REFUSALS:
        raise REFUSALS[end]
    return Said(message=f"{call.searches_left} searches left.", amount=number)


def keep(call: Call, name: str, fail: bool = False, crash: bool = False) -> Said:
    """Keep. Free."""
    call.db.add(Trip(name=name))
    call.db.flush()
    if fail:
        raise NotFound("trip", name)
    if crash:
        raise RuntimeError("a library's own words")
    return Said(message="Kept.", amount=1)


async def order(call: LiveCall) -> Said:
    """Order. Free."""
    await call.in_session(lambda session: session.add(Trip(name="Rome")))
    raise RuntimeError("a library's own words")


async def hang(call: LiveCall) -> Said:
    """Hang. Free."""
    await anyio.sleep_forever()
    raise AssertionError


def paid(call: Call) -> Said:
    """Paid. Paid."""
    return Said(message="Paid.", amount=1)


def pro(call: Call, number: int) -> Said:
    """Pro. Pro."""
    return Said(message="Pro.", amount=number)


def admin_look(call: Call, number: int) -> Said:
    """Look. Admin-only."""
    return Said(message="Looked.", amount=number)


def get_usage(call: Call) -> Said:
    """Count nothing. Free."""
    return Said(message="Free.", amount=1)


@pytest.fixture
def people(clean: None) -> Iterator[People]:
    USAGE_LOG.today.clear()
    USAGE_LOG.pending.clear()
    with patch.dict(TOOLS, clear=True):
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, meter="search")(seek)
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, meter="search")(hang)
        tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)(keep)
        tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)(order)
        tool(area="cards", tier=Tier.PAID, effect=Effect.READS)(paid)
        tool(area="cards", tier=Tier.PRO, effect=Effect.READS, title="What may I ask?")(pro)
        tool(area="admin", tier=Tier.ADMIN, effect=Effect.READS)(admin_look)
        tool(area="account", tier=Tier.FREE, effect=Effect.READS)(get_usage)
        yield everybody()


def call(caller: Caller, tool_name: str, /, **arguments: Any) -> Answer:
    async def once() -> Answer:
        return await dispatch(tool_name, arguments, caller, "mcp")

    return together(once)


def together(work: Callable[[], Any]) -> Any:
    limiter.cache_clear()
    return anyio.run(work)


def searches(caller: Caller) -> int:
    with transaction(caller.account_id) as session:
        return count_used(session, caller.account_id, SEARCHES, clock.today())


def noted() -> list[tuple[str, str]]:
    return [(n.tool, n.outcome) for n in USAGE_LOG.pending]


def test_answer_is_labelled_sandbox_and_money_is_a_number(people: People) -> None:
    made = call(people.bob, "keep", name="Rome")
    assert list(made.data) == ["data_mode", "notice", "status", "message", "amount"]
    assert (made.status, made.is_error, made.data["amount"]) == ("ok", False, 1.0)
    assert "\nKept.\n{" in made.text


def test_unknown_tool_is_invalid_and_noted_without_its_name(people: People) -> None:
    made = call(people.bob, "keeep", x="y")
    assert (made.status, made.is_error) == ("invalid", True)
    assert made.data["errors"] == [
        {
            "field": "name",
            "problem": "is not a tool of this server",
            "expected": "a name from tools/list; nearest: keep",
        }
    ]
    assert noted() == [("unknown", "invalid")]


@pytest.mark.spec("s5.9.admin_decides")
def test_admin_tools_need_the_admin_flag_whatever_the_plan(people: People) -> None:
    assert call(people.paula, "admin_look", number="bad").status == "admin_only"
    assert call(people.paula, "admin_look").is_error is True
    assert call(people.ada, "admin_look", number=1).status == "ok"


@pytest.mark.spec("s5.9.tier_decides", "s7.paywall_result")
def test_plan_decides_which_tools_run(people: People) -> None:
    ran = {
        (who, name): call(getattr(people, who), name, **({"number": 1} if name == "pro" else {})).status
        for who in ("bob", "alice", "paula")
        for name in ("paid", "pro")
    }
    assert {k for k, status in ran.items() if status == "ok"} == {
        ("alice", "paid"),
        ("paula", "paid"),
        ("paula", "pro"),
    }
    assert set(ran.values()) == {"ok", "paywall"}
    refused = call(people.bob, "pro")
    assert refused.is_error is False
    assert refused.data["message"] == "Pro needs the Pro plan; this account is on Free."
    assert refused.data["required_tier"] == "pro"
    assert refused.data["current_tier"] == "free"
    assert refused.data["upgrade_url"].endswith("/plans")
    assert refused.data["free_alternative"] is None


def test_enterprise_may_do_what_pro_may(people: People) -> None:
    assert call(replace(people.paula, plan=Plan.ENTERPRISE), "pro", number=1).status == "ok"


def test_tier_is_judged_before_arguments_and_arguments_before_quota(people: People) -> None:
    assert call(people.bob, "pro", number="x").status == "paywall"
    for _ in range(5):
        assert call(people.bob, "seek").status == "ok"
    assert call(people.bob, "seek", number=10).status == "invalid"
    assert call(people.bob, "seek").status == "limit_reached"
    assert searches(people.bob) == 5


def test_token_that_may_only_read_cannot_change_anything(people: People) -> None:
    reader = replace(people.alice, read_only=True)
    made = call(reader, "keep", name="Rome")
    assert (made.status, made.data["errors"][0]["field"]) == ("invalid", "name")
    assert call(reader, "paid").status == "ok"


@pytest.mark.spec("s8.free_five_searches")
def test_sixth_search_of_the_day_is_refused_with_the_hour_of_the_next(people: People) -> None:
    said = [call(people.bob, "seek").message for _ in range(5)]
    assert said == [f"{n} searches left." for n in (4, 3, 2, 1, 0)]
    no = call(people.bob, "seek")
    assert (no.status, no.is_error) == ("limit_reached", False)
    assert (no.data["limit"], no.data["current"], no.data["cap"]) == ("searches_per_day", 5, 5)
    assert no.data["resets_at"] == clock.midnight().isoformat().replace("+00:00", "Z")
    assert no.data["upgrade_url"].endswith("/plans")


@pytest.mark.spec("s8.premium_unlimited")
def test_premium_searches_are_counted_and_never_refused(people: People) -> None:
    assert {call(people.alice, "seek").message for _ in range(7)} == {"None searches left."}
    assert searches(people.alice) == 7


@pytest.mark.parametrize("end", [*REFUSALS, "crash"])
def test_search_that_no_backend_answered_counts_for_nobody(people: People, end: str) -> None:
    for caller in (people.bob, people.alice):  # one takes a search and gets it back, the other has no cap
        made = call(caller, "seek", end=end)
        assert made.status == ("internal_error" if end == "crash" else end)
        assert searches(caller) == (1 if end == "no_data" else 0)


def test_a_call_whose_account_is_gone_ends_uncounted(people: People) -> None:
    async def end(quota: Quota) -> None:
        async with quota.reserve(TOOLS["seek"], {}):
            quota.ending = "ok", "found"

    for who in (replace(people.alice, account_id=999_999), people.alice):
        anyio.run(end, Quota(who, "mcp"))
    with transaction() as session:
        kept = session.scalars(select(SearchRecord)).all()
    assert [(row.account_id, row.summary) for row in kept] == [(people.alice.account_id, "found")]
    assert searches(people.alice) == 1


def test_twenty_searches_at_once_use_exactly_the_five_allowed(people: People) -> None:
    made: list[str] = []

    async def one() -> None:
        made.append((await dispatch("seek", {}, people.bob, "mcp")).status)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(one)

    together(many)
    assert (made.count("ok"), made.count("limit_reached")) == (5, 15)
    assert searches(people.bob) == 5


def test_searches_given_back_at_once_leave_the_count_exact(people: People) -> None:
    async def many() -> None:
        async with anyio.create_task_group() as group:
            for end in ("not_found", "ok", "candidates", "ok", "crash"):
                group.start_soon(dispatch, "seek", {"end": end}, people.bob, "mcp")

    together(many)
    assert searches(people.bob) == 2


def test_cancelled_search_is_given_back_and_still_noted(people: People) -> None:
    async def cancelled() -> bool:
        with anyio.move_on_after(5) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(dispatch, "hang", {}, people.bob, "mcp")
                while not await anyio.to_thread.run_sync(searches, people.bob):
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
        return scope.cancelled_caught

    assert together(cancelled) is False
    assert searches(people.bob) == 0
    assert noted() == [("hang", "cancelled")]


def test_metered_search_leaves_one_record_of_its_account(people: People) -> None:
    call(people.bob, "seek", number=2)
    call(people.bob, "seek", end="backend_unavailable")
    call(people.bob, "seek", number=99)
    with transaction(people.bob.account_id) as session:
        kept = [(r.tool, r.arguments["number"], r.outcome) for r in session.scalars(select(SearchRecord))]
    with transaction(people.alice.account_id) as session:
        assert session.scalars(select(SearchRecord)).all() == []
    assert sorted(kept) == [("seek", 1, "backend_unavailable"), ("seek", 2, "ok")]


def test_refusal_or_crash_stores_nothing_of_the_call(people: People) -> None:
    assert call(people.bob, "keep", name="Rome", fail=True).status == "not_found"
    assert call(people.bob, "keep", name="Rome", crash=True).status == "internal_error"
    with transaction() as session:
        assert session.scalars(select(Trip)).all() == []


def test_a_crash_says_that_nothing_was_stored_only_where_that_is_certain(people: People) -> None:
    for made in (call(people.bob, "keep", name="Rome", crash=True), call(people.bob, "seek", end="crash")):
        assert "nothing was stored" in made.message
    made = call(people.bob, "order")
    assert made.status == "internal_error"
    assert "not certain" in made.message
    assert "nothing was stored" not in made.message
    with transaction() as session:
        assert [trip.name for trip in session.scalars(select(Trip))] == ["Rome"]


def test_crash_is_logged_once_and_told_without_a_librarys_words(
    people: People, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        made = call(people.bob, "keep", name="private words", crash=True)
    assert (made.status, made.is_error) == ("internal_error", True)
    assert "library" not in made.text
    assert len(caplog.records) == 1
    assert made.data["call_id"] in caplog.text
    assert "private words" not in caplog.text


def test_failed_statement_is_logged_without_the_users_values(people: People, caplog: pytest.LogCaptureFixture) -> None:
    stranger = replace(people.bob, account_id=10**9)
    with caplog.at_level(logging.ERROR):
        assert call(stranger, "keep", name="private words").status == "internal_error"
    assert "private words" not in caplog.text


def test_every_call_is_noted_once_with_its_outcome(people: People) -> None:
    call(people.bob, "keep", name="Rome")
    call(people.bob, "pro")
    call(people.bob, "seek", number="x")
    assert noted() == [("keep", "ok"), ("pro", "paywall"), ("seek", "invalid")]
    assert all(n.milliseconds >= 0 and n.client == "Tests" and n.via == "mcp" for n in USAGE_LOG.pending)


@pytest.mark.spec("s8.abuse_ceiling_daily")
def test_daily_ceiling_stops_every_tool_but_the_one_that_shows_it(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(USAGE_LOG, "daily_limit", lambda caller: 3)
    assert [call(people.bob, "keep", name=n).status for n in "abcd"] == ["ok", "ok", "ok", "limit_reached"]
    assert [call(people.bob, "get_usage").status for _ in range(3)] == ["ok"] * 3
    no = call(people.bob, "seek")
    assert (no.status, no.data["limit"], no.data["cap"]) == ("limit_reached", "tool_calls_per_day", 3)
    assert searches(people.bob) == 0
    assert call(people.alice, "keep", name="hers").status == "ok"
