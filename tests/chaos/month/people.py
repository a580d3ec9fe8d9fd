"""The people of the month: each signs up in its first fifth, sets up watches, and comes back on most days.

What they were told is stored is written down here; whether it stands in the database is asked at the end.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import httpx
import psycopg

from shared.reference import hotels
from shared.reference.load import reference
from shared.secrets import digest, mint

ROUTES = (("LHR", "JFK", "BA"), ("LIS", "JFK", "TP"), ("LHR", "BOS", "VS"), ("FRA", "ORD", "UA"), ("MAD", "MIA", "IB"))
AIRPORTS = ("ATL", "DEN", "JFK", "LAX", "ORD", "SEA")
PROGRAMS = ("british-airways-club", "flying-blue", "virgin-atlantic-flying-club")
ZONES = ("UTC", "Europe/London", "America/New_York", "Asia/Tokyo")
COUNTED = "world-of-hyatt"  # the programme whose balance counts what a person stored
CALLERS = 4
VISITS_A_DAY = 2.0
# A second watch of the same seats is allowed, and would tell what the first one mailed: so whoever had no answer looks
# whether there is one. What else is set up the service knows again by itself.
LISTED = {
    "create_route_monitor": ("list_route_monitors", "monitors"),
    "create_flight_alert": ("list_flight_alerts", "alerts"),
    "create_delay_alert": ("list_delay_alerts", "alerts"),
}
Call = tuple[str, dict[str, Any]]


@dataclass
class Person:
    number: int
    key: str
    joins: float  # part of the month
    to_do: list[Call]
    stored: int = 0  # the last count that the service said it stored
    trips: list[str] = field(default_factory=list)  # names it said so of
    tried: int = 0
    is_in_doubt: bool = False  # whether the last wish was done

    @property
    def email(self) -> str:
        return f"p{self.number}@example.test"


def draw_people(number: int, first: date, dice: random.Random) -> list[Person]:
    return [Person(n, mint("awt_ak_"), dice.uniform(0, 0.2), list(_draw_wishes(n, first, dice))) for n in range(number)]


def _draw_wishes(n: int, first: date, dice: random.Random) -> Iterator[Call]:
    """What a person sets up. No two watches of one person meet the same seats, so that each tells all it finds."""
    yield "update_profile", {"timezone": ZONES[n % len(ZONES)], "mail": {"hotel_price_drops": True}}
    ends = first + timedelta(days=dice.randint(8, 100))
    balance = {"balance": dice.randint(1, 90) * 1000, "expires_on": ends.isoformat()}
    yield "update_points_balance", {"program": dice.choice(PROGRAMS), **balance}
    (monitored, alerted), since = dice.sample(ROUTES, 2), first + timedelta(days=dice.randint(40, 200))
    days = since.isoformat(), (since + timedelta(days=dice.randint(3, 9))).isoformat()
    yield (
        "create_route_monitor",
        {"origin": monitored[0], "destination": monitored[1], "airlines": [monitored[2]], "cabin": "business"}
        | dict(zip(("earliest_date", "latest_date"), days, strict=True)),
    )
    yield (
        "create_flight_alert",
        {"departure": alerted[0], "destination": alerted[1], "airline": alerted[2], "cabin_class": "business"}
        | dict(zip(("date_range_start", "date_range_end"), days, strict=True)),
    )
    if n % 2 == 0:
        code = hotels.code(reference().rows("hotels.csv")[n % 40])
        night = first + timedelta(days=40 + n)
        stay = {"check_in_date": night.isoformat(), "check_out_date": (night + timedelta(days=2)).isoformat()}
        yield "add_hotel_booking", {"hotel_id": code, "kind": "cash", "original_pay_rate_usd": 9000, **stay}
    if n % 4 == 0:
        yield "create_delay_alert", {"airport": dice.choice(AIRPORTS), "min_delay_minutes": 30}
    if n % 5 == 0:
        order = {"prompt": f"List the trips of person {n}.", "cadence": "daily", "run_hour": dice.randrange(24)}
        yield "create_standing_order", order


def store_accounts(database_url: str, people: list[Person]) -> None:
    """Accounts with confirmed addresses, and a key of each."""
    with psycopg.connect(database_url) as database:
        for person in people:
            row = database.execute(
                "insert into accounts (public_id, email, email_confirmed_at, plan)"
                " values (%s, %s, now(), 'enterprise') returning id",
                (f"acc_{person.number}", person.email),
            ).fetchone()
            database.execute(
                "insert into api_keys (account_id, key_hash, ending, name, created_at)"
                " values (%s, %s, %s, 'Key', now())",
                (row and row[0], digest(person.key), person.key[-4:]),
            )


@dataclass
class Crowd:
    """The callers that act for all people, on the REST interface of the web host."""

    people: list[Person]
    url: str
    part: Callable[[], float]  # of the month that is over
    day_seconds: float  # of the machine
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)  # what the service refused to do, which it never should
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "Crowd":
        for number in range(CALLERS):
            thread = threading.Thread(target=self._act, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _act(self, caller: int) -> None:
        """Each caller acts for its own part of the people, one after the other."""
        mine, dice = self.people[caller::CALLERS], random.Random(f"{self.seed} {caller}")
        pause = self.day_seconds / VISITS_A_DAY / max(1, len(mine))
        while not self._stop.wait(pause if not self._is_anyone_waiting(mine) else 0.02):
            here = [person for person in mine if person.joins <= self.part()]
            if not here:
                continue
            person = next((one for one in here if one.to_do), None)
            if person is not None:
                self._set_up(person)
            else:
                self._visit(dice.choice(here), dice)

    def _is_anyone_waiting(self, people: list[Person]) -> bool:
        return any(person.to_do and person.joins <= self.part() for person in people)

    def _set_up(self, person: Person) -> None:
        """One wish; one that was not answered is said again. One that was refused is a fault, and given up."""
        tool, arguments = person.to_do[0]
        if person.is_in_doubt and tool in LISTED:
            listing, name = LISTED[tool]
            listed = self._call(person, listing, {})
            if listed is None:
                return
            if listed[name]:
                del person.to_do[0]
                return
        refusals = len(self.refused)
        is_done = self._call(person, tool, arguments) is not None
        person.is_in_doubt = not is_done
        if is_done or len(self.refused) > refusals:
            del person.to_do[0]

    def _visit(self, person: Person, dice: random.Random) -> None:
        turn = dice.random()
        if turn < 0.4:
            self._call(person, dice.choice(("list_notifications", "list_trips", "list_points_balances")), {})
            return
        person.tried += 1
        if turn < 0.8:
            number = person.tried
            if self._call(person, "update_points_balance", {"program": COUNTED, "balance": number}) is not None:
                person.stored = number
        elif self._call(person, "create_trip", {"name": (name := f"trip {person.number} {person.tried}")}) is not None:
            person.trips.append(name)

    def _call(self, person: Person, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """What the service answered when it did what it was asked; otherwise None, after a moment."""
        headers = {"Authorization": f"Bearer {person.key}"}
        try:
            answer = httpx.post(
                f"{self.url}/api/v1/tools/{tool}", json=arguments, headers=headers, timeout=30, trust_env=False
            )
        except httpx.TransportError as error:
            self.outcomes[type(error).__name__] += 1
            self._stop.wait(0.2)
            return None
        self.outcomes[str(answer.status_code)] += 1
        if answer.status_code < 300:
            done: dict[str, Any] = answer.json()
            return done
        if answer.status_code < 500:
            self.refused.append(f"{tool} {answer.status_code} {answer.text[:200]}")
        self._stop.wait(0.2)
        return None


def find_lost_writes(database: "psycopg.Connection[Any]", people: list[Person]) -> list[str]:
    """What the service said it stored and has not; and what it stored more than once."""
    trips = Counter(name for (name,) in database.execute("select name from trips").fetchall())
    counts = dict(
        database.execute(
            "select a.email, b.balance from points_balances b join accounts a on a.id = b.account_id"
            " where b.program = %s",
            (COUNTED,),
        ).fetchall()
    )
    wrong = [f"trip {name} is gone" for person in people for name in person.trips if not trips[name]]
    wrong += [f"trip {name} stands {number} times" for name, number in trips.items() if number > 1]
    return wrong + [
        f"{p.email}: {counts.get(p.email)} for {p.stored}" for p in people if p.stored > counts.get(p.email, 0)
    ]
