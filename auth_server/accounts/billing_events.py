"""POST /hooks/billing: events of the payment service, each taken once; their subject is queried afterwards."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from auth_server.web.flows import count_request, run_counted
from auth_server.web.outcomes import NO_STORE
from auth_server.web.request_data import RequestData, get_peer, to_request_data
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.asgi import read_body
from shared.billing.contract import CustomerEvent, SignatureWrong
from shared.billing.registry import find_door
from shared.db import billing

PATH = "/hooks/billing"
MAX_BYTES, MAX_SECONDS = 256 << 10, 15.0


async def take_event(request: Request) -> Response:
    """Answers 200 once the event is committed. Until then the payment service retries, for days.

    Signed events do not count against an address's limit: they come in bursts, all from a few addresses.
    """
    door = find_door()
    if door.read_event is None:
        return JSONResponse({"error": "not_found"}, 404, NO_STORE)
    body = await read_body(request.scope, request.receive, max_bytes=MAX_BYTES, max_seconds=MAX_SECONDS)
    try:
        event = door.read_event(body, request.headers, clock.now())
    except SignatureWrong as error:
        await count_request(get_peer(request))
        return JSONResponse({"error": "signature_wrong", "message": str(error)}, 400, NO_STORE)
    is_new = await run_counted(_store_event(door.name, event), to_request_data(request))
    return JSONResponse({"received": True, "new": is_new}, 200, NO_STORE)


def _store_event(door: str, event: CustomerEvent) -> Callable[[UnitOfWork, RequestData], bool]:
    def flow(uow: UnitOfWork, _data: RequestData) -> bool:
        return billing.take_event(uow.db, door, event.id, event.kind, event.customer_id)

    return flow
