"""Guessing at /mcp: addresses that send too many bad tokens wait; tokens known to be good are not kept out."""

import pytest

from mcp_server.transport import token_verifier
from shared.secrets import mint
from tests.mcp_server.conftest import World
from tests.support.people import People


def test_an_address_that_guesses_tokens_has_to_wait(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 3)
    ping, far = {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"X-Forwarded-For": "203.0.113.8"}
    good = {"Authorization": f"Bearer {world.token(people.alice)}", **far}
    assert world.http.post(world.url, json=ping, headers=good).status_code == 200
    world.auth.asked.clear()
    answers = [
        world.http.post(world.url, json=ping, headers={"Authorization": f"Bearer {mint('awt_at_')}", **far})
        for _ in range(6)
    ]
    assert [a.status_code for a in answers] == [401] * 4 + [429] * 2
    assert len(world.auth.asked) == 4
    assert 0 < int(answers[5].headers["retry-after"]) <= 60
    assert world.http.post(world.url, json=ping, headers=good).status_code == 200
    elsewhere = {"Authorization": f"Bearer {mint('awt_at_')}", "X-Forwarded-For": "203.0.113.9"}
    assert world.http.post(world.url, json=ping, headers=elsewhere).status_code == 401


def test_malformed_tokens_cost_no_question_and_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 1)
    answers = [world.http.post(world.url, json={}, headers={"Authorization": f"Bearer x{n}"}) for n in range(5)]
    assert [a.status_code for a in answers] == [401] * 5
    assert world.auth.asked == []
