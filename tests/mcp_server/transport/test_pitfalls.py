"""Known pitfalls of an OAuth resource server, one test each; those of the authorization server are tested next to
it.
"""

import pytest

from shared import clock
from tests.mcp_server.conftest import World, bearer
from tests.support.people import People

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_an_authorization_server_that_is_away_is_503_and_never_401_or_500(world: World, people: People) -> None:
    for status in (500, 503, 404, 302):
        world.auth.status = status
        answer = world.post(people.alice, LIST)
        assert answer.status_code == 503, status
        assert answer.headers["retry-after"]
        assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("expiry", [3600.5, 3599.999])
def test_an_expiry_with_a_fraction_breaks_nothing(world: World, people: People, expiry: float) -> None:
    token = world.token(people.alice, exp=clock.now().timestamp() + expiry)
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200


def test_each_host_describes_the_resource_that_was_asked_for(world: World) -> None:
    for host in (world.base.removeprefix("http://"), world.web_host):
        challenge = world.http.post(world.url, json=LIST, headers={"host": host}).headers["www-authenticate"]
        described = challenge.split('resource_metadata="')[1].split('"')[0]
        assert described == f"http://{host}/.well-known/oauth-protected-resource/mcp"
        path = described.removeprefix(f"http://{host}")
        assert world.http.get(world.base + path, headers={"host": host}).json()["resource"] == f"http://{host}/mcp"


def test_the_challenge_names_the_scope_and_audiences_are_checked(world: World, people: People) -> None:
    assert 'scope="mcp:read"' in world.http.post(world.url, json=LIST).headers["www-authenticate"]
    for elsewhere in ("https://evil.example/mcp", world.base, f"{world.url}/x", ""):
        token = world.token(people.alice, aud=elsewhere)
        assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 401, elsewhere


def test_two_authorization_headers_are_refused_even_when_both_are_good(world: World, people: People) -> None:
    value = f"Bearer {world.token(people.alice)}"
    both = [("authorization", value), ("authorization", value)]
    assert world.http.post(world.url, json=LIST, headers=both).status_code == 401
