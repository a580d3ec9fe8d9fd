"""LiteAPI: cash prices of stays, from a wholesaler of rooms. It sells no award nights.

A test key gives prices that cannot be booked, so this source refuses to use one.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.liteapi.client import connect

PROVIDER = Provider(
    name="liteapi",
    answers=("hotel_stays",),
    fresh_for=timedelta(hours=1),
    build=connect,
    credential="operator",
    setting="liteapi_key",
    terms="anyone",
    timeout=20,
)
