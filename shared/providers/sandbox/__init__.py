"""The sandbox: consistent invented answers, labelled as such.

It runs only while no live source is configured, and is never a fallback for one. Everything in it is marked: source
`sandbox`, references `sbx_...`, flight numbers no airline can have, links into `sandbox.invalid`.
To open or close a seat on purpose see `overrides`; to show outages set SANDBOX_FAULT to down, quota, empty or slow:3.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.sandbox.client import connect

PROVIDER = Provider(
    name="sandbox",
    answers=("award_seats", "award_trip", "cash_fares", "hotel_stays", "airport_delays", "exchange_rates"),
    fresh_for=timedelta(minutes=15),
    build=connect,
    terms="anyone",
    data_mode="sandbox",
)
