"""AeroAPI's server: the delays of one airport."""

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import DelaysQuestion
from tests.shared.providers.fakes import SECRET, Fake, json, recorded


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return json(recorded("flightaware", "delays.json"))

    @staticmethod
    def empty(request: Request) -> Response:
        return json(recorded("flightaware", "empty.json"))

    @staticmethod
    def unknown(request: Request) -> Response:
        return json(recorded("flightaware", "unknown.json"))


FAKES = [
    Fake(
        "flightaware",
        "airport_delays",
        DelaysQuestion("LHR"),
        Replies(),
        environment={"FLIGHTAWARE_API_KEY": SECRET},
        said={"quota": recorded("flightaware", "quota.json").decode()},
    )
]
