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
    monkeypatch.setattr(token_verifier, "LOOKUPS_WHEN_CROWDED", 0)
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


def test_a_token_that_was_good_within_the_hour_is_looked_up_from_a_crowded_address(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 1)
    monkeypatch.setattr(token_verifier, "LOOKUPS_WHEN_CROWDED", 0)
    monkeypatch.setattr(token_verifier, "ACCEPTED_SECONDS", 0.0)  # as if it had left the cache
    ping, far = {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"X-Forwarded-For": "203.0.113.21"}
    before = {"Authorization": f"Bearer {world.token(people.alice)}", **far}
    never = {"Authorization": f"Bearer {world.token(people.bob)}", **far}
    assert world.http.post(world.url, json=ping, headers=before).status_code == 200
    bad = [{"Authorization": f"Bearer {mint('awt_at_')}", **far} for _ in range(3)]
    assert [world.http.post(world.url, json=ping, headers=h).status_code for h in bad] == [401, 401, 429]
    assert world.http.post(world.url, json=ping, headers=before).status_code == 200
    assert world.http.post(world.url, json=ping, headers=never).status_code == 429


def test_a_crowded_address_still_has_some_unknown_tokens_looked_up_each_second() -> None:
    limits = token_verifier.RefusalLimits("t")
    limits.crowded_until["203.0.113.8"] = float("inf")
    assert [limits._take_lookup("203.0.113.8", 7) for _ in range(7)] == [True] * 5 + [False] * 2
    assert limits._take_lookup("203.0.113.8", 8)


@pytest.mark.parametrize(("address", "crowded"), [("160.79.104.9", False), ("203.0.113.8", True)])
@pytest.mark.usefixtures("clean")
def test_networks_that_act_for_many_people_may_have_more_refusals(
    monkeypatch: pytest.MonkeyPatch, address: str, crowded: bool
) -> None:
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 1)
    limits = token_verifier.RefusalLimits("t")
    for _ in range(3):
        limits.count_refusal(address)
    assert (address in limits.crowded_until) is crowded
