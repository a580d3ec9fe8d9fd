"""Exact quotas: a call about to run takes what is limited; how it ended decides whether that is given back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sqlalchemy.exc import IntegrityError

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import Tool
from shared import clock
from shared.concurrency import Batcher
from shared.db.base import transaction
from shared.db.trips import add_searches
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL, add, take, used
from shared.domain.plans import Plan
from shared.errors import LimitReached
from shared.settings import settings

Via = Literal["mcp", "rest"]
ANSWERED = frozenset({"ok", "partial", "no_data"})  # a search counts when a backend or the cache answered
COUNTED = {SEARCHES: ANSWERED, API_CALLS: ANSWERED | {"confirmation_required"}}
UNRECORDED = {"invalid", "paywall", "limit_reached", "internal_error"}


@dataclass(frozen=True)
class Meter:
    """One counter a call uses up, with its period and cap."""

    name: str
    period: date
    cap: int | None


def _month() -> date:
    return clock.today().replace(day=1)


def meters(tool: Tool, caller: Caller, via: Via) -> list[Meter]:
    found = []
    if tool.meter == "search":
        found.append(Meter(SEARCHES, clock.today(), caller.limits.searches_per_day))
    if via == "rest" and not caller.anonymous and tool.name != UNCOUNTED_TOOL:
        found.append(Meter(API_CALLS, _month(), caller.api_tier_limit))
    return found


class Reservation:
    """What one call takes of its meters: all or nothing, before the body; settled however the call ends.

    A meter without a cap is counted at the end, by calls that count.
    """

    def __init__(self, tool: Tool, caller: Caller, arguments: dict[str, Any], meters: list[Meter]) -> None:
        self.tool, self.caller, self.arguments, self.meters = tool, caller, arguments, meters
        self.left: dict[str, int] = {}  # of each capped meter, after this call

    @property
    def limited(self) -> bool:
        return any(meter.cap is not None for meter in self.meters)

    def reserve(self) -> None:
        with transaction(self.caller.account_id) as session:
            for meter in self.meters:
                if meter.cap is None:
                    continue
                count = take(session, self.caller.account_id, meter.name, meter.period, meter.cap)
                if count is None:
                    raise _used_up(meter.cap, meter.name, self.caller.plan)
                self.left[meter.name] = meter.cap - count

    async def settle(self, status: str | None, message: str = "") -> None:
        """A status of None: the body crashed or the call was cancelled."""
        for meter in self.meters:
            if meter.cap is not None and status not in COUNTED[meter.name]:
                self.left[meter.name] += 1
        await _settled((self, status, message))


def _settle(ended: Sequence[tuple[Reservation, str | None, str]]) -> list[None]:
    try:
        _write(ended)
    except IntegrityError:  # an account is gone meanwhile, and with it what its calls used
        for one in ended if len(ended) > 1 else ():
            _settle([one])
    return [None] * len(ended)


def _write(ended: Sequence[tuple[Reservation, str | None, str]]) -> None:
    """Many calls in one transaction. Counters come last, since their rows are shared, in the order they are taken."""
    found = [
        {"account_id": r.caller.account_id, "tool": r.tool.name, "arguments": r.arguments}
        | {"summary": message, "outcome": status}
        for r, status, message in ended
        if r.tool.meter == "search" and status is not None and status not in UNRECORDED
    ]
    counts: Counter[tuple[int, bool, str, date]] = Counter()
    for reservation, status, _ in ended:
        for meter in reservation.meters:
            taken, counted = meter.cap is not None, status in COUNTED[meter.name]
            place = (reservation.caller.account_id, meter.name != SEARCHES, meter.name, meter.period)
            counts[place] += counted - taken
    with transaction() as session:
        add_searches(session, found)
        for (account_id, _, name, period), amount in sorted(counts.items()):
            if amount:
                add(session, account_id, name, period, amount)


_settled = Batcher(_settle)


def _used_up(cap: int, meter: str, plan: Plan) -> LimitReached:
    if meter == SEARCHES:
        words = f"All {cap} searches of today are used. They start again at 00:00 UTC; Premium has no daily limit."
        limit, again = "searches_per_day", clock.midnight()
    else:
        words = f"All {cap} API calls of this calendar month are used. They start again on its first day, 00:00 UTC."
        limit, again = "api_tier_limit", clock.next_month()
    upgrade = None if plan is Plan.ENTERPRISE else f"{settings().web_url}/plans"
    return LimitReached(words, limit=limit, current=cap, cap=cap, resets_at=again, upgrade_url=upgrade)


def api_calls_left(caller: Caller) -> int:
    """Of this calendar month; may be asked outside a call, and takes nothing."""
    with transaction(caller.account_id) as session:
        return max(0, caller.api_tier_limit - used(session, caller.account_id, API_CALLS, _month()))
