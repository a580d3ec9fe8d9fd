"""The kinds of watches: what each is called, where it is shown, which run checks it, and how people are told of it.

All code that needs every kind reads WATCH_KINDS: limits of plans, runs, pauses, mails, notices, pages and figures.
`deploy/docs/contribute.md` says which files make a new kind.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple


class Caps(NamedTuple):
    """How many may run on each plan, in the order of `domain.plans.Plan`."""

    free: int
    premium: int
    pro: int
    enterprise: int


@dataclass(frozen=True, kw_only=True)
class WatchKind:
    """One kind. The texts of `name`, `run`, `events` and `mails` are stored, so they never change."""

    name: str  # of one watch: in links, and as the subject of notices
    files: str  # of its modules in `shared.db`, `jobs.handlers` and `auth_server.pages`
    table: str
    run: str  # the kind of its runs
    has_own_runs: bool = True  # or one run checks all of them
    catches_up: bool = True  # a check that was missed while its plan paused it is made up for
    caps: Caps | None  # None: it comes with a booking, and no plan limits it
    path: str  # of the page of one, before its number
    events: tuple[str, ...]  # that are mailed, and can be turned off together
    number: str  # the fact of these events with the number of the watch, or with pairs that start with one
    wording: str  # the module of `shared.outbox.wording` that has their title and body
    mails: str  # the name of these events where people choose
    mail_words: tuple[str, str]  # of the choice: its name, and when one comes
    has_mail_switch: bool = True  # in the profile; or each watch has its own switch
    label: str  # of its notices
    is_find: bool = False  # the weekly overview repeats what it found
    max_age: timedelta | None = None  # an older message is not sent
    pause_words: str | None = None  # of the link in a mail that pauses it; None: no link
    counted_as: str = ""  # in the figures for administrators

    @property
    def noun(self) -> str:
        return self.name.replace("_", " ")

    @property
    def nouns(self) -> str:
        return f"{self.noun}s"

    @property
    def notice(self) -> str:
        """The kind of its notices."""
        return self.mails.removesuffix("s")

    def cap(self, plan: int) -> int:
        """How many of these a plan allows at once."""
        return self.caps[plan] if self.caps else 0


ROUTE_MONITOR = WatchKind(
    name="route_monitor",
    files="route_monitors",
    table="route_monitors",
    run="route_monitor",
    caps=Caps(free=1, premium=20, pro=50, enterprise=200),
    path="/dashboard/watches/route",
    events=("route_monitor_match",),
    number="monitor_id",
    wording="award_seats",
    mails="route_monitors",
    mail_words=("Route monitors", "when one of your monitors finds new award seats"),
    label="Watch",
    is_find=True,
    pause_words="Pause this watch",
    counted_as="monitors",
)
FLIGHT_ALERT = WatchKind(
    name="flight_alert",
    files="flight_alerts",
    table="flight_alerts",
    run="flight_alert",
    caps=Caps(free=1, premium=25, pro=100, enterprise=500),
    path="/dashboard/watches/flight",
    events=("flight_alert_match",),
    number="alert_id",
    wording="award_seats",
    mails="flight_alerts",
    mail_words=("Flight alerts", "when award seats open on a flight you watch"),
    label="Alert",
    is_find=True,
    pause_words="Pause this alert",
    counted_as="alerts",
)
DELAY_ALERT = WatchKind(
    name="delay_alert",
    files="delay_alerts",
    table="delay_alerts",
    run="airport_delays",
    has_own_runs=False,
    caps=Caps(free=0, premium=10, pro=25, enterprise=100),
    path="/dashboard/watches/delay",
    events=("delay_alert",),
    number="alerts",
    wording="delay_alerts",
    mails="delay_alerts",
    mail_words=("Delay alerts", "when an airport you watch has delays; in quiet hours they are left out"),
    has_mail_switch=False,
    label="Delays",
    max_age=timedelta(hours=1),
    pause_words="Pause this alert",
    counted_as="alerts",
)
STANDING_ORDER = WatchKind(
    name="standing_order",
    files="standing_orders",
    table="standing_orders",
    run="standing_order",
    catches_up=False,
    caps=Caps(free=0, premium=10, pro=25, enterprise=100),
    path="/dashboard/watches/order",
    events=("standing_order_done", "standing_order_failed"),
    number="order_id",
    wording="standing_orders",
    mails="standing_orders",
    mail_words=("Standing orders", "the result of each run"),
    label="Standing order",
    counted_as="standing_orders",
)
HOTEL_ALERT = WatchKind(
    name="hotel_alert",
    files="hotel_alerts",
    table="hotel_bookings",
    run="hotel_alert",
    caps=Caps(free=0, premium=20, pro=50, enterprise=200),
    path="/dashboard/watches/hotel",
    events=("hotel_alert_match",),
    number="booking_id",
    wording="hotel_alerts",
    mails="hotel_price_drops",
    mail_words=("Hotel prices", "when a stay you booked becomes cheaper, or one you watch opens at your price"),
    label="Hotel price",
    is_find=True,
    pause_words="Pause this alert",
    counted_as="alerts",
)
HOTEL_PRICE = WatchKind(
    name="hotel_booking",
    files="hotel_prices",
    table="hotel_bookings",
    run="hotel_price",
    caps=None,
    path="/dashboard/bookings/stays",
    events=("hotel_price_drop",),
    number="booking_id",
    wording="hotel_prices",
    mails="hotel_price_drops",
    mail_words=HOTEL_ALERT.mail_words,
    label=HOTEL_ALERT.label,
    is_find=True,
    pause_words="Stop checking this price",
)
WATCH_KINDS = (ROUTE_MONITOR, FLIGHT_ALERT, DELAY_ALERT, STANDING_ORDER, HOTEL_ALERT, HOTEL_PRICE)
LIMITED_KINDS = tuple(kind for kind in WATCH_KINDS if kind.caps)
KIND_OF_EVENT = {event: kind for kind in WATCH_KINDS for event in kind.events}
