"""The European Central Bank's server: its daily file. One without any rate is no answer."""

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import RatesQuestion
from tests.shared.providers.fakes import Fake, recorded


def _xml(name: str) -> Response:
    return Response(recorded("ecb", name), media_type="text/xml")


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return _xml("daily.xml")

    @staticmethod
    def empty(request: Request) -> Response:
        return _xml("empty.xml")

    @staticmethod
    def unknown(request: Request) -> Response:
        return _xml("unknown.xml")


FAKES = [Fake("ecb", "exchange_rates", RatesQuestion(), Replies(), expected={"empty": ("down", "wrong_shape")})]
