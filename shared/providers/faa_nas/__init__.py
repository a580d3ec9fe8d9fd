"""The FAA's National Airspace System status: ground stops, delays and closures of US airports.

Public data without a key, one document for the whole country. It is fetched once for all airports asked about within
two minutes, and one caller at a time: those waiting find what the first one fetched.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.faa_nas.client import connect

PROVIDER = Provider(
    name="faa_nas",
    answers=("airport_delays",),
    fresh_for=timedelta(minutes=1),
    build=connect,
    terms="anyone",
    concurrency=1,
)
