"""Calls by chance for two accounts at once: none fails, none shows or changes what another account keeps."""

import json
from collections import Counter
from random import Random
from typing import Any

import anyio
import pytest

from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.registry import TOOLS, Tier
from mcp_server.toolkit.thread_limiter import limiter
from tests.mcp_server.tools.hostile_arguments import HostileCalls
from tests.mcp_server.tools.hostile_people import (
    Owner,
    add_owner,
    describe_call,
    list_rows_with_foreign_words,
    prepare_calls,
)
from tests.mcp_server.tools.test_isolation import everything_of
from tests.support.people import account

ROUND = 250  # calls of each of the two; then both start again, because much of what they had is deleted
AT_ONCE = 4  # of each
ADMIN_CALLS = 10  # a round


class Bout:
    """A number of calls from one seed, the faults they showed, and how often each outcome came."""

    def __init__(self, seed: int) -> None:
        self.random, self.faults, self.outcomes = Random(seed), list[str](), Counter[str]()
        self.quiet = add_owner(f"vera{seed}", 0)  # makes no call
        self.admin = Owner(account(f"ada{seed}", admin=True), [], {})
        self.name, self.own_shown = f"s{seed}", 0

    def run(self, calls: int) -> None:
        before = everything_of(self.quiet.caller)
        for number in range(calls // (2 * ROUND)):
            ann, ben = (
                add_owner(f"{who}{number}{self.name}", 1 + 2 * number + n) for n, who in enumerate(("ann", "ben"))
            )
            limiter.cache_clear()  # it belongs to one event loop
            anyio.run(self._play, ann, ben)
            for owner, other in ((ann, ben), (ben, ann)):
                self.faults += [f"{w} among rows" for w in list_rows_with_foreign_words(owner, other, self.quiet)]
            if everything_of(self.quiet.caller) != before:
                self.faults.append(f"rows of who made no call are changed in round {number}")
                return
            USAGE_LOG.flush()

    async def _play(self, ann: Owner, ben: Owner) -> None:
        async with anyio.create_task_group() as group:
            for owner, other in ((ann, ben), (ben, ann)):
                calls = prepare_calls(self.random, owner, other, self.quiet)
                for _ in range(AT_ONCE):
                    group.start_soon(self._call_often, owner, calls, [other, self.quiet], ROUND // AT_ONCE)
            calls = prepare_calls(self.random, ann, ben, self.quiet)
            calls.names = [name for name, tool in TOOLS.items() if tool.tier is Tier.ADMIN]
            group.start_soon(self._call_often, self.admin, calls, [], ADMIN_CALLS)

    async def _call_often(self, owner: Owner, calls: HostileCalls, others: list[Owner], times: int) -> None:
        for _ in range(times):
            name, arguments = calls.make_call()
            sent = json.dumps(arguments)
            answer = await dispatch(name, arguments, owner.caller, "mcp")
            text = json.dumps(answer.data)
            self.outcomes[answer.status] += 1
            self.own_shown += bool(owner.find_in(text))
            shown = [word for other in others for word in other.find_in(text)]
            if answer.status == "internal_error" or shown:
                self.faults.append(describe_call(name, json.loads(sent), f"{answer.status} {shown}"))


@pytest.mark.slow  # hundreds of generated calls
def test_hostile_calls_neither_fail_nor_reach_another_account(clean: None, configure: Any) -> None:
    configure(TOOL_CALLS_PER_DAY="1000000")
    bout = Bout(1)
    bout.run(2000)
    assert bout.faults == []
    assert {"ok", "invalid", "not_found"} <= set(bout.outcomes), bout.outcomes
    assert bout.outcomes["ok"] > 400, "many calls have to get past the check of arguments"
    assert bout.own_shown > 100, "their own rows are shown, so those of another account would be recognised"


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(100, 110))
def test_ten_thousand_hostile_calls(clean: None, configure: Any, seed: int) -> None:
    configure(TOOL_CALLS_PER_DAY="1000000")
    bout = Bout(seed)
    bout.run(10_000)
    print(sum(bout.outcomes.values()), bout.outcomes.most_common())  # noqa: T201 - the figures of a run
    assert bout.faults == []
