"""`award-travel try` and `token` while a request on their way is refused: one sentence, whichever request it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from deploy.client.try_client import Attempt, request_access_token, try_service
from deploy.errors import CommandError, user_message
from deploy.local.home import Home
from tests.support.service import PASSWORD, Service, command, wait_for

pytestmark = pytest.mark.slow  # signs in again and again
WORDS = "Closed for an hour."
ANSWERS: dict[str, Callable[[Any], Any]] = {
    "oauth": lambda library: library.Response(
        503, json={"error": "temporarily_unavailable", "error_description": WORDS}
    ),
    "problem": lambda library: library.Response(429, json={"title": "No", "detail": WORDS}),
    "page": lambda library: library.Response(500, html="<title>Sorry</title>"),
}
MAX_REQUESTS = 30


class Refusing:
    """Answers one request of all that both libraries send, the one whose turn it is, in place of the service."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turn, self.count, self.answer = 0, 0, ANSWERS["oauth"]
        send, send_async = httpx.HTTPTransport.handle_request, httpx2.AsyncHTTPTransport.handle_async_request

        def handle(transport: Any, request: Any) -> Any:
            return self._answer(httpx) if self._is_turn() else send(transport, request)

        async def handle_async(transport: Any, request: Any) -> Any:
            return self._answer(httpx2) if self._is_turn() else await send_async(transport, request)

        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)
        monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", handle_async)

    def _is_turn(self) -> bool:
        self.count += 1
        return self.count - 1 == self.turn

    def _answer(self, library: Any) -> Any:
        return self.answer(library)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Refusing:
    return Refusing(monkeypatch)


def _try(service: Service, email: str, home: Path) -> None:
    home.mkdir(exist_ok=True)
    try_service(Attempt(service.mcp_url, "list_my_cards", {}, ("", "")), email, PASSWORD, Home(home))


def _print_token(service: Service, email: str, _home: Path) -> None:
    request_access_token(service.mcp_url, email, PASSWORD)


def _find_fault(act: Callable[[], None]) -> Exception | None:
    try:
        act()
    except Exception as fault:
        return fault
    return None


@pytest.mark.parametrize("form", ANSWERS)
@pytest.mark.parametrize("act", [_try, _print_token])
def test_each_request_that_is_refused_is_told_in_one_sentence(
    service: Service, tmp_path: Path, refusing: Refusing, form: str, act: Callable[[Service, str, Path], None]
) -> None:
    email, told = service.person("refused"), []
    refusing.answer = ANSWERS[form]
    for turn in range(MAX_REQUESTS):
        refusing.turn, refusing.count = turn, 0
        if fault := _find_fault(lambda turn=turn: act(service, email, tmp_path / f"{form}{turn}")):
            words = user_message(fault)
            assert words, f"request {turn}: {fault!r}"
            assert "\n" not in words, words
            told.append(words)
        if refusing.count <= turn:
            break
    assert turn < MAX_REQUESTS - 1
    assert len(told) > 6
    if form != "page":
        assert [words for words in told if WORDS in words] == told, told


def test_maintenance_is_told_by_its_own_sentence(service: Service, tmp_path: Path) -> None:
    email = service.person("waiting")
    plans = f"{service.web_url}/plans"  # each program looks now and then whether it is closed
    command(service.home, "maintenance", "on", "--message", WORDS, "--reason", "test")
    try:
        wait_for("the end of service", lambda: httpx.get(plans, timeout=30, trust_env=False).status_code == 503)
        for act in (_try, _print_token):
            with pytest.raises(CommandError, match=f"answered 503: {WORDS}"):
                act(service, email, tmp_path / "home")
    finally:
        command(service.home, "maintenance", "off", "--reason", "test")
        for address in (plans, service.mcp_url):  # other tests ask the same programs
            wait_for("service again", lambda at=address: httpx.get(at, timeout=30, trust_env=False).status_code != 503)
