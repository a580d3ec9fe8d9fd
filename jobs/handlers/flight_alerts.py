"""The runs of flight alerts."""

from functools import partial

from jobs.seat_checks import check_seats
from shared.services.watches.flight_alerts import FlightAlerts

check = partial(check_seats, FlightAlerts())
