"""The runs of flight alerts."""

from jobs.seat_checks import SeatChecks
from shared.services.watches.flight_alerts import FlightAlerts

_CHECKS = SeatChecks(FlightAlerts())
check, check_together = _CHECKS.check, _CHECKS.check_together
