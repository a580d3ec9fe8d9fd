"""seats.aero's server: searches and trips by path, over the recorded answers."""

import json as plain
from datetime import date
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import SeatsQuestion, TripQuestion
from tests.shared.providers.fakes import INJECTION, SECRET, Fake, json, on_day, recorded


def _answer(request: Request) -> dict[str, Any]:
    name = "trips.json" if "/trips/" in request.url.path else "search.json"
    body = on_day(recorded("seats_aero", name), "2027-03-09", request.query_params.get("start_date"))
    told: dict[str, Any] = plain.loads(body)
    return told


def good(request: Request) -> Response:
    return json(plain.dumps(_answer(request)).encode())


def empty(request: Request) -> Response:
    return json(plain.dumps(_answer(request) | {"data": []}).encode())


def unknown(request: Request) -> Response:
    """A programme and a cabin no one has heard of."""
    told = _answer(request)
    strange = {**told["data"][0], "ID": "2sbxStrange", "Source": INJECTION, "Cabin": INJECTION}
    return json(plain.dumps(told | {"data": [strange, *told["data"]]}).encode())


def served(verb: str, question: Any) -> Fake:
    return Fake(
        "seats_aero",
        verb,
        question,
        SimpleNamespace(good=good, empty=empty, unknown=unknown),
        environment={"SEATS_AERO_API_KEY": SECRET},
        expected={"unauthorized": ("broken", "bad_key"), "forbidden": ("not_permitted", "plan")},
        said={
            "unauthorized": "bad_partner_key",
            "forbidden": '{"error":true,"code":"pro_key_required"}',
            "quota": "user_rate_limit_exceeded",
        },
        reset_header="x-ratelimit-reset",
    )


FAKES = (
    served("award_seats", SeatsQuestion("JFK", "LHR", date(2027, 3, 9), date(2027, 3, 9))),
    served("award_trip", TripQuestion("2sbxAvail01:2sbxTrip01")),
)
