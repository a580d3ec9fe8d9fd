"""Events on the real channel: what other programs publish reaches a running server's bearer cache."""

import subprocess
import sys
from collections.abc import Callable

import anyio
import pytest

from shared.redis import connect, publish
from tests.mcp_server.conftest import World, bearer
from tests.support.people import People
from tests.support.service import BY_EVENT_SECONDS

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def until(condition: Callable[[], bool], seconds: float = BY_EVENT_SECONDS) -> bool:
    async def wait() -> bool:
        with anyio.move_on_after(seconds):
            while not condition():
                await anyio.sleep(0.02)
        return condition()

    return anyio.run(wait)


def listens() -> bool:
    return connect().pubsub_numsub("award:events")[0][1] >= 1  # that of a test before may still end


@pytest.mark.parametrize("kind", ["token", "family", "account", "client"])
def test_published_event_reaches_the_cache_of_a_running_server(world: World, people: People, kind: str) -> None:
    assert until(listens)
    token = world.token(people.alice)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200
    tokens = world.front.token_verifier
    (name, cached) = next(iter(tokens.cache.items()))
    world.auth.answers[token] = {"active": False}
    names = {"token": name, "family": cached.family, "account": "acc_alice", "client": cached.caller.client_id}
    publish(**{kind: names[kind]})
    assert until(lambda: not tokens.cache)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 401


@pytest.mark.slow  # starts a program
def test_a_suspension_by_the_command_line_reaches_a_running_server_by_an_event(world: World, people: People) -> None:
    """Another process suspends the account; the auth server's answer stays good, so the account itself is judged."""
    assert until(listens)
    token = world.token(people.alice)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200
    command = [sys.executable, "-m", "deploy.cli", "user", "suspend", "alice@example.test", "--reason", "a test"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert until(lambda: not world.front.token_verifier.cache)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 401


def test_lost_subscription_comes_back_and_empties_the_cache(world: World, people: People) -> None:
    assert until(listens)
    token = world.token(people.alice)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200
    connect().execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    assert until(lambda: not world.front.token_verifier.cache)
    assert until(listens)


def test_nonsense_on_the_channel_is_passed_over(world: World, people: People) -> None:
    assert until(listens)
    assert world.post(people.alice, LIST).status_code == 200
    for nonsense in ("no json", "[1]", "7", '{"other": 1}'):
        connect().publish("award:events", nonsense)
    publish(account="acc_alice")
    assert until(lambda: not world.front.token_verifier.cache)
    assert listens()
