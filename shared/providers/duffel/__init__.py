"""Duffel: cash fares on sale now, from airlines themselves. Each search may cost its operator money.

A test key answers with flights that do not exist; so this source refuses to use one.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.duffel.client import connect

PROVIDER = Provider(
    name="duffel",
    answers=("cash_fares",),
    fresh_for=timedelta(minutes=15),  # offers end after about half an hour
    build=connect,
    credential="operator",
    setting="duffel_api_key",
    terms="anyone",
    timeout=20,
)
