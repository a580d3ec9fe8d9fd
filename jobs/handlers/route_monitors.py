"""The runs of route monitors."""

from jobs.seat_checks import SeatChecks
from shared.services.watches.checks_together import prepare_simple, settle_together
from shared.services.watches.route_monitors import prepare, settle

_CHECKS = SeatChecks(prepare, settle, prepare_simple, settle_together)
check, check_together = _CHECKS.check, _CHECKS.check_together
