"""The authorization endpoint: which requests are shown as a page, which errors go back, and what they carry."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.auth_server.in_process_browser import BASE, CALLBACK, HOSTED, RESOURCE, Browser, back, challenge, query

OTHER_URIS = {
    "longer path": "http://127.0.0.1:18250/callback/evil",
    "trailing slash": "http://127.0.0.1:18250/callback/",
    "extra query": "http://127.0.0.1:18250/callback?x=1",
    "query without a value": "http://127.0.0.1:18250/callback?x",
    "empty query": "http://127.0.0.1:18250/callback?",
    "parameters of the path": "http://127.0.0.1:18250/callback;x",
    "padded port": "http://127.0.0.1:018250/callback",
    "upper host": "http://LOCALHOST:18250/callback",
    "host swap": "http://127.0.0.1:18250@evil.example/callback",
    "user information": "http://evil@127.0.0.1:18250/callback",
    "path case": "http://127.0.0.1:18250/Callback",
    "dot segments": "http://127.0.0.1:18250/x/../callback",
    "https": "https://127.0.0.1:18250/callback",
    "upper scheme": "HTTP://127.0.0.1:18250/callback",
    "localhost": "http://localhost:18250/callback",
    "IPv6": "http://[::1]:18250/callback",
    "short": "http://127.1:18250/callback",
    "decimal": "http://2130706433:18250/callback",
    "port zero": "http://127.0.0.1:0/callback",
    "empty port": "http://127.0.0.1:/callback",
    "large port": "http://127.0.0.1:99999/callback",
    "fragment": "http://127.0.0.1:18250/callback#x",
    "backslash": "http://127.0.0.1:18250\\@evil.example/callback",
    "tab": "http://127.0.0.1:18250/\tcallback",
    "newline": "http://127.0.0.1:18250/callback\n",
    "accent": "http://\xe9xample.test/callback",
    "quote": 'http://127.0.0.1:18250/callback"',
    "script": "javascript:alert(1)",
    "elsewhere": "https://evil.example/cb",
    "relative": "/callback",
    "encoded path": "http://127.0.0.1:18250/%63allback",
}


def is_page(answer: Any) -> bool:
    return answer.status_code == 400 and "location" not in answer.headers and "<h1>" in answer.text


@pytest.mark.parametrize("kind", OTHER_URIS)
def test_a_redirect_uri_that_is_not_the_registered_one_ends_on_a_page(ann: Browser, kind: str) -> None:
    client_id = ann.register()
    answer = ann.authorize(client_id, redirect_uri=OTHER_URIS[kind])
    assert is_page(answer)
    assert "evil" not in answer.text


def test_loopback_ports_are_free_and_https_ports_are_not(ann: Browser) -> None:
    client_id = ann.register("http://127.0.0.1:18250/callback", "https://claude.ai/cb")
    assert ann.authorize(client_id, redirect_uri="http://127.0.0.1:50999/callback").status_code == 302
    assert is_page(ann.authorize(client_id, redirect_uri="https://claude.ai:443/cb"))
    assert is_page(ann.authorize(client_id, redirect_uri="https://claude.ai:8443/cb"))


def test_unknown_or_missing_clients_end_on_a_page(ann: Browser) -> None:
    for client_id in ("nobody", None, "x" * 600, "award-travel-services", "a\x00b"):
        answer = ann.authorize(client_id, redirect_uri="https://evil.example/cb")  # type: ignore[arg-type]
        assert is_page(answer)
    assert is_page(ann.authorize(ann.register(), redirect_uri=None))


@pytest.mark.parametrize(
    "name", ["client_id", "state", "code_challenge", "scope", "response_type", "redirect_uri", "prompt", "nonce"]
)
def test_a_parameter_sent_twice_ends_on_a_page(ann: Browser, name: str) -> None:
    fields = query(ann.register(), prompt="consent", nonce="n")
    fields[name] = [fields[name], fields[name]]
    assert is_page(ann.get("/oauth/authorize", params=fields))


@pytest.mark.parametrize("state", ["a\r\nSet-Cookie: x=1", "a\x00", "\u00e9", "x" * 4097, "a\x7f"])
def test_unprintable_or_endless_state_ends_on_a_page(ann: Browser, state: str) -> None:
    assert is_page(ann.authorize(ann.register(), state=state))


def test_queries_have_a_size_and_must_be_readable(ann: Browser) -> None:
    client_id = ann.register()
    assert is_page(ann.authorize(client_id, **{f"x{n}": "y" * 4000 for n in range(3)}))
    assert is_page(ann.authorize(client_id, **{f"x{n}": "1" for n in range(50)}))
    assert is_page(ann.get(f"/oauth/authorize?client_id={client_id}&state=%ff"))
    assert is_page(ann.get("/oauth/authorize"))


def test_other_methods_of_the_authorization_endpoint_are_refused(ann: Browser) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD"):
        assert ann.send(method, "/oauth/authorize").status_code == 405


BACK = [
    ("response_type missing", {"response_type": None}, "invalid_request"),
    ("response_type token", {"response_type": "token"}, "unsupported_response_type"),
    ("response_type code token", {"response_type": "code token"}, "unsupported_response_type"),
    ("response_type with a quote", {"response_type": 'co"de'}, "unsupported_response_type"),
    ("no PKCE", {"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
    ("challenge without method", {"code_challenge_method": None}, "invalid_request"),
    ("method plain", {"code_challenge_method": "plain"}, "invalid_request"),
    ("method s256", {"code_challenge_method": "s256"}, "invalid_request"),
    ("method without challenge", {"code_challenge": None}, "invalid_request"),
    ("short challenge", {"code_challenge": "a" * 42}, "invalid_request"),
    ("long challenge", {"code_challenge": "a" * 44}, "invalid_request"),
    ("padded challenge", {"code_challenge": challenge("x")[:42] + "="}, "invalid_request"),
    ("fragment mode", {"response_mode": "fragment"}, "invalid_request"),
    ("form_post mode", {"response_mode": "form_post"}, "invalid_request"),
    ("request object", {"request": "a.b.c"}, "request_not_supported"),
    ("request_uri", {"request_uri": "http://169.254.169.254/"}, "request_uri_not_supported"),
    ("two prompts with none", {"prompt": "none login"}, "invalid_request"),
    ("unknown prompt", {"prompt": "create"}, "invalid_request"),
    ("max_age that is no number", {"max_age": "soon"}, "invalid_request"),
    ("max_age below zero", {"max_age": "-1"}, "invalid_request"),
    ("foreign resource", {"resource": "https://evil.example/mcp"}, "invalid_target"),
    ("resource with fragment", {"resource": RESOURCE + "#x"}, "invalid_target"),
    ("relative resource", {"resource": "/mcp"}, "invalid_target"),
    ("prefix trick", {"resource": RESOURCE + "evil"}, "invalid_target"),
    ("parent path", {"resource": RESOURCE + "/x"}, "invalid_target"),
    ("resource with user", {"resource": "http://x@127.0.0.1:8001/mcp"}, "invalid_target"),
    ("resource with bad port", {"resource": "http://127.0.0.1:x/mcp"}, "invalid_target"),
    ("two resources", {"resource": [RESOURCE, f"{BASE}/mcp"]}, "invalid_target"),
    ("malformed scope", {"scope": 'mcp:read "x"'}, "invalid_scope"),
    ("scope with a backslash", {"scope": "a\\b"}, "invalid_scope"),
    ("scope that is not ASCII", {"scope": "mcp:r\u00e9ad"}, "invalid_scope"),
    ("challenge that is not ASCII", {"code_challenge": "\u00e9" * 43}, "invalid_request"),
    ("resource that is not ASCII", {"resource": "https://\u00e9.example/mcp"}, "invalid_target"),
    ("response type that is not ASCII", {"response_type": "cod\u00e9"}, "unsupported_response_type"),
    ("max_age in other digits", {"max_age": "\u0663"}, "invalid_request"),
    ("max_age of a raised digit", {"max_age": "\u00b2"}, "invalid_request"),
    ("nonce that is not ASCII", {"nonce": "\u00e9"}, "invalid_request"),
    ("no one signed in", {"prompt": "none"}, "login_required"),
]


@pytest.mark.spec("s5.5.s256_only")
@pytest.mark.spec("s5.5.pkce_mandatory")
@pytest.mark.parametrize(("changed", "error"), [c[1:] for c in BACK], ids=[c[0] for c in BACK])
def test_errors_go_back_with_exact_state_and_issuer(stranger: Browser, changed: dict[str, Any], error: str) -> None:
    answer = stranger.authorize(stranger.register(), **changed)
    assert answer.status_code == 302
    assert answer.headers["location"].startswith(CALLBACK + "?")
    params = back(answer)
    assert params["error"] == error
    assert params["state"] == "st&te= 1"
    assert params["iss"] == BASE
    assert "code" not in params
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_hint_in_another_script_hinders_nobody(ann: Browser) -> None:
    client_id = ann.register()
    ann.sign_in()
    assert ann.code(client_id, login_hint="j\u00f6rg@example.com", ui_locales="\u65e5\u672c")


def test_consent_required_is_said_when_nothing_may_be_shown(ann: Browser) -> None:
    client_id = ann.register(HOSTED)
    ann.sign_in()
    assert back(ann.authorize(client_id, redirect_uri=HOSTED, prompt="none"))["error"] == "consent_required"
    ann.code(client_id, redirect_uri=HOSTED)
    assert "code" in back(ann.authorize(client_id, redirect_uri=HOSTED, prompt="none"))


@pytest.mark.spec("s5.2.scope_not_widened")
@pytest.mark.spec("s5.2.openid_email_added")
@pytest.mark.spec("s5.2.scope_automatic")
@pytest.mark.spec("s5.2.one_scope")
@pytest.mark.parametrize(
    ("scope", "granted"),
    [
        ("admin mcp:write mcp:read offline_access", "mcp:read"),
        (None, "mcp:read openid email"),
        ("", "mcp:read openid email"),
        ("mcp:read", "mcp:read"),
        (" offline_access", "mcp:read"),
        ("a  b ", "mcp:read"),
        ("email mcp:read openid profile", "mcp:read openid email"),
        ("openid", "mcp:read openid"),
    ],
)
def test_no_more_scope_is_granted_than_was_asked_for(ann: Browser, scope: str | None, granted: str) -> None:
    client_id = ann.register()
    answer = ann.redeem(client_id, ann.code(client_id, scope=scope)).json()
    assert answer["scope"] == granted
    assert ("id_token" in answer) == ("openid" in granted)
    assert ann.introspect(answer["access_token"])["scope"] == granted
    for changed in ({}, {"scope": "admin"}, {"something": "unusual"}):
        answer = ann.refresh(client_id, answer["refresh_token"], **changed).json()
        assert answer["scope"] == granted


@pytest.mark.parametrize(
    ("resource", "audience"),
    [
        (None, RESOURCE),
        (RESOURCE, RESOURCE),
        ("HTTP://127.0.0.1:8001/mcp/", RESOURCE),
        ("http://127.0.0.1:8001", RESOURCE),
        ("http://127.0.0.1:8001/", RESOURCE),
        (RESOURCE + "?areas=cards", RESOURCE),
        ([RESOURCE, RESOURCE + "/"], RESOURCE),
        (f"{BASE}/mcp", f"{BASE}/mcp"),
        ("http://localhost:8001/mcp", "http://localhost:8001/mcp"),
    ],
)
def test_the_token_is_bound_to_the_canonical_resource(ann: Browser, resource: Any, audience: str) -> None:
    client_id = ann.register()
    token = ann.redeem(client_id, ann.code(client_id, resource=resource), resource=resource).json()
    assert ann.introspect(token["access_token"])["aud"] == audience


def test_without_state_none_comes_back(ann: Browser) -> None:
    client_id = ann.register()
    ann.sign_in()
    params = back(ann.answer(ann.authorize(client_id, state=None)))
    assert set(params) == {"code", "iss"}


def test_the_registered_query_is_kept_byte_for_byte(ann: Browser) -> None:
    uri = "http://127.0.0.1:18250/cb?a=b%20c&d=%2f"
    client_id = ann.register(uri)
    ann.sign_in()
    answer = ann.answer(ann.authorize(client_id, redirect_uri=uri))
    assert answer.headers["location"].startswith(uri + "&code=")
    refused = ann.authorize(client_id, redirect_uri=uri, response_type="token")
    assert refused.headers["location"].startswith(uri + "&error=")


def test_forged_host_headers_change_no_address(ann: Browser) -> None:
    forged = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "forwarded": "host=evil.example"}
    client_id = ann.register()
    answer = ann.get("/oauth/authorize", params=query(client_id, response_type="token"), headers=forged)
    assert back(answer)["iss"] == BASE
    assert ann.get("/oauth/authorize", headers={"host": "evil.example"}).status_code == 421


def test_a_request_survives_sign_in_unchanged(ann: Browser) -> None:
    client_id = ann.register()
    raw = f"client_id={client_id}&redirect_uri={quote(CALLBACK, safe='')}&state=%2B%26%3D%20%25&response_type=code"
    raw += f"&code_challenge={challenge('v' * 64)}&code_challenge_method=S256"
    entrance = ann.get(f"/oauth/authorize?{raw}").headers["location"]
    from tests.auth_server.in_process_browser import hidden

    onward = ann.sign_in(return_to=hidden(ann.get(entrance).text, "return_to"))
    assert onward.headers["location"] == f"/oauth/authorize?{raw}"
    assert back(ann.answer(ann.get(onward.headers["location"])))["state"] == "+&= %"
