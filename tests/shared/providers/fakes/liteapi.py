"""LiteAPI's server: its list of hotels and their rates by path, over the recorded answers."""

import json as plain
from datetime import date
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import StaysQuestion
from tests.shared.providers.fakes import INJECTION, SECRET, Fake, json, recorded
from tests.shared.providers.fakes.rooms_aero import HOTEL

DAY = date(2027, 3, 10)


def _listing(request: Request) -> bool:
    return request.url.path.endswith("/data/hotels")


def good(request: Request) -> Response:
    return json(recorded("liteapi", "hotels.json" if _listing(request) else "rates.json"))


def empty(request: Request) -> Response:
    return json(recorded("liteapi", "hotels.json" if _listing(request) else "nothing_left.json"))


def unknown(request: Request) -> Response:
    """Rates of a kind and of a hotel no one has heard of."""
    if _listing(request):
        return good(request)
    told: dict[str, Any] = plain.loads(recorded("liteapi", "rates.json"))
    strange = {**told["data"][0], "hotelId": INJECTION}
    told["data"][0]["roomTypes"][0]["rates"][0]["boardType"] = INJECTION
    return json(plain.dumps(told | {"data": [strange, *told["data"]]}).encode())


FAKES = (
    Fake(
        "liteapi",
        "hotel_stays",
        StaysQuestion((HOTEL,), DAY, DAY, nights=3, guests=2, currency="USD"),
        SimpleNamespace(good=good, empty=empty, unknown=unknown),
        environment={"LITEAPI_KEY": SECRET},
        said={"unauthorized": '{"error":{"code":4001,"message":"unauthorized"}}'},
    ),
)
