"""Travelpayouts' server: the fares found of one month. None found says nothing of what is on sale."""

from datetime import date

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import FaresQuestion
from tests.shared.providers.fakes import SECRET, Fake, json, recorded

QUESTION = FaresQuestion("LHR", "JFK", date(2027, 3, 9), None, "economy", 1, "USD")


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return json(recorded("travelpayouts", "latest.json"))

    @staticmethod
    def empty(request: Request) -> Response:
        return json(recorded("travelpayouts", "empty.json"))

    @staticmethod
    def unknown(request: Request) -> Response:
        return json(recorded("travelpayouts", "latest.json").replace(b'"trip_class":0', b'"trip_class":"suite"', 1))


FAKES = [
    Fake(
        "travelpayouts",
        "cash_fares",
        QUESTION,
        Replies(),
        environment={"TRAVELPAYOUTS_TOKEN": SECRET},
        expected={"empty": ("no_data", "not_served")},
    )
]
