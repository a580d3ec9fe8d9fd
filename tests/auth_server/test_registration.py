"""Dynamic registration: who may have which redirect URI, what is stored, what is refused, how often."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from shared.db.base import transaction
from shared.db.oauth import Client
from tests.auth_server.in_process_browser import BASE, Browser, back, query

FORGED_HTTPS = [
    "https://evil.example/cb",
    "https://claude.ai.evil.com/cb",
    "https://evilclaude.ai/cb",
    "https://wwwxcursor.com/cb",
    "https://sub.claude.ai/cb",
    "https://claude.ai@evil.com/cb",
    "https://chatgpt.com:pw@evil.com/cb",
    "https://evil.com#@claude.ai/cb",
    "https://evil.com?@claude.ai/",
    "https://claude.ai:8443/cb",
    "https://claude.ai:/cb",
    "https://claude.ai:0443x/cb",
    "https://claude.ai:0443/cb",
    "https://claude.ai/a/../cb",
    "https://claude.ai/%2E%2e/cb",
    "https://claude.ai/.",
    "https://claude.ai/%zz",
    "https://claude.ai/cb?code=theirs",
    "https://claude.ai/cb?x=1&state=theirs",
    "https://claude.ai/cb?ISS=https://evil.example",
    "https://claude.ai/cb?%69ss=https://evil.example",
    "https://claude.ai/cb?error",
    "https://claude.ai./cb",
    "https://cl\u0430ude.ai/cb",
    "https://xn--clude-5ve.ai/cb",
    "https://claude\u3002ai/cb",
    "https://claude%2eai/cb",
    "https://claude.ai%00.evil.com/cb",
    "https://claude.ai\\.evil.com/cb",
    "https://claude.ai\\@evil.com/cb",
    "https://[::1]/cb",
    "https://127.0.0.1/cb",
    "https://localhost/cb",
    "https:claude.ai/cb",
    "https:/claude.ai/cb",
    "https:///claude.ai/cb",
    "HTTPS://claude.ai/cb",
    "https://*.claude.ai/cb",
    "https://claude.ai/*",
    "https://claude.ai/cb#frag",
    "https://claude.ai/ cb",
    "https://claude.ai/\ncb",
    "https://claude.ai/\tcb",
    " https://claude.ai/cb",
    "//claude.ai/cb",
    "claude.ai/cb",
    "",
    "https://claude.ai/" + "x" * 2048,
]
FORGED_OTHER = [
    "http://claude.ai/cb",
    "http://127.0.0.1.evil.com/cb",
    "http://localhost.evil.com/cb",
    "http://evil.com:127.0.0.1/",
    "http://127.1/cb",
    "http://2130706433/cb",
    "http://0x7f000001/cb",
    "http://0177.0.0.1/cb",
    "http://0/cb",
    "http://0.0.0.0/cb",
    "http://127.0.0.2/cb",
    "http://[::ffff:127.0.0.1]/cb",
    "http://[::1%25eth0]/cb",
    "http://[::1/cb",
    "http://10.0.0.1/cb",
    "http://169.254.169.254/cb",
    "http://user@127.0.0.1/cb",
    "http://127.0.0.1:99999/cb",
    "http://127.0.0.1:0/cb",
    "http://localhost./cb",
    "javascript:alert(1)",
    "javascript://127.0.0.1/%0aalert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "cursor://evil/oauth/callback",
    "http://evil.[::1]/cb",
    "http://[::1].evil.com/cb",
    "urn:ietf:wg:oauth:2.0:oob",
    "vscode://callback",
]
WELL_KNOWN = {
    "Claude": ["https://claude.ai/api/mcp/auth_callback"],
    "Claude, new domain": ["https://claude.com/api/mcp/auth_callback"],
    "Claude Code": ["http://localhost:3118/callback"],
    "ChatGPT, stable": ["https://chatgpt.com/connector_platform_oauth_redirect"],
    "ChatGPT, per connector": ["https://chatgpt.com/connector/oauth/AbC_123-x"],
    "Cursor": [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ],
    "VS Code": [
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
        "https://vscode.dev/redirect",
        "https://insiders.vscode.dev/redirect",
    ],
    "Inspector": ["http://localhost:6274/oauth/callback", "http://localhost:6274/oauth/callback/debug"],
    "IPv6 loopback": ["http://[::1]:4000/cb"],
    "default port": ["https://claude.ai:443/cb"],
}


def count_stored() -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(Client)) or 0


def post(host: TestClient, body: Any, **more: Any) -> Any:
    return host.post("/oauth/register", json=body, **more)


@pytest.mark.spec("s5.3.redirect_allowlist")
@pytest.mark.spec("s7.redirect_host_rejected")
@pytest.mark.parametrize("uri", FORGED_HTTPS + FORGED_OTHER)
def test_a_forged_redirect_uri_is_refused_and_nothing_is_stored(host: TestClient, uri: str) -> None:
    answer = post(host, {"client_name": "x", "redirect_uris": [uri]})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_redirect_uri"
    assert len(uri) < 12 or uri not in answer.text
    assert count_stored() == 0


@pytest.mark.spec("s5.3.redirect_allowlist")
@pytest.mark.spec("s4.1.register_body")
@pytest.mark.parametrize("name", WELL_KNOWN)
def test_well_known_clients_can_register(host: TestClient, name: str) -> None:
    answer = post(host, {"client_name": name, "redirect_uris": WELL_KNOWN[name]})
    assert answer.status_code == 201
    assert answer.json()["redirect_uris"] == WELL_KNOWN[name]


@pytest.mark.spec("s7.redirect_host_rejected")
def test_one_bad_uri_among_good_ones_rejects_the_registration(host: TestClient) -> None:
    answer = post(host, {"redirect_uris": ["https://claude.ai/cb", "https://evil.example/cb"]})
    assert answer.json()["error"] == "invalid_redirect_uri"
    assert count_stored() == 0


@pytest.mark.spec("s5.3.allowlist_setting")
def test_the_operator_adds_hosts_by_a_setting(host: TestClient, configure: Any) -> None:
    configure(OAUTH_DCR_REDIRECT_HOST_ALLOWLIST="Tools.Example.org, other.example")
    assert post(host, {"redirect_uris": ["https://tools.example.org/cb"]}).status_code == 201
    assert post(host, {"redirect_uris": ["https://sub.tools.example.org/cb"]}).status_code == 400


@pytest.mark.spec("s4.1.register_public_client")
def test_a_claude_registration_asking_for_a_secret_becomes_a_public_client(host: TestClient) -> None:
    body = {
        "client_name": "Claude",
        "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post",
        "scope": "mcp:read",
        "client_uri": "https://claude.ai",
    }
    answer = post(host, body)
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    response_body = answer.json()
    assert response_body["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in response_body
    assert isinstance(response_body["client_id_issued_at"], int)
    assert response_body["client_name"] == "Claude"
    assert response_body["application_type"] == "web"


@pytest.mark.parametrize(
    "extra",
    [
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": []}},
        {"client_id": "mine", "client_secret": "mine"},
        {"scope": "admin mcp:write", "grant_types": ["password", "refresh_token"], "response_types": ["code", "token"]},
        {"software_statement": "a.b.c", "unknown": {"deep": [1]}},
        {"client_name": None, "grant_types": None},
    ],
)
def test_whatever_else_is_asked_for_the_reply_says_what_is_supported(host: TestClient, extra: dict[str, Any]) -> None:
    answer = post(host, {"redirect_uris": ["http://localhost:1/cb"], **extra})
    assert answer.status_code == 201
    body = answer.json()
    assert body["grant_types"] == ["authorization_code", "refresh_token"]
    assert body["response_types"] == ["code"]
    assert body["token_endpoint_auth_method"] == "none"
    assert body["client_id"] != "mine"
    assert "client_secret" not in body


@pytest.mark.parametrize("uris", [None, "https://claude.ai/cb", 5, {}, [], [1], [["https://claude.ai/cb"]], [None]])
def test_redirect_uris_of_another_shape_are_refused(host: TestClient, uris: Any) -> None:
    answer = post(host, {"client_name": "x", "redirect_uris": uris})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    assert post(host, {"client_name": "x"}).json()["error"] == "invalid_redirect_uri"
    many = {"redirect_uris": [f"http://localhost:{n}/cb" for n in range(1, 12)]}
    assert post(host, many).json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'"text"',
        b"null",
        b"5",
        b"",
        b'{"redirect_uris": [',
        b'{"redirect_uris": ["http://localhost/cb"], "a": NaN}',
        b"[" * 2000 + b"]" * 2000,
        b'\xef\xbb\xbf{"redirect_uris": ["http://localhost/cb"]}',
        b'{"client_name": "\xff"}',
        b"9" * 5000,
    ],
)
def test_a_body_that_is_no_json_object_is_refused(host: TestClient, body: bytes) -> None:
    answer = host.post("/oauth/register", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


@pytest.mark.parametrize(
    "extra",
    [
        {"grant_types": 5},
        {"grant_types": [{}]},
        {"grant_types": ["client_credentials"]},
        {"response_types": ["token"]},
        {"client_name": 7},
        {"client_name": ""},
        {"client_name": "x" * 101},
        {"client_name": "a\u202eb"},
        {"client_name": "a\nb"},
        {"client_name": "\ud800"},
        {"client_name": "\u3164"},
        {"client_name": "\u2800"},
        {"client_name": "\u115f\u1160"},
        {"client_name": "Cl\u0430ude"},
        {"client_name": "C1aude Code"},
        {"client_name": "Z\u0335\u0336\u0337ed"},
        {"logo_uri": ["x"]},
        {"scope": {"a": 1}},
    ],
)
def test_metadata_of_a_wrong_type_is_refused(host: TestClient, extra: dict[str, Any]) -> None:
    body = json.dumps({"redirect_uris": ["http://localhost/cb"], **extra})
    answer = host.post("/oauth/register", content=body, headers={"content-type": "application/json; charset=utf-8"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_the_body_has_a_size_limit_and_a_type(host: TestClient) -> None:
    good = json.dumps({"redirect_uris": ["http://localhost/cb"], "client_name": "x"})
    padded = good[:-1] + " " * (17 * 1024) + "}"
    assert host.post("/oauth/register", content=padded, headers={"content-type": "application/json"}).status_code == 413
    chunks = (padded.encode()[i : i + 1000] for i in range(0, len(padded), 1000))
    assert host.post("/oauth/register", content=chunks, headers={"content-type": "application/json"}).status_code == 413
    for other in ("application/x-www-form-urlencoded", "text/plain", "application/jsonp"):
        assert host.post("/oauth/register", content=good, headers={"content-type": other}).status_code == 400


def test_an_identical_body_gets_the_same_client_for_ten_minutes(host: TestClient, later: Any) -> None:
    from datetime import timedelta

    body = {"client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"]}
    first, second = post(host, body).json(), post(host, body).json()
    assert first == second
    assert post(host, {**body, "client_name": "Claude "}).json()["client_id"] != first["client_id"]
    later(timedelta(minutes=11))
    assert post(host, body).json()["client_id"] != first["client_id"]


def test_an_identical_body_from_another_address_is_another_client(host: TestClient) -> None:
    """Else anyone who sends a well-known body would inherit what people allowed the client of someone else."""
    body = {"client_name": "Claude Code", "redirect_uris": ["http://localhost/cb"]}
    peers = ("127.0.0.1", "203.0.113.9", "2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1")
    callers = [TestClient(host.app, base_url=BASE, client=(peer, 1)) for peer in peers]
    ids = [post(caller, body).json()["client_id"] for caller in callers]
    assert ids[2] == ids[3]  # one household
    assert len(set(ids)) == 4
    assert [post(caller, body).json()["client_id"] for caller in callers] == ids


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("\u3164", "client_name has characters that cannot be seen."),
        ("Cl\u0430ude", "client_name mixes letters of several alphabets in one word."),
        ("Gr0k", "client_name looks like the name of another application and is spelled with other signs."),
    ],
)
def test_an_unfit_name_is_refused_with_its_reason(host: TestClient, name: str, words: str) -> None:
    answer = post(host, {"client_name": name, "redirect_uris": ["http://localhost/cb"]})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")
    assert answer.json()["error_description"] == words
    assert count_stored() == 0


@pytest.mark.parametrize(("peer", "allowed"), [("203.0.113.9", 3), ("160.79.104.10", 6), ("127.0.0.1", 8), ("::1", 8)])
def test_registrations_are_limited_by_address(host: TestClient, configure: Any, peer: str, allowed: int) -> None:
    configure(DCR_PER_HOUR="3", DCR_TRUSTED_PER_HOUR="6")
    caller = TestClient(host.app, base_url=BASE, client=(peer, 1))
    answers = [post(caller, {"client_name": f"n{n}", "redirect_uris": ["http://localhost/cb"]}) for n in range(8)]
    assert [a.status_code for a in answers] == [201] * allowed + [429] * (8 - allowed)
    assert all(int(a.headers["retry-after"]) > 0 for a in answers if a.status_code == 429)


def test_addresses_of_one_ipv6_network_share_their_limit(host: TestClient, configure: Any) -> None:
    configure(DCR_PER_HOUR="1")
    codes = []
    for peer in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"):
        caller = TestClient(host.app, base_url=BASE, client=(peer, 1))
        codes.append(post(caller, {"client_name": peer, "redirect_uris": ["http://localhost/cb"]}).status_code)
    assert codes == [201, 429, 201]


def test_a_client_that_calls_itself_claude_on_loopback_is_shown_for_what_it_is(ann: Browser) -> None:
    client_id = ann.register("http://127.0.0.1:18250/callback", client_name="Claude")
    ann.sign_in()
    page = ann.authorize(client_id).text
    assert "127.0.0.1" in page
    assert "any program there could call itself" in page


@pytest.mark.parametrize("uri", WELL_KNOWN["Cursor"] + WELL_KNOWN["VS Code"] + WELL_KNOWN["ChatGPT, per connector"])
def test_codes_reach_every_kind_of_registered_address(ann: Browser, uri: str) -> None:
    client_id = ann.register(uri)
    ann.sign_in()
    answer = ann.answer(ann.get("/oauth/authorize", params=query(client_id, redirect_uri=uri)))
    assert answer.headers["location"].startswith(uri + "?")
    assert back(answer)["iss"] == BASE
