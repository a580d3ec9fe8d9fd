"""One server on loopback for all fake sources: a source's name is the first part of the path, the kind is switched."""

import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from shared import provider_health
from shared.settings import settings
from tests.shared.providers.fakes import INJECTION, SECRET, Fake, fakes

QUOTA_SECONDS = 3600
STATUSES = {"unauthorized": 401, "forbidden": 403, "broken": 500, "gateway": 503}


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    provider: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class World:
    """The state of the server: which kind of answer each source gives, and what was asked."""

    port: int = 0
    kinds: dict[str, str] = field(default_factory=dict)
    serving: dict[str, Fake] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    dropped: threading.Event = field(default_factory=threading.Event)  # a caller went before the answer was whole

    def address(self, provider: str) -> str:
        return f"http://127.0.0.1:{self.port}/{provider}"

    def forget(self) -> None:
        self.kinds.clear()
        self.serving.clear()
        self.asked.clear()
        self.dropped.clear()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        provider, _, path = request.url.path.lstrip("/").partition("/")
        body = request.state.body = await request.body()
        heard = {k.lower(): v for k, v in request.headers.items()}
        self.asked.append(Asked(provider, request.method, f"/{path}", dict(request.query_params), heard, body))
        if path.startswith("elsewhere"):
            answer = Response("followed")
        else:
            answer = self.answer(self.serving[provider], self.kinds.get(provider, "good"), request)
        await answer(scope, receive, send)

    def answer(self, fake: Fake, kind: str, request: Request) -> Response:
        if kind in ("good", "empty", "unknown"):
            reply: Response = getattr(fake.replies, kind)(request)
            return reply
        if kind in STATUSES:
            return Response(fake.said.get(kind, f"{INJECTION} {SECRET}"), STATUSES[kind])
        if kind == "quota":
            return Response(fake.said.get(kind, INJECTION), 429, {fake.reset_header: str(QUOTA_SECONDS)})
        if kind == "redirect":
            return Response("", 302, {"location": f"/{fake.provider}/elsewhere"})
        if kind == "html":
            return Response(f"<html><title>Just a moment...</title>{INJECTION}</html>", media_type="text/html")
        if kind == "truncated":
            whole = bytes(fake.replies.good(request).body)
            return Response(whole[: len(whole) * 2 // 3], media_type="application/json")
        if kind == "huge":
            return StreamingResponse(self._pour(b" " * 65_536, 0), media_type="application/json")
        assert kind == "slow", kind
        return StreamingResponse(self._pour(b" ", 0.05), media_type="application/json")

    async def _pour(self, drop: bytes, pause: float) -> AsyncIterator[bytes]:
        """Without an end; anyone who goes away is noticed."""
        try:
            while True:
                yield drop
                await anyio.sleep(pause)
        finally:
            self.dropped.set()


@contextmanager
def running() -> Iterator[World]:
    world = World()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        world.port = listening.getsockname()[1]
        config = uvicorn.Config(world, log_config=None, access_log=False, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield world
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def fake_world() -> Iterator[World]:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    with running() as world:
        yield world


Pretend = Callable[..., World]


@pytest.fixture
def pretend(fake_world: World, clean: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pretend]:
    """pretend("seats_aero", "duffel", duffel="broken") puts this process in live mode with these sources on loopback.

    It may be called again to switch the kinds of answers. The fakes of one source answer by path, so its first one
    stands for all its verbs. `world.asked` is what they were asked.
    """

    def put(*providers: str, **kinds: str) -> World:
        monkeypatch.setenv("AWARD_BACKEND", "live")
        for provider in providers:
            fake = fake_world.serving[provider] = next(f for f in fakes() if f.provider == provider)
            monkeypatch.setenv(f"{provider}_base_url".upper(), fake_world.address(provider))
            for name, value in fake.environment.items():
                monkeypatch.setenv(name, value)
        fake_world.kinds |= kinds
        settings.cache_clear()
        return fake_world

    fake_world.forget()
    provider_health.LOCAL.clear()
    yield put
    monkeypatch.undo()
    settings.cache_clear()
