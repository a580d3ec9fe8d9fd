"""The runs of route monitors."""

from jobs.seat_checks import SeatChecks
from shared.services.watches.route_monitors import RouteMonitors

_CHECKS = SeatChecks(RouteMonitors())
check, check_together = _CHECKS.check, _CHECKS.check_together
