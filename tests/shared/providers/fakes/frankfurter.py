"""Frankfurter's server: blended rates of the currencies asked for."""

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import RatesQuestion
from tests.shared.providers.fakes import Fake, json, recorded


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return json(recorded("frankfurter", "rates.json"))

    @staticmethod
    def empty(request: Request) -> Response:
        return json(b"[]")

    @staticmethod
    def unknown(request: Request) -> Response:
        return json(recorded("frankfurter", "unknown.json"))


FAKES = [Fake("frankfurter", "exchange_rates", RatesQuestion(("AED", "QAR")), Replies())]
