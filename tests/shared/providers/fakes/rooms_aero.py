"""rooms.aero's server: one search, over the recorded answer."""

import json as plain
from datetime import date
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import HotelSpot, StaysQuestion
from tests.shared.providers.fakes import INJECTION, SECRET, Fake, json, on_day, recorded

HOTEL = HotelSpot("htl_park_hyatt_tokyo", "Park Hyatt Tokyo", "world-of-hyatt", "Tokyo", "JP", 35.69, 139.69, None)
DAY = date(2027, 2, 3)


def _body(request: Request) -> bytes:
    return on_day(recorded("rooms_aero", "search.json"), DAY.isoformat(), request.query_params.get("start_date"))


def good(request: Request) -> Response:
    return json(_body(request))


def empty(_request: Request) -> Response:
    return json(b'{"data": [], "has_more": false}')


def unknown(request: Request) -> Response:
    told: dict[str, Any] = plain.loads(_body(request))
    strange = {**told["data"][0], "hotel": {**told["data"][0]["hotel"], "id": "h_9", "source": INJECTION}}
    return json(plain.dumps(told | {"data": [strange, {"hotel": None}, *told["data"]]}).encode())


FAKES = (
    Fake(
        "rooms_aero",
        "hotel_stays",
        StaysQuestion((HOTEL,), DAY, DAY, nights=3, guests=2, currency="USD"),
        SimpleNamespace(good=good, empty=empty, unknown=unknown),
        environment={"ROOMS_AERO_API_KEY": SECRET},
        expected={"unauthorized": ("broken", "bad_key"), "forbidden": ("not_permitted", "plan")},
        said={"unauthorized": "bad_partner_key", "forbidden": '{"error":"pro_user_required","message":"Pro only"}'},
        reset_header="x-ratelimit-reset",
    ),
)
