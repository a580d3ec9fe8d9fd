"""Types of a connection to a person's own account: what a provider's `connect.CONNECTOR` is made of."""

import importlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from shared.domain.plans import INTEGRATIONS

NAMES = tuple(INTEGRATIONS)
Details = Mapping[str, Any]


class Declined(Exception):
    """The person came back without consenting."""


@dataclass(frozen=True)
class Grant:
    """What the provider gave: sealed before it is stored, except the details, which hold no secret."""

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    expires_in: int | None = None
    scope: str | None = None
    details: Details = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """Where the browser goes next, and what the way back will need; the latter is sealed until then."""

    url: str
    saved: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class TrackedAccount:
    """One programme in a points tracker. Names are the tracker's own words."""

    code: str
    name: str
    balance: int | None
    expires_on: date | None
    tier: str | None
    checked_at: datetime | None
    stale: bool  # the tracker could not look recently


@dataclass(frozen=True)
class Leg:
    """One flight of a trip organiser. Times are local to their airport."""

    ref: str
    airline: str
    flight_number: str | None
    origin: str
    destination: str
    departure_date: date
    departure_time: time | None
    arrival_date: date | None
    arrival_time: time | None
    cabin: str | None
    confirmation_number: str | None


@dataclass(frozen=True)
class Stay:
    ref: str
    hotel: str
    check_in: date
    check_out: date
    confirmation_number: str | None


@dataclass(frozen=True)
class Pulled:
    """All the provider's data; `unreadable` counts entries that could not be read."""

    accounts: tuple[TrackedAccount, ...] = ()
    legs: tuple[Leg, ...] = ()
    stays: tuple[Stay, ...] = ()
    trips: int = 0
    unreadable: int = 0


# The columns of each kind of row, in order; the last one is its state.
COLUMNS = {
    "balance": ("program", "name", "balance", "expires_on", "as_of", "state"),
    "flight": (
        *("airline", "flight_number", "origin", "destination", "departure_date", "departure_time", "cabin"),
        *("paid_with", "points", "cash", "currency", "confirmation_number", "state"),
    ),
    "hotel": (
        *("hotel", "check_in", "check_out", "room", "paid_with", "points", "cash", "currency"),
        *("confirmation_number", "state"),
    ),
}


@dataclass(frozen=True)
class Row:
    """One row of ours as the outside sees it: its kind, a key of ours that begins with it, its values by column."""

    kind: Literal["balance", "flight", "hotel"]
    key: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """What a push changed (or would change), by the keys of the rows, and what to remember of it."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    details: Details = field(default_factory=dict)
    failed: bool = False  # it stopped midway: these arrived, the rest did not


@dataclass(frozen=True)
class Push:
    """An account's present rows, and the memory of the last push."""

    credential: str = field(repr=False)
    details: Details
    rows: tuple[Row, ...]
    dry_run: bool


@dataclass(frozen=True)
class Connector:
    """The card of a connection. Anything that makes outside calls raises Declined, or a provider client's errors."""

    title: str
    shares: tuple[str, ...]  # what the person agrees to, in sentences
    configured: Callable[[], bool]
    start: Callable[[str, str], Awaitable[Start]] | None  # redirect address, state
    finish: Callable[[Mapping[str, str], Mapping[str, str], str], Awaitable[Grant]] | None  # query, kept, redirect
    renew: Callable[[str], Awaitable[Grant]] | None = None
    revoke: Callable[[str, str | None], Awaitable[bool]] | None = None  # access, refresh; whether the provider did
    paste: Callable[[str], Awaitable[Grant]] | None = None  # an address or text the person pastes instead
    pull: Callable[[str, Details], Awaitable[Pulled]] | None = None
    push: Callable[[Push], Awaitable[Written]] | None = None
    consents: tuple[str, ...] = ()  # boxes the person may tick; their names go into the details
    bearer: bool = True  # whether the credential is a bearer token
    by_page: Callable[[], bool] = lambda: True  # whether connecting through the provider's page is possible
    life: timedelta = timedelta(minutes=10)  # how long a person may take
    used_by: tuple[str, ...] = ()  # the features that use it
    after: str = ""  # what the person must still do after a disconnection


def connector(name: str) -> Connector:
    card: Connector = importlib.import_module(f"shared.providers.{name}.connect").CONNECTOR
    return card
