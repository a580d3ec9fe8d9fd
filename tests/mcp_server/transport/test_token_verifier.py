"""The bearer cache on a clock of the test: who is asked, how often, and what an answer is worth."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import select, update

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport import token_verifier
from mcp_server.transport.token_verifier import (
    AuthServerUnavailable,
    Problem,
    RateLimited,
    TokenRejected,
    TokenVerifier,
)
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from shared.internal_api import TIMEOUT
from shared.secrets import digest, mint
from shared.settings import settings
from tests.support.dates import evaluate
from tests.support.people import account
from tests.support.settings_and_clock import StandingClock

FAR = "203.0.113.8"
Handler = Callable[[httpx.Request], httpx.Response]


class Desk:
    """Bearers in front of a handler that plays the auth server, with a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.asked = 0
        self.answer: dict[str, Any] | int = {"active": False}
        self.before_answer: Callable[[], None] = lambda: None
        monkeypatch.setattr(token_verifier, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.token_verifier = TokenVerifier()
        self.token_verifier.auth_server.http = httpx.AsyncClient(transport=httpx.MockTransport(self._handle))

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        await anyio.sleep(0.01)
        self.before_answer()
        return httpx.Response(self.answer) if isinstance(self.answer, int) else httpx.Response(200, json=self.answer)

    def good(self, caller: Caller, **other: Any) -> None:
        self.answer = {
            "active": True,
            "iss": settings().web_url,
            "sub": caller.public_id,
            "aud": settings().mcp_url,
            "client_id": "client-1",
            "client_name": "Claude",
            "scope": "openid mcp:read",
            "exp": clock.now().timestamp() + 3600,
            "family": "family-1",
        } | other

    def check(self, token: str, address: str = "") -> Caller:
        limiter.cache_clear()
        return anyio.run(self.token_verifier.check, token, address)


@pytest.fixture
def desk(clean: None, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", Plan.PREMIUM, api_calls_per_month=900)


def test_caller_is_the_account_behind_the_token(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    caller = desk.check(mint("awt_at_"))
    assert (caller.account_id, caller.public_id, caller.plan) == (alice.account_id, "acc_alice", Plan.PREMIUM)
    assert (caller.client_id, caller.client_name, caller.api_calls_per_month) == ("client-1", "Claude", 900)
    assert (caller.is_admin, caller.read_only) == (False, False)


def test_good_token_is_asked_about_once_in_half_a_minute(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    for later in (0, 15, 14.9):
        desk.now += later
        desk.check(token)
    assert desk.asked == 1
    desk.now += 0.2
    desk.check(token)
    assert desk.asked == 2


def test_good_token_is_never_believed_past_its_expiry(desk: Desk, alice: Caller) -> None:
    desk.good(alice, exp=clock.now().timestamp() + 10)
    token = mint("awt_at_")
    desk.check(token)
    desk.now += 10
    desk.answer = 500
    with pytest.raises(AuthServerUnavailable):
        desk.check(token)


def test_refused_token_is_asked_about_once_in_five_seconds(desk: Desk) -> None:
    token = mint("awt_at_")
    for later in (0, 4.9, 0.2):
        desk.now += later
        with pytest.raises(TokenRejected):
            desk.check(token)
    assert desk.asked == 2


@pytest.mark.parametrize(
    "token",
    ["", "x" * 5000, "awt_at_" + "0" * 49, mint("awt_ak_"), mint("awt_at_")[:-1] + "?"],
    ids=["empty", "long", "wrong sum", "a key", "odd letter"],  # minted ones differ in each worker
)
def test_malformed_token_is_refused_unasked(desk: Desk, token: str) -> None:
    with pytest.raises(TokenRejected):
        desk.check(token)
    assert desk.asked == 0


def test_twenty_callers_with_one_new_token_ask_once(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")

    async def together() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(desk.token_verifier.check, token)

    limiter.cache_clear()
    anyio.run(together)
    assert desk.asked == 1
    assert desk.token_verifier.pending == {}


def test_caller_who_hangs_up_takes_nobody_elses_answer_away(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")

    async def one_leaves() -> Caller:
        with anyio.move_on_after(0.001):
            await desk.token_verifier.check(token)
        return await desk.token_verifier.check(token)

    limiter.cache_clear()
    assert anyio.run(one_leaves).public_id == "acc_alice"
    assert desk.asked == 1


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"active": False}, Problem.INVALID),
        ({"active": "true"}, Problem.INVALID),
        ({"iss": "https://elsewhere.example"}, Problem.INVALID),
        ({"aud": "https://elsewhere.example/mcp"}, Problem.INVALID),
        ({"aud": None}, Problem.INVALID),
        ({"aud": []}, Problem.INVALID),
        ({"exp": lambda: clock.now().timestamp() - 1}, Problem.INVALID),
        ({"exp": None}, Problem.INVALID),
        ({"sub": "acc_nobody"}, Problem.INVALID),
        ({"sub": None}, Problem.INVALID),
        ({"scope": "openid email"}, Problem.SCOPE),
        ({"scope": "mcp:reader"}, Problem.SCOPE),
    ],
)
@pytest.mark.spec("s5.2.one_scope")
def test_answer_that_does_not_fit_refuses_the_token(
    desk: Desk, alice: Caller, other: dict[str, Any], problem: Problem
) -> None:
    other = evaluate(other)
    desk.good(alice, **other)
    with pytest.raises(TokenRejected) as no:
        desk.check(mint("awt_at_"))
    assert no.value.problem is problem


@pytest.mark.spec("s1.0.both_hosts_serve_mcp")
def test_token_for_either_host_is_good(desk: Desk, alice: Caller) -> None:
    for audience in (settings().mcp_url, f"{settings().web_url}/mcp", ["https://x.example", settings().mcp_url]):
        desk.good(alice, aud=audience)
        assert desk.check(mint("awt_at_")).public_id == "acc_alice"


def test_disabled_account_is_refused(desk: Desk, alice: Caller) -> None:
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    desk.good(alice)
    with pytest.raises(TokenRejected):
        desk.check(mint("awt_at_"))


def test_known_token_serves_a_minute_longer_while_the_auth_server_is_away(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    desk.answer = 503
    desk.now += 30 + 59
    assert desk.check(token).public_id == "acc_alice"
    desk.now += 1.1
    with pytest.raises(AuthServerUnavailable):
        desk.check(token)


def test_away_auth_server_is_tried_once_a_second_for_a_known_token(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    desk.answer, desk.now, before = 500, desk.now + 31, desk.asked
    for _ in range(10):
        desk.check(token)
    assert desk.asked == before + 1


@pytest.mark.parametrize("answer", [401, 404, 500, 503])
def test_unknown_token_is_not_judged_while_nobody_answers_for_it(desk: Desk, answer: int) -> None:
    desk.answer = answer
    with pytest.raises(AuthServerUnavailable):
        desk.check(mint("awt_at_"))
    assert desk.token_verifier.refused == {}


@pytest.mark.parametrize("text", ["no json", "[]", "null"])
def test_answer_that_is_no_document_judges_nobody(desk: Desk, text: str) -> None:
    desk.token_verifier.auth_server.http = httpx.AsyncClient(
        transport=httpx.MockTransport(lambda _: httpx.Response(200, text=text))
    )
    with pytest.raises(AuthServerUnavailable):
        desk.check(mint("awt_at_"))


def test_connection_the_auth_server_had_closed_is_opened_again(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    tries = []

    def flaky(request: httpx.Request) -> httpx.Response:
        tries.append(request)
        if len(tries) == 1:
            raise httpx.RemoteProtocolError("gone", request=request)
        return httpx.Response(200, json=desk.answer)

    desk.token_verifier.auth_server.http = httpx.AsyncClient(transport=httpx.MockTransport(flaky))
    assert desk.check(mint("awt_at_")).public_id == "acc_alice"
    assert len(tries) == 2


def test_slow_auth_server_is_away_and_not_waited_for(desk: Desk) -> None:
    def late(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    desk.token_verifier.auth_server.http = httpx.AsyncClient(transport=httpx.MockTransport(late))
    with pytest.raises(AuthServerUnavailable):
        desk.check(mint("awt_at_"))
    assert (TIMEOUT.connect, TIMEOUT.read) == (1, 3)


@pytest.mark.parametrize(
    "event",
    [
        lambda token: {"token": digest(token)},
        lambda token: {"family": "family-1"},
        lambda token: {"account": "acc_alice"},
    ],
)
def test_event_makes_the_next_call_ask_again(desk: Desk, alice: Caller, event: Callable[[str], dict[str, str]]) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    desk.token_verifier.forget(event(token))
    desk.answer = {"active": False}
    with pytest.raises(TokenRejected):
        desk.check(token)


def test_event_about_somebody_else_drops_nothing(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    for event in ({"family": "family-2"}, {"account": "acc_bob"}, {"token": "0" * 64}, {}, {"family": None}):
        desk.token_verifier.forget(event)
    desk.check(token)
    assert desk.asked == 1


def test_revocation_during_the_question_is_not_forgotten(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.before_answer = lambda: desk.token_verifier.forget({"family": "family-1"})
    desk.check(token)
    desk.before_answer = lambda: None
    desk.answer = {"active": False}
    with pytest.raises(TokenRejected):
        desk.check(token)


def test_a_token_is_known_as_good_whatever_was_revoked_during_the_question(
    desk: Desk, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its owner would wait with those who guess at tokens from the same address."""
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 1)
    monkeypatch.setattr(token_verifier, "LOOKUPS_WHEN_CROWDED", 0)
    desk.good(alice)
    token, good = mint("awt_at_"), desk.answer
    desk.before_answer = lambda: desk.token_verifier.forget({"family": "another"})
    desk.check(token, FAR)
    desk.answer = {"active": False}
    for _ in range(2):
        with pytest.raises(TokenRejected):
            desk.check(mint("awt_at_"), FAR)
    with pytest.raises(RateLimited):
        desk.check(mint("awt_at_"), FAR)
    desk.answer = good
    assert desk.check(token, FAR).public_id == "acc_alice"


def test_plan_change_shows_at_the_next_call_after_its_event(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    assert desk.check(token).plan is Plan.PREMIUM
    with transaction() as session:
        session.execute(update(Account).values(plan="pro", is_admin=True))
    desk.token_verifier.forget({"account": "acc_alice"})
    caller = desk.check(token)
    assert (caller.plan, caller.is_admin) == (Plan.PRO, True)


def test_plan_change_shows_within_half_a_minute_when_its_event_is_lost(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    assert desk.check(token).plan is Plan.PREMIUM
    with transaction() as session:
        session.execute(update(Account).values(plan="free", is_admin=True))
    desk.now += 30.1
    caller = desk.check(token)
    assert (caller.plan, caller.is_admin) == (Plan.FREE, True)


def test_cache_is_bounded_and_lets_the_longest_unused_go(
    desk: Desk, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_verifier, "MAX_CACHED_TOKENS", 3)
    desk.good(alice)
    tokens = [mint("awt_at_") for _ in range(4)]
    for token in (*tokens[:3], tokens[0], tokens[3]):
        desk.check(token)
    assert list(desk.token_verifier.cache) == [digest(t) for t in (tokens[2], tokens[0], tokens[3])]


def test_strangers_never_push_users_out(desk: Desk, alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_verifier, "MAX_CACHED_TOKENS", 3)
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    desk.answer = {"active": False}
    for _ in range(5):
        with pytest.raises(TokenRejected):
            desk.check(mint("awt_at_"))
    assert len(desk.token_verifier.refused) == 3
    assert digest(token) in desk.token_verifier.cache


def test_no_token_is_kept_only_its_digest(desk: Desk, alice: Caller) -> None:
    desk.good(alice)
    token = mint("awt_at_")
    desk.check(token)
    assert token not in repr(vars(desk.token_verifier))


def _seen() -> Any:
    with transaction() as session:
        return session.execute(select(Account.last_seen_at)).scalar_one()


def test_last_seen_is_written_at_most_once_an_hour(desk: Desk, alice: Caller, standing_clock: StandingClock) -> None:
    desk.good(alice)
    desk.check(mint("awt_at_"))
    first = _seen()
    assert first is not None
    desk.check(mint("awt_at_"))
    assert _seen() == first
    standing_clock.advance(timedelta(hours=1))
    desk.good(alice)
    desk.check(mint("awt_at_"))
    assert _seen() > first


def test_database_away_judges_nobody(desk: Desk, alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: dict[str, Any]) -> None:
        from sqlalchemy.exc import OperationalError

        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(token_verifier, "_load_caller", away)
    desk.good(alice)
    with pytest.raises(AuthServerUnavailable):
        desk.check(mint("awt_at_"))
