"""The runs of flight alerts."""

from jobs.seat_checks import SeatChecks
from shared.services.watches.alerts_together import prepare_simple, settle_together
from shared.services.watches.flight_alerts import prepare, settle

_CHECKS = SeatChecks(prepare, settle, prepare_simple, settle_together)
check, check_together = _CHECKS.check, _CHECKS.check_together
