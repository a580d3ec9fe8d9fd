"""Small JSON responses of the middleware: JSON-RPC errors about a whole request, and OAuth errors (RFC 6750 3)."""

from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json
from starlette.types import Send

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class JsonResponse:
    """One complete JSON answer."""

    status: int
    body: bytes
    headers: Headers = ()

    async def __call__(self, send: Send) -> None:
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def rpc_error(
    status: int, code: int, message: str, headers: Headers = (), *, about: int | str | None = None, **data: Any
) -> JsonResponse:
    """A JSON-RPC error about a request by its id; one about the whole body has none."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return JsonResponse(status, to_json({"jsonrpc": "2.0", "id": about, "error": error}), headers)


def oauth_error(status: int, error: str, description: str, headers: Headers = ()) -> JsonResponse:
    return JsonResponse(status, to_json({"error": error, "error_description": description}), headers)
