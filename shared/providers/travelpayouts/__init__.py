"""Travelpayouts: cash fares shown to users of Aviasales in the last 2 to 7 days.

Never a live quote. Prices are for cities, not single airports, and for one passenger.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.travelpayouts.client import connect

PROVIDER = Provider(
    name="travelpayouts",
    answers=("cash_fares",),
    fresh_for=timedelta(hours=4),
    build=connect,
    credential="operator",
    setting="travelpayouts_token",
    terms="anyone",
)
