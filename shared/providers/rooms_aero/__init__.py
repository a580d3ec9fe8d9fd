"""rooms.aero: points and cash for stays of up to five nights in seven programmes, from its last crawl.

It knows nothing of more than two guests, and its rows may be weeks old; each says when it was seen.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.rooms_aero.client import connect

PROVIDER = Provider(
    name="rooms_aero",
    answers=("hotel_stays",),
    fresh_for=timedelta(hours=4),
    build=connect,
    credential="operator",
    setting="rooms_aero_api_key",
    terms="asker",
    timeout=20,
    calls_a_day=1000,
)
