"""Frankfurter: a blend of many central banks' rates, for currencies without an ECB rate.

Public, without a key. Its figures are means over several banks and are named so (`BLEND`), never as one bank's rate.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.frankfurter.client import connect

BLEND = "central-bank blend via frankfurter"
PROVIDER = Provider(
    name="frankfurter", answers=("exchange_rates",), fresh_for=timedelta(hours=4), build=connect, terms="anyone"
)
