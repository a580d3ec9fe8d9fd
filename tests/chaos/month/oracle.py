"""What the service owed its people, computed apart from it: from the invented world, and from when it looked.

A check that ended looked at some moment from its start to its end, where the answer may be half an hour older. Whatever
of those moments it was, the world then is known, and with it whether there was news. A check that told what no moment
explains, or told nothing where each of them had news, is a fault.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

OLDEST_ANSWER = timedelta(minutes=30)
DAY, DELAY_SPAN = timedelta(days=1), timedelta(hours=3)  # in which the invented world stays as it is
DEADLINE_STEPS = (7, 30, 90)
TOO_LATE = "it was too late to say so"  # of a message that cannot wait: its end, and no loss
State, Sight = Hashable, Any


@dataclass(frozen=True)
class Look:
    """One check that ended, and whether it told anything. An unsure one may have had no answer."""

    name: str
    began: datetime
    ended: datetime
    told: bool
    is_sure: bool = True

    def list_moments(self, span: timedelta) -> list[datetime]:
        """One of each span of the world in which it may have looked."""
        first = (self.began - OLDEST_ANSWER).timestamp() // span.total_seconds()
        last = self.ended.timestamp() // span.total_seconds()
        return [datetime.fromtimestamp(n * span.total_seconds(), UTC) for n in range(int(first), int(last) + 1)]


Step = Callable[[State, Sight], tuple[State, bool]]


def follow(looks: Iterable[Look], see: Callable[[datetime], Sight], step: Step, span: timedelta) -> list[str]:
    """Goes along the checks of one watch with all states that explain them; the checks that none explains."""
    states: set[State] = {None}
    faults = []
    for look in looks:
        sights = [see(moment) for moment in look.list_moments(span)]
        ways = [step(state, sight) for state in states for sight in sights]
        ways += [] if look.is_sure else [(state, False) for state in states]
        explained = {state for state, tells in ways if tells == look.told}
        if not explained:
            word = "told what was no news" if look.told else "did not tell its news"
            faults.append(f"{look.name} {word} ({look.began:%d %H:%M} to {look.ended:%d %H:%M})")
        states = explained or {state for state, _ in ways}
    return faults


def step_seats(before: State, open_now: Sight) -> tuple[State, bool]:
    """News are seats that are open now and were not at the check before."""
    return open_now, bool(open_now - (before or frozenset()))


def step_price(told: State, price: Sight) -> tuple[State, bool]:
    """News is a price below all that were told. Each stay was booked far above what its hotel asks."""
    is_news = price is not None and (told is None or price < told)
    return (price if is_news else told), is_news


def step_delay(level: State, minutes: Sight) -> tuple[State, bool]:
    """News is a delay of 30 minutes or more, and then each rise over 60, 120 and 240; below 20 it is over."""
    if minutes < 30:
        return (level if minutes >= 20 else None), False
    now = sum(minutes >= step for step in (60, 120, 240))
    return (now if level is None else max(level, now)), level is None or now > level  # type: ignore[operator,type-var]


def step_deadline(told: State, days_left: Sight) -> tuple[State, bool]:
    """News is the first look at a deadline within 90 days, and the first within 30 and within 7."""
    step = next((step for step in DEADLINE_STEPS if 0 <= days_left <= step), None)
    is_news = step is not None and (told is None or step < told)  # type: ignore[operator]
    return (step if is_news else told), is_news


# The invented world as it is at a moment; nothing else of the product is asked.


def see_seats(terms: tuple[str, str, date, date, str, str], day: date) -> frozenset[Any]:
    """Of the terms of a watch: from, to, first and last day, airline, cabin."""
    from shared.providers.contract import SeatsQuestion, Unanswered
    from shared.providers.sandbox.market import find_seats

    origin, destination, first, last, airline, cabin = terms
    try:
        seats = find_seats(SeatsQuestion(origin, destination, first, last, (airline,)), day, {})
    except Unanswered:
        return frozenset()
    return frozenset((seat.airline, seat.program, seat.date) for seat in seats if seat.cabin == cabin)


def see_delay(airport: str, moment: datetime) -> int:
    from shared.providers.sandbox.client import find_delays

    return max((delay.minutes or 0 for delay in find_delays(airport, moment, {})), default=0)


# Checks and messages, as rows tell them.


class Outage(NamedTuple):
    """Something that was away on purpose, with the time that the service may take to be as before."""

    name: str
    began: datetime
    ended: datetime


class Slot(NamedTuple):
    """A check that fell due, and when it was done; None where it never was."""

    due: datetime
    done: datetime | None


def is_excused(outages: Sequence[Outage], began: datetime, ended: datetime) -> bool:
    return any(outage.began <= ended and began <= outage.ended for outage in outages)


def find_missed(
    name: str, slots: Sequence[Slot], every: timedelta, outages: Sequence[Outage], end: datetime
) -> Iterator[str]:
    """Slots of one schedule that came never, twice, or were done later than the next one fell due."""
    for slot in slots:
        if slot.done is None or (slot.done - slot.due > every and not is_excused(outages, slot.due, slot.done)):
            yield f"{name}: due {slot.due:%d %H:%M}, done {slot.done or 'never'}"
    for before, after in pairwise([slot.due for slot in slots]):
        if after - before < every / 2:
            yield f"{name}: due at {before:%d %H:%M:%S} and again at {after:%H:%M:%S}"
        elif after - before > every * 1.5 and not is_excused(outages, before + every, after):
            yield f"{name}: nothing between {before:%d %H:%M} and {after:%d %H:%M}"
    if slots and end - slots[-1].due > every * 1.5 and not is_excused(outages, slots[-1].due + every, end):
        yield f"{name}: nothing since {slots[-1].due:%d %H:%M}"


class Message(NamedTuple):
    """A row that says what became of one message; `notice` is the event it tells of."""

    status: str
    event: str
    notice: str | None
    error: str | None
    is_shown: bool  # in the inbox, that it may not have arrived


@dataclass(frozen=True)
class MailFates:
    lost: list[str]
    twice: list[str]
    unknown: list[str]  # mails without an event
    open: list[str]
    uncertain: int


def judge_mails(messages: Mapping[str, Message], received: Sequence[str], notices: Mapping[str, str]) -> MailFates:
    """`received` are the ids of the mails that the server took; `notices` are the events to be mailed, by id."""
    counts = Counter(received)
    told = Counter(message.notice for message in messages.values())
    lost = [f"{kind} {id} has no message" for id, kind in notices.items() if not told[id]]
    lost += [
        f"{m.event} {id} was sent and never came" for id, m in messages.items() if m.status == "sent" and not counts[id]
    ]
    lost += [
        f"{m.event} {id} is {m.status}: {m.error}"
        for id, m in messages.items()
        if (m.status == "failed" and m.error != TOO_LATE) or (m.status == "uncertain" and not m.is_shown)
    ]
    twice = [f"{id} came {number} times" for id, number in counts.items() if number > 1]
    twice += [f"{id} has {told[id]} messages" for id in notices if told[id] > 1]
    unknown = [f"{id} came" for id in counts if id not in messages or messages[id].status not in ("sent", "uncertain")]
    open_ = [
        f"{m.event} {id} is {m.status}" for id, m in messages.items() if m.status not in ("sent", "failed", "uncertain")
    ]
    uncertain = sum(message.status == "uncertain" for message in messages.values())
    return MailFates(lost, twice, unknown, open_, uncertain)
