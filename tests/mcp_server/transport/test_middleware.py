"""The front of /mcp: what is refused before a tool is thought of, and how it is said."""

from typing import Any

import httpx
import pytest

from shared.secrets import mint
from shared.settings import SettingsError, settings
from tests.mcp_server.conftest import World, bearer
from tests.support.people import People

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"Content-Type": "application/json"}


def challenge(answer: httpx.Response) -> str:
    assert answer.status_code == 401, answer.text
    return answer.headers["www-authenticate"]


@pytest.mark.spec("s5.7.challenge", "s4.1.resource_metadata_per_host")
def test_unauthenticated_call_is_401_with_an_absolute_path_inserted_challenge(world: World) -> None:
    said = challenge(world.http.post(world.url, json=LIST))
    assert said.startswith("Bearer resource_metadata=")
    assert "error" not in said  # RFC 6750 3.1: it has no token that could be wrong
    assert f'resource_metadata="{world.base}/.well-known/oauth-protected-resource/mcp"' in said
    assert 'scope="mcp:read"' in said


@pytest.mark.spec("s5.7.challenge", "s1.0.both_hosts_serve_mcp")
def test_challenge_names_the_host_that_was_asked(world: World) -> None:
    said = challenge(world.http.post(world.url, json=LIST, headers={"Host": world.web_host}))
    assert f'resource_metadata="http://{world.web_host}/.well-known/oauth-protected-resource/mcp"' in said


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
@pytest.mark.spec("s5.7.challenge")
def test_unauthenticated_is_401_whatever_the_method(world: World, method: str) -> None:
    assert 'scope="mcp:read"' in challenge(world.http.request(method, world.url))


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
@pytest.mark.spec("s1.1.one_tool_endpoint")
def test_authenticated_is_405_with_allow_post_for_all_but_post(world: World, people: People, method: str) -> None:
    answer = world.http.request(method, world.url, headers=bearer(world.token(people.alice)))
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.spec("s5.1.key_header_beats_token", "s5.1.bearer_only")
def test_api_key_header_beside_a_good_token_is_401(world: World, people: People) -> None:
    headers = bearer(world.token(people.alice)) | {"X-API-Key": "awt_ak_0123"}
    assert "invalid_token" in challenge(world.http.post(world.url, json=LIST, headers=headers))


@pytest.mark.parametrize(
    "value",
    [
        "ApiKey 0123456789",
        "Basic YTpi",
        "Bearer",
        "",
        f"Bearer {mint('awt_ak_')}",
        f"Bearer {mint('awt_at_')}x",
        "Bearer awt_at_ü".encode("latin-1"),
        f"Bearer {mint('awt_at_')} {mint('awt_at_')}",
    ],
    ids=["scheme", "basic", "bare", "empty", "key", "wrong sum", "not ascii", "two"],  # minted ones differ by worker
)
@pytest.mark.spec("s5.1.bearer_only", "s5.7.challenge")
def test_whatever_is_no_access_token_is_401_without_asking_anybody(world: World, value: str | bytes) -> None:
    answer = world.http.post(world.url, json=LIST, headers={"Authorization": value} | JSON)  # type: ignore[dict-item]
    assert "invalid_token" in challenge(answer)
    assert world.auth.asked == []


@pytest.mark.spec("s5.1.key_header_beats_token")
def test_two_authorization_headers_are_401(world: World, people: People) -> None:
    good = bearer(world.token(people.alice))["Authorization"]
    headers = [("Authorization", good), ("Authorization", "ApiKey 0123"), ("Content-Type", "application/json")]
    assert "invalid_token" in challenge(world.http.post(world.url, json=LIST, headers=headers))


@pytest.mark.spec("s5.7.challenge")
def test_unknown_well_formed_token_is_401(world: World) -> None:
    assert "invalid_token" in challenge(world.http.post(world.url, json=LIST, headers=bearer(mint("awt_at_"))))
    assert len(world.auth.asked) == 1


@pytest.mark.spec("s5.2.one_scope")
def test_token_without_the_scope_is_403_and_told_which(world: World, people: People) -> None:
    token = world.token(people.alice, scope="openid email")
    answer = world.http.post(world.url, json=LIST, headers=bearer(token))
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert 'scope="mcp:read"' in answer.headers["www-authenticate"]


def test_bearer_scheme_is_read_in_any_case(world: World, people: People) -> None:
    headers = {"Authorization": f"bEaReR {world.token(people.alice)}"} | JSON
    assert world.http.post(world.url, json=LIST, headers=headers).status_code == 200


def test_second_blank_before_the_token_makes_it_malformed(world: World, people: People) -> None:
    headers = {"Authorization": f"Bearer  {world.token(people.alice)}"} | JSON
    assert world.http.post(world.url, json=LIST, headers=headers).status_code == 401


def test_auth_server_away_is_503_with_retry_after_and_never_401(world: World, people: People) -> None:
    token = world.token(people.alice)
    world.auth.status = 500
    answer = world.http.post(world.url, json=LIST, headers=bearer(token))
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "www-authenticate" not in answer.headers
    world.auth.status = 200
    assert world.http.post(world.url, json=LIST, headers=bearer(token)).status_code == 200


def test_unknown_host_is_refused_before_anything_else(world: World, people: People) -> None:
    headers = bearer(world.token(people.alice)) | {"Host": "evil.example"}
    assert world.http.post(world.url, json=LIST, headers=headers).status_code == 421
    pages = world.http.get(f"{world.base}/.well-known/oauth-protected-resource", headers={"Host": "evil.example"})
    assert pages.status_code == 421


@pytest.mark.spec("s1.0.both_hosts_serve_mcp")
def test_same_token_is_good_on_both_hosts(world: World, people: People) -> None:
    hosts = (world.web_host, world.base.removeprefix("http://"), world.web_host.replace("127.0.0.1", "LocalHost"))
    for audience in (world.url, f"http://{world.web_host}/mcp"):
        headers = bearer(world.token(people.alice, aud=audience))
        for host in hosts:
            assert world.http.post(world.url, json=LIST, headers=headers | {"Host": host}).status_code == 200


@pytest.mark.parametrize(("origin", "status"), [("https://evil.example", 403), ("null", 403), (None, 200), ("", 200)])
def test_pages_of_other_origins_are_refused(world: World, people: People, origin: str | None, status: int) -> None:
    own = {"Origin": origin or world.base} if origin is not None else {}
    answer = world.post(people.alice, LIST, **own)
    assert answer.status_code == status


ASK = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,mcp-protocol-version"}
LOOPBACK_PAGES = ("http://localhost:6274", "http://127.0.0.1", "https://localhost:8443", "http://[::1]:5173")
OTHER_PAGES = ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil.example:6274"]
OTHER_PAGES += ["http://localhost:6274.evil.example", "http://evil-localhost:6274", "http://127.0.0.2:6274", "*"]
OTHER_PAGES += [
    "http://localhost:0",
    "http://user@localhost:6274",
    "https://app.example.org.evil",
    "http://app.example.org",
]
CALLS = ("/mcp", "/mcp/", "/mcp/lean", "/mcp/x/cards", "/api/v1/tools", "/api/v1/tools/get_cancellation_fee")


def read_sharing(answer: httpx.Response) -> str | None:
    """The origin a page must have to read it; None where no page may."""
    assert "access-control-allow-credentials" not in answer.headers
    return answer.headers.get("access-control-allow-origin")


def test_pages_that_call_are_answered_before_a_token_is_looked_for(world: World, configure: Any) -> None:
    configure(CORS_ORIGINS="https://app.example.org, app://editor")
    for path in CALLS:
        for page in (*LOOPBACK_PAGES, "https://app.example.org", "app://editor", world.base):
            answer = world.http.request("OPTIONS", world.base + path, headers=ASK | {"Origin": page})
            assert (answer.status_code, read_sharing(answer)) == (204, page), (path, page)
            assert "Origin" in answer.headers["vary"]
            sent = answer.headers["access-control-allow-headers"]
            assert all(name in sent for name in ("authorization", "content-type", "mcp-session-id", "mcp-method"))
        for page in OTHER_PAGES:
            answer = world.http.request("OPTIONS", world.base + path, headers=ASK | {"Origin": page})
            assert (answer.status_code, read_sharing(answer)) == (403, None), (path, page)


def test_a_page_that_may_call_reads_every_answer_and_no_other_page_reads_any(world: World, people: People) -> None:
    good, page = bearer(world.token(people.alice)), {"Origin": LOOPBACK_PAGES[0]}
    answers = {
        200: world.http.post(world.url, json=LIST, headers=good | page),
        401: world.http.post(world.url, json=LIST, headers=page),
        404: world.http.post(f"{world.url}/x/nothing", json=LIST, headers=good | page),
        405: world.http.get(world.url, headers=good | page),
        415: world.http.post(world.url, content=b"x", headers=good | page | {"Content-Type": "text/plain"}),
    }
    for status, answer in answers.items():
        assert (answer.status_code, read_sharing(answer)) == (status, LOOPBACK_PAGES[0])
        assert "www-authenticate" in answer.headers["access-control-expose-headers"]
    tools = world.http.get(f"{world.base}/api/v1/tools", headers=page)
    assert (tools.status_code, read_sharing(tools)) == (200, LOOPBACK_PAGES[0])
    assert "retry-after" in tools.headers["access-control-expose-headers"]
    for origin in OTHER_PAGES:
        refused = world.http.post(world.url, json=LIST, headers=good | {"Origin": origin})
        assert (refused.status_code, read_sharing(refused)) == (403, None), origin
        assert "CORS_ORIGINS" in refused.json()["error"]["message"]
        assert read_sharing(world.http.get(f"{world.base}/api/v1/tools", headers={"Origin": origin})) is None
    rebound = world.http.post(world.url, json=LIST, headers=good | page | {"Host": "evil.example"})
    assert (rebound.status_code, read_sharing(rebound)) == (421, None)


def test_pages_of_people_are_not_for_other_pages(world: World) -> None:
    for path in ("/integrations/seats_aero", "/tools", "/status", "/shared/x", "/feeds/x", "/hooks/mail"):
        for method in ("OPTIONS", "GET", "POST"):
            answer = world.http.request(method, world.base + path, headers=ASK | {"Origin": LOOPBACK_PAGES[0]})
            assert read_sharing(answer) is None, (method, path)


@pytest.mark.parametrize(
    "value", ["*", "null", "app.example.org", "https://app.example.org/", "https://App.example.org"]
)
def test_an_origin_that_no_browser_would_send_is_refused_at_the_start(configure: Any, value: str) -> None:
    configure(CORS_ORIGINS=f"https://ok.example,{value}")
    with pytest.raises(SettingsError, match="CORS_ORIGINS"):
        settings()


@pytest.mark.spec("s1.1.one_tool_endpoint")
def test_path_with_a_slash_answers_the_same_without_a_redirect(world: World, people: People) -> None:
    headers = bearer(world.token(people.alice))
    with_slash, without = (world.http.post(url, json=LIST, headers=headers) for url in (world.url + "/", world.url))
    assert with_slash.status_code == 200
    assert with_slash.content == without.content
    assert challenge(world.http.post(world.url + "/", json=LIST)) == challenge(world.http.post(world.url, json=LIST))


@pytest.mark.spec("s5.9.tier_decides", "s7.paywall_result")
def test_plan_is_told_before_the_arguments(world: World, people: People) -> None:
    result = world.call(people.bob, "look_further", nonsense=1)
    assert result["isError"] is False
    assert result["structuredContent"]["status"] == "paywall"
    assert result["structuredContent"]["required_tier"] == "premium"


@pytest.mark.spec("s5.9.admin_decides")
def test_admin_tool_is_refused_to_everyone_else(world: World, people: People) -> None:
    assert world.call(people.paula, "admin_look")["structuredContent"]["status"] == "admin_only"
    assert world.call(people.ada, "admin_look")["structuredContent"]["status"] == "ok"


@pytest.mark.spec("s5.2.scope_covers_writes")
def test_the_one_scope_is_enough_to_write(world: World, people: People) -> None:
    assert world.call(people.alice, "add_trip", name="Kyoto")["structuredContent"]["status"] == "ok"


def test_read_only_token_changes_nothing(world: World, people: People) -> None:
    token = world.token(people.alice, read_only=True)
    params = {"name": "add_trip", "arguments": {"name": "Kyoto"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    result = world.http.post(world.url, json=body, headers=bearer(token)).json()["result"]
    assert result["structuredContent"]["status"] == "invalid"
