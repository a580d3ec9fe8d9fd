"""The runs of route monitors."""

from functools import partial

from jobs.seat_checks import check_seats
from shared.services.watches.route_monitors import RouteMonitors

check = partial(check_seats, RouteMonitors())
