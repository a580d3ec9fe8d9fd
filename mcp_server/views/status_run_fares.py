"""Fares of status runs seen in earlier searches: known routings go in, the newest price of each comes out, if any.

A price counts for a run only where carrier, cabin and number of stops are the run's own.
"""

from collections.abc import Sequence
from datetime import date

from mcp_server.toolkit.context import Call
from mcp_server.views.money import cents
from shared.db.observations import FareObservation
from shared.domain.status_runs import Run, SeenFare
from shared.services.search.exchange_rates import kept_rates, none_known
from shared.services.search.price_memory import round_trips_seen

CABINS = {"premium": "premium_economy"}


def fares_of(call: Call, runs: Sequence[Run], currency: str, until: date) -> dict[str, SeenFare]:
    """By run, in one currency; a fare no kept exchange rate is known for is left out."""
    ways = {(run.stops[0], turn) for run in runs if (turn := run.turns_at)}
    seen = round_trips_seen(call.db, call.account_id, ways, call.today, until) if ways else []
    currencies = {currency, *(row.currency for row in seen)}
    rates = kept_rates(currencies) if len(currencies) > 1 else none_known()
    found: dict[str, SeenFare] = {}
    for run in runs:
        for row in (r for r in seen if _fits(run, r)):
            amount = rates.amount(row.price, row.currency, currency)
            if amount is not None:
                shown = cents(amount, currency)
                found[run.slug] = SeenFare(shown, row.date, row.source, row.seen_at, row.provider_checked_at)
                break
    return found


def _fits(run: Run, row: FareObservation) -> bool:
    return (
        (row.origin, row.destination, row.stops) == (run.stops[0], run.turns_at, run.changes)
        and set(row.carriers) == {run.carrier}
        and row.cabin == CABINS.get(run.cabin, run.cabin)
    )
