"""Anything at all, sent anywhere: the answer is never a failure of ours and never repeats a secret."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auth_server.app import ROUTES
from tests.auth_server.in_process_browser import BASIC, CALLBACK, FORM, RESOURCE, VERIFIER, Browser, challenge

NAMES = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
    "prompt",
    "max_age",
    "first_seen",
    "nonce",
    "response_mode",
    "request",
    "request_uri",
    "grant_type",
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "client_assertion",
    "token",
    "token_type_hint",
    "csrf",
    "return_to",
    "email",
    "password",
    "action",
    "query",
]
HOSTILE = [
    "",
    " ",
    "\x00",
    "\r\nx: y",
    "\u00e9\u4e16\u202e",
    "\ud83d\ude00",
    '"\\',
    "' or 1=1 --",
    "%",
    "%00",
    "../..",
    "http://[",
    "http://127.0.0.1:99999999999/",
    "https://\u00e9",
    "//evil.example",
    "code",
    "S256",
    "authorization_code",
    "refresh_token",
    "award-travel-services",
    "none login",
    "9" * 30,
    "x" * 4096,
    "x" * 4097,
    CALLBACK,
    RESOURCE,
    VERIFIER,
    challenge(VERIFIER),
    "urn:ietf:wg:oauth:2.0:oob",
    "https://claude.ai/oauth/claude-code-client-metadata",
    "https://claude.ai/../x",
    "https://[",
    "https://claude.ai:x/y",
    "1999999999.000000-" + "0" * 64,
]
VALUES = st.sampled_from(HOSTILE) | st.text(max_size=40)
FIELDS = st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=8), VALUES), max_size=12)
PATHS = st.sampled_from([*sorted({re.sub(r"{\w+(:\w+)?}", "x", route.path) for route in ROUTES}), "/nowhere"])
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "authorization": st.sampled_from([BASIC.encode(), b"Basic \xff", b"Basic eA==", b"Bearer x", b"Bearer \xff"]),
        "origin": st.sampled_from([b"null", b"http://127.0.0.1:8000", b"\xff"]),
        "cookie": st.sampled_from([b"award=x", b"award=\xff", b"award", b"=;=;", b'award="\\"']),
        "content-length": st.sampled_from([b"-1", b"x", b"99999999999999999999"]),
        "content-type": st.sampled_from([b"", b"\xff", b"application/json", FORM["content-type"].encode()]),
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda x: (
        st.lists(x, max_size=3)
        | st.dictionaries(st.sampled_from(["redirect_uris", "client_name", "grant_types", "scope"]), x, max_size=4)
    ),
    max_leaves=8,
)
QUIET = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def encode(fields: list[tuple[str, str]]) -> bytes:
    from urllib.parse import urlencode

    return urlencode([(k.encode("utf-8", "replace"), v.encode("utf-8", "replace")) for k, v in fields]).encode()


def test_every_endpoint_is_among_those_tried() -> None:
    paths = {route.path for route in ROUTES}
    assert {"/oauth/token", "/oauth/authorize", "/oauth/userinfo", "/oauth/jwks", "/internal/api-key"} <= paths


@pytest.mark.slow  # hundreds of generated requests
@QUIET
@given(method=st.sampled_from(["GET", "POST"]), path=PATHS, query=FIELDS, body=FIELDS, headers=HEADERS)
def test_no_form_or_query_is_a_failure_of_ours(
    ann: Browser, method: str, path: str, query: list[Any], body: list[Any], headers: dict[str, bytes]
) -> None:
    target = f"{path}?{encode(query).decode()}" if query else path
    sent_headers = {"content-type": FORM["content-type"].encode(), **headers}
    answer = ann.host.request(method, target, content=encode(body) if method == "POST" else None, headers=sent_headers)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text


@pytest.mark.slow  # hundreds of generated requests
@QUIET
@given(raw=st.binary(max_size=300), path=PATHS, kind=st.sampled_from([FORM["content-type"], "application/json"]))
def test_no_bytes_are_a_failure_of_ours(ann: Browser, raw: bytes, path: str, kind: str) -> None:
    assert ann.host.post(path, content=raw, headers={"content-type": kind, "authorization": BASIC}).status_code < 500


@pytest.mark.slow  # hundreds of generated requests
@QUIET
@given(data=JSON)
def test_no_registration_is_a_failure_of_ours(ann: Browser, data: Any) -> None:
    import json

    body = json.dumps(data)
    answer = ann.host.post("/oauth/register", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (201, 400)
