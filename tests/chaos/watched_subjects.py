"""What the watches of the chaos tests look at: one person, a watch of each kind and, on request, news for all."""

from typing import Any

import psycopg

from shared.reference import hotels
from shared.reference.load import reference

EVERY = 4.0  # seconds between two checks of a watch
AIRPORTS = ("ATL", "DEN", "JFK", "LAX", "ORD", "SEA")
KINDS = ("route_monitor", "flight_alert", "hotel_price_drop", "delay_alert")  # of the notices they send

_ACCOUNT = """insert into accounts (public_id, email, email_confirmed_at) values ('acc', 'a@example.test', now())
 returning id"""
# Routes and dates that always have seats in the sandbox; no two watch the same day.
_MONITORS = """insert into route_monitors (account_id, synthetic, origin, destination, earliest_date, latest_date,
  cabin, airlines)
 select %(account)s, true, 'LHR', 'JFK', current_date + 30 + 8 * n, current_date + 37 + 8 * n, 'economy', '{BA}'
 from generate_series(1, %(number)s) n"""
_ALERTS = """insert into flight_alerts (account_id, synthetic, departure, destination, date_range_start,
  date_range_end, cabin_class, airline)
 select %(account)s, true, 'LHR', 'BOS', current_date + 30 + 8 * n, current_date + 37 + 8 * n, 'economy', 'BA'
 from generate_series(1, %(number)s) n"""
_STAYS = """insert into hotel_bookings (account_id, hotel_code, hotel_name, check_in_date, check_out_date, kind,
  original_pay_rate_usd, cash_rate_currency)
 select %(account)s, %(hotel)s, 'Hotel', current_date + 30 + 3 * n, current_date + 32 + 3 * n, 'cash', 99999, 'USD'
 from generate_series(1, %(number)s) n"""
_DELAYS = """insert into delay_alerts (account_id, synthetic, airport, channels, min_delay_minutes)
 select %(account)s, true, a, '{email}', 15 from unnest(%(airports)s::text[]) a"""
_SCHEDULES = """insert into schedules (kind, subject_id, every, next_due_at)
 select kind, id, make_interval(secs => %(every)s), now() + make_interval(secs => %(every)s * random())
 from (select 'route_monitor' kind, id from route_monitors union all select 'flight_alert', id from flight_alerts
  union all select 'hotel_price', id from hotel_bookings) x"""

# Forgetting what was told makes all that is open news once more.
_NEWS = (
    "delete from route_monitor_keys",
    "delete from flight_alert_keys",
    "delete from mailed_seats",
    "delete from hotel_prices",
    "update hotel_bookings set told_price = null",
    "update delay_alerts set episode_since = null, episode_level = null",
)


def plant(database: "psycopg.Connection[Any]", number: int) -> None:
    """One account that wants every mail, and so many watches of each kind."""
    row = database.execute(_ACCOUNT).fetchone()
    hotel = hotels.code(reference().rows("hotels.csv")[0])
    told = {"account": row and row[0], "number": number, "hotel": hotel, "airports": list(AIRPORTS), "every": EVERY}
    database.execute("insert into profiles (account_id, mail_hotel_price_drops) values (%(account)s, true)", told)
    for statement in (_MONITORS, _ALERTS, _STAYS, _DELAYS, _SCHEDULES):
        database.execute(statement, told)


def renew(database: "psycopg.Connection[Any]", dice: Any) -> None:
    """One of the ways in which there is something to tell again; a lock held by a check is not waited for."""
    statement = dice.choice(_NEWS)
    try:
        database.execute("set lock_timeout = '200ms'")
        database.execute(statement)
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
        return


def delays(queue: Any) -> None:
    """The sandbox's airports are late; an emptied queue server forgets that, so it is said again."""
    queue.hset("award:sandbox:overrides", mapping={f"delay|{airport}": "120" for airport in AIRPORTS})
