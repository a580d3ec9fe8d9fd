"""Events on the real channel: what other programs publish reaches a running server's bearer cache."""

from collections.abc import Callable

import anyio
import pytest

from shared.redis import connect, publish
from tests.mcp_server.conftest import World, bearer
from tests.support.people import People

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def until(condition: Callable[[], bool], seconds: float = 8) -> bool:
    async def wait() -> bool:
        with anyio.move_on_after(seconds):
            while not condition():
                await anyio.sleep(0.02)
        return condition()

    return anyio.run(wait)


def listens() -> bool:
    return connect().pubsub_numsub("award:events")[0][1] == 1


@pytest.mark.parametrize("kind", ["token", "family", "account"])
def test_published_event_reaches_the_cache_of_a_running_server(world: World, people: People, kind: str) -> None:
    assert until(listens)
    token = world.token(people.alice)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200
    tokens = world.front.token_verifier
    (name, cached) = next(iter(tokens.cache.items()))
    world.auth.answers[token] = {"active": False}
    publish(**{kind: {"token": name, "family": cached.family, "account": "acc_alice"}[kind]})
    assert until(lambda: not tokens.cache)
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
