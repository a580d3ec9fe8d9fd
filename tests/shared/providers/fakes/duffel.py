"""Duffel's server: one offer request, over the recorded answer."""

import json as plain
from datetime import date
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from shared.providers.contract import FaresQuestion
from tests.shared.providers.fakes import INJECTION, SECRET, Fake, json, on_day, recorded


def offered() -> dict[str, Any]:
    told: dict[str, Any] = plain.loads(recorded("duffel", "offers.json"))
    return told


def good(request: Request) -> Response:
    asked = plain.loads(request.state.body)["data"]["slices"][0]["departure_date"]
    return json(on_day(recorded("duffel", "offers.json"), "2027-03-09", asked))


def empty(_request: Request) -> Response:
    told = offered()
    told["data"]["offers"] = []
    return json(plain.dumps(told).encode())


def unknown(_request: Request) -> Response:
    """A cabin and a price no one has heard of."""
    told = offered()
    offers = told["data"]["offers"]
    offers[3] = {**offers[0], "total_amount": INJECTION}
    offers[1]["slices"][0]["segments"][0]["passengers"][0]["cabin_class"] = INJECTION
    return json(plain.dumps(told).encode())


FAKES = (
    Fake(
        "duffel",
        "cash_fares",
        FaresQuestion("LHR", "JFK", date(2027, 3, 9), None, "business", 1, "GBP"),
        SimpleNamespace(good=good, empty=empty, unknown=unknown),
        environment={"DUFFEL_API_KEY": SECRET},
        expected={"unauthorized": ("broken", "bad_key")},
        reset_header="ratelimit-reset",
    ),
)
