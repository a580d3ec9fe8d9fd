"""Client of Duffel's offer requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.providers.duffel import parse
from shared.settings import settings

TEST_KEYS = "duffel_test_"
SUPPLIER_TIMEOUT_MS = 15_000  # milliseconds: airlines that are slower are left out
READ_SECONDS = 19


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    headers = {"Authorization": f"Bearer {credential}", "Duffel-Version": "v2", "Accept": "application/json"}
    timeout = httpx.Timeout(READ_SECONDS, connect=5)
    async with http.client(settings().duffel_base_url, headers=headers, timeout=timeout) as client:
        yield Client(client, real=not (credential or "").startswith(TEST_KEYS))


class Client:
    def __init__(self, client: http.AsyncClient, *, real: bool) -> None:
        self._client = client
        self._real = real

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        """Fares come in the currency the operator's account is kept in, whatever is asked for."""
        if not self._real:
            raise Unanswered("not_permitted", "test_key")
        params = {"return_offers": "true", "supplier_timeout": str(SUPPLIER_TIMEOUT_MS)}
        try:
            body = await http.post(
                self._client, "/air/offer_requests", params=params, json={"data": _build_request(question)}
            )
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 401:
                raise Unanswered("broken", "bad_key") from None
            if error.response.status_code == 422:
                raise Unanswered("not_covered", "not_sold") from None
            raise
        return await anyio.to_thread.run_sync(parse.parse_fares, body, question.cabin, abandon_on_cancel=True)


def _build_request(question: FaresQuestion) -> dict[str, Any]:
    there = {
        "origin": question.origin,
        "destination": question.destination,
        "departure_date": question.date.isoformat(),
    }
    slices = [there]
    if question.return_date:
        back = {"origin": question.destination, "destination": question.origin}
        slices.append(back | {"departure_date": question.return_date.isoformat()})
    return {
        "slices": slices,
        "passengers": [{"type": "adult"}] * question.passengers,
        "cabin_class": question.cabin,
        "max_connections": 1,
    }
