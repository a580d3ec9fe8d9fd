"""SerpApi's server: one page of fares."""

from datetime import date

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import FaresQuestion
from tests.shared.providers.fakes import SECRET, Fake, json, recorded

QUESTION = FaresQuestion("LHR", "JFK", date(2027, 3, 9), None, "business", 1, "USD")


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return json(recorded("serpapi", "one_way.json"))

    @staticmethod
    def empty(request: Request) -> Response:
        return json(recorded("serpapi", "empty.json"))

    @staticmethod
    def unknown(request: Request) -> Response:
        return json(
            recorded("serpapi", "one_way.json").replace(
                b'"Business","flight_number":"BA', b'"Suite","flight_number":"BA'
            )
        )


FAKES = [
    Fake(
        "serpapi",
        "cash_fares",
        QUESTION,
        Replies(),
        environment={"SERPAPI_API_KEY": SECRET},
        key_in_query=True,
        said={"unauthorized": f'{{"error": "Invalid API key {SECRET}"}}'},
    )
]
