"""SerpApi: cash fares from Google Flights, with the operator's key."""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.serpapi.client import connect

PROVIDER = Provider(
    name="serpapi",
    answers=("cash_fares",),
    fresh_for=timedelta(hours=1),
    build=connect,
    credential="operator",
    setting="serpapi_api_key",
    terms="anyone",
)
