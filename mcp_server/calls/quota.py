"""Exact quotas: searches a day and API calls a month, reserved before a call and given back when it does not count."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import anyio
import anyio.to_thread
from sqlalchemy.exc import IntegrityError

from mcp_server.calls.known_person import KnownPerson
from mcp_server.toolkit import Caller, Tool
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.outages import OUTAGES, is_outage, run_again
from shared.db.trips import add_searches
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL, add, count_used, take
from shared.domain.plans import Plan
from shared.errors import LimitReached, Refusal
from shared.settings import settings

Via = Literal["mcp", "rest"]
ANSWERED = frozenset({"ok", "partial", "no_data"})  # a search counts if a backend or the cache answered
COUNTED = {SEARCHES: ANSWERED, API_CALLS: ANSWERED | {"confirmation_required"}}
UNRECORDED = {"invalid", "paywall", "limit_reached", "internal_error", "temporarily_unavailable", "busy"}


@dataclass(frozen=True)
class Meter:
    """One counter a call uses up, with its period and cap."""

    name: str
    period: date
    cap: int | None


def _month() -> date:
    return clock.today().replace(day=1)


def _meters(tool: Tool, caller: Caller, via: Via) -> list[Meter]:
    meters = []
    if tool.meter == "search":
        meters.append(Meter(SEARCHES, clock.today(), caller.limits.searches_per_day))
    if via == "rest" and not caller.anonymous and tool.name != UNCOUNTED_TOOL:
        meters.append(Meter(API_CALLS, _month(), caller.api_tier_limit))
    return meters


class Quota:
    """One call's use of its meters: taken all or none before the body; kept or returned when it ends.

    A meter without a cap is counted at the end, by calls that count.
    """

    tool: Tool
    arguments: dict[str, Any]
    meters: list[Meter]

    def __init__(self, caller: Caller, via: Via) -> None:
        self.caller, self.via = caller, via
        self.person_seconds = 0.0  # spent waiting for a person, not counted as the call's duration
        self.person = KnownPerson()  # what the profile adds to this call
        self.remaining: dict[str, int] = {}  # of each capped meter, after this call
        self.ending: tuple[str | None, str] = (None, "")  # status and message; None: it crashed or was cancelled
        self.may_have_stored = False  # a change was committed, or about to be

    @asynccontextmanager
    async def reserve(self, tool: Tool, arguments: dict[str, Any]) -> AsyncIterator[None]:
        """Surrounds the body, which sets `ending`. Raises LimitReached when a meter is used up."""
        self.tool, self.arguments, self.meters = tool, arguments, _meters(tool, self.caller, self.via)
        if any(meter.cap is not None for meter in self.meters):
            # Counting twice, if the first commit was lost, is better than a failed search.
            await anyio.to_thread.run_sync(run_again, self._take, limiter=limiter())
        try:
            yield
        except Refusal as refusal:
            self.ending = refusal.status, refusal.message
            raise
        finally:
            if self.meters:
                with anyio.CancelScope(shield=True):
                    await self._settle()

    def _take(self) -> None:
        remaining: dict[str, int] = {}
        with transaction(self.caller.account_id) as session:
            for meter in self.meters:
                if meter.cap is None:
                    continue
                count = take(session, self.caller.account_id, meter.name, meter.period, meter.cap)
                if count is None:
                    raise _limit_reached(meter.cap, meter.name, self.caller.plan)
                remaining[meter.name] = meter.cap - count
        self.remaining = remaining

    async def _settle(self) -> None:
        for meter in self.meters:
            if meter.cap is not None and self.ending[0] not in COUNTED[meter.name]:
                self.remaining[meter.name] += 1
        try:
            await anyio.to_thread.run_sync(self._write, limiter=limiter())
        except IntegrityError:  # the account was deleted in the meantime, and with it what its calls used
            pass
        except Exception as error:
            if not is_outage(error):
                raise
            OUTAGES.note(error)  # the answer is valid, and the reservation stays

    def _write(self) -> None:
        account_id, (status, message) = self.caller.account_id, self.ending
        with transaction() as session:
            if self.tool.meter == "search" and status is not None and status not in UNRECORDED:
                row = {"account_id": account_id, "tool": self.tool.name, "arguments": self.arguments}
                add_searches(session, [row | {"summary": message, "outcome": status}])
            for meter in self.meters:
                was_taken, counts = meter.cap is not None, status in COUNTED[meter.name]
                if amount := counts - was_taken:
                    add(session, account_id, meter.name, meter.period, amount)


def _limit_reached(cap: int, meter: str, plan: Plan) -> LimitReached:
    if meter == SEARCHES:
        words = f"All {cap} searches of today are used. They start again at 00:00 UTC; Premium has no daily limit."
        limit, resets_at = "searches_per_day", clock.midnight()
    else:
        words = f"All {cap} API calls of this calendar month are used. They start again on its first day, 00:00 UTC."
        limit, resets_at = "api_tier_limit", clock.next_month()
    upgrade = None if plan is Plan.ENTERPRISE else f"{settings().web_url}/plans"
    return LimitReached(words, limit=limit, current=cap, cap=cap, resets_at=resets_at, upgrade_url=upgrade)


def api_calls_left(caller: Caller) -> int:
    """The account's API calls left this calendar month; takes none."""

    def count() -> int:
        with transaction(caller.account_id) as session:
            return count_used(session, caller.account_id, API_CALLS, _month())

    return max(0, caller.api_tier_limit - run_again(count))
