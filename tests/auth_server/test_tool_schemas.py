"""Schemas of tools, by which forms are drawn: read once in a while, and old ones serve while there is no newer."""

from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest

from auth_server.web import tool_server
from auth_server.web.tool_server import SCHEMA_SECONDS, Schemas

FIRST: dict[str, Any] = {"properties": {"name": {}}}
SECOND: dict[str, Any] = {"properties": {"label": {}}}


def test_a_schema_is_read_again_after_minutes_and_an_old_one_serves_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 1000.0
    monkeypatch.setattr(tool_server, "time", SimpleNamespace(monotonic=lambda: moment))
    answers = [httpx.Response(503), httpx.Response(200, json={"arguments": FIRST}), httpx.Response(200, content=b"<"),
               httpx.Response(200, json={"arguments": SECOND})]  # fmt: skip
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        assert "authorization" not in request.headers  # it is public, and a token of a page is no key
        return answers.pop(0)

    schemas = Schemas(httpx.AsyncClient(transport=httpx.MockTransport(answer)))

    def read() -> object:
        return anyio.run(schemas.read, "create_trip")

    assert read() == {}
    assert [read(), read()] == [FIRST, FIRST]
    assert len(asked) == 2
    moment += SCHEMA_SECONDS + 1
    assert [read(), read(), read()] == [FIRST, SECOND, SECOND]
    assert asked == ["/api/v1/tools/create_trip"] * 4
