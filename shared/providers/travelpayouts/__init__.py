"""Travelpayouts: cash fares that users of Aviasales were shown in the last 2 to 7 days.

Never a live quote. Prices are of cities, not of single airports, and are found for one passenger.
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
