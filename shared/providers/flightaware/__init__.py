"""FlightAware's AeroAPI: airport delays worldwide, with the operator's key. It may be used next to the FAA."""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.flightaware.client import connect

PROVIDER = Provider(
    name="flightaware",
    answers=("airport_delays",),
    fresh_for=timedelta(minutes=5),
    build=connect,
    credential="operator",
    setting="flightaware_api_key",
    terms="anyone",
)
