"""The FAA's server: the country's document and the list behind its page, as of now."""

import re
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from shared import clock
from shared.providers.contract import DelaysQuestion
from tests.shared.providers.fakes import Fake, json, recorded


def now(body: bytes, ago: timedelta = timedelta(0)) -> bytes:
    said = f"{clock.now() - ago:%a %b %d %H:%M:%S %Y} GMT".encode()
    return re.sub(rb"<Update_Time>[^<]*", b"<Update_Time>" + said, body)


def _xml(request: Request, name: str, other: bytes) -> Response:
    if request.url.path.endswith("/airport-events"):
        return json(other)
    return Response(now(recorded("faa_nas", name)), media_type="application/xml")


class Replies:
    @staticmethod
    def good(request: Request) -> Response:
        return _xml(request, "document.xml", recorded("faa_nas", "events.json"))

    @staticmethod
    def empty(request: Request) -> Response:
        return _xml(request, "nothing.xml", b"[]")

    @staticmethod
    def unknown(request: Request) -> Response:
        return _xml(request, "unknown.xml", b"[]")


FAKES = [Fake("faa_nas", "airport_delays", DelaysQuestion("BOS"), Replies())]
