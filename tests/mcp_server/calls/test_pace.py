"""The pace of an account: so many calls a minute and so many at once, over MCP and REST alike."""

from collections import Counter
from datetime import timedelta
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.calls import pace
from mcp_server.calls.pace import CALLS_AT_ONCE, PACE, Pace, TooManyCalls
from shared import clock
from tests.mcp_server.conftest import World
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 3)), max_size=40))
@settings(max_examples=30, deadline=None)
def test_of_no_account_more_than_eight_calls_run_at_once(callers: list[tuple[int, int]]) -> None:
    kept, running, most = Pace(), Counter[int](), Counter[int]()

    async def call(account_id: int, steps: int) -> None:
        async with kept.keep(account_id):
            running[account_id] += 1
            most[account_id] = max(most[account_id], running[account_id])
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            running[account_id] -= 1

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for account_id, steps in callers:
                tasks.start_soon(call, account_id, steps)

    anyio.run(all_at_once)
    assert all(count <= CALLS_AT_ONCE for count in most.values())
    assert running.total() == 0


def test_a_ninth_call_waits_for_one_to_end_and_then_is_refused_but_no_other_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "WAIT_SECONDS", 0.05)
    kept, end = Pace(), anyio.Event()

    async def hold() -> None:
        async with kept.keep(1):
            await end.wait()

    async def scene() -> int:
        async with anyio.create_task_group() as tasks:
            for _ in range(CALLS_AT_ONCE):
                tasks.start_soon(hold)
            await anyio.wait_all_tasks_blocked()
            async with kept.keep(2):
                with pytest.raises(TooManyCalls) as many:
                    await hold()
            end.set()
        await hold()
        return many.value.retry_after

    assert anyio.run(scene) == pace.RETRY_SECONDS


@pytest.mark.parametrize(
    "field", [(b"content-length", str(pace.LARGE_BYTES + 1).encode()), (b"transfer-encoding", b"x")]
)
def test_of_large_bodies_one_is_read_at_a_time_and_small_ones_go_on(
    monkeypatch: pytest.MonkeyPatch, field: tuple[bytes, bytes]
) -> None:
    monkeypatch.setattr(pace, "WAIT_SECONDS", 0.05)
    kept = Pace()

    async def scene() -> None:
        async with kept.keep(1, [field]), kept.keep(1, [(b"content-length", b"9")]), kept.keep(2, [field]):
            with pytest.raises(TooManyCalls, match="a large call"):
                async with kept.keep(1, [field]):
                    pass
        async with kept.keep(1, [field]):
            pass

    anyio.run(scene)


def test_the_endpoint_refuses_an_account_over_its_minute_before_it_reads_the_body(
    world: World, people: People, configure: Any, monkeypatch: pytest.MonkeyPatch, standing_clock: StandingClock
) -> None:
    configure(TOOL_CALLS_PER_MINUTE="2")
    monkeypatch.setattr(PACE, "_minute", 0)
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert [world.post(people.alice, message).status_code for _ in range(2)] == [200, 200]
    refused = world.http.post(
        world.url,
        content=b"no JSON",
        headers={"Authorization": f"Bearer {world.token(people.alice)}", "Content-Type": "application/json"},
    )
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert "more than 2 calls" in refused.json()["error"]["message"]
    assert world.post(people.bob, message).status_code == 200
    standing_clock.set(clock.now() + timedelta(minutes=1))
    assert world.post(people.alice, message).status_code == 200
