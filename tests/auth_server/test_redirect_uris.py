"""Redirect URIs by chance: whatever is accepted leads to a listed place, read strictly and read as a browser does."""

import json
import os
import random
import re
import subprocess
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from auth_server.oauth import redirect_uris
from auth_server.oauth.redirect_uris import BadRedirect, check_registration, is_host_name, matches
from tests.auth_server.in_process_browser import BASE

ACME = "https://acme.app.n8n.cloud/rest/oauth2-credential/callback"
AGENT = "https://bedrock-agentcore.eu-west-1.amazonaws.com/identities/oauth2/callback"
CLINE = "vscode://saoudrizwan.claude-dev/mcp-auth/callback/0a1B2c3D"
COMMON = [
    ACME,
    f"{AGENT}/0f7d2c1a-11aa-4c53-9e4b-2f0c1f0f7d2c",
    "https://bedrock-agentcore.us-gov-west-1.amazonaws.com/identities/oauth2/callback",
    "https://vertexaisearch.cloud.google.com/oauth-redirect",
    "https://oauth.pstmn.io/v1/callback",
    "https://playground.ai.cloudflare.com/agents/oauth/callback",
    "https://agent.meta.ai/oauth/callback",
    CLINE,
    CLINE.replace("vscode:", "vscode-insiders:"),
    CLINE.replace("vscode:", "cursor:") + "?windowId=2",
    "cursor://anysphere.cursor-mcp/oauth/callback/",
]
LOOK_ALIKE = [
    "https://app.n8n.cloud/rest/oauth2-credential/callback",
    "https://a.b.app.n8n.cloud/rest/oauth2-credential/callback",
    "https://acme.app.n8n.cloud.evil.example/rest/oauth2-credential/callback",
    "https://evil-app.n8n.cloud/rest/oauth2-credential/callback",
    "https://evil.example/acme.app.n8n.cloud/rest/oauth2-credential/callback",
    "https://acme.app.n8n.cloud./rest/oauth2-credential/callback",
    "https://acme.app.n8n.cloud:443/rest/oauth2-credential/callback",
    "https://acme%2eapp.n8n.cloud/rest/oauth2-credential/callback",
    "https://x@acme.app.n8n.cloud/rest/oauth2-credential/callback",
    "https://acme.app.n8n.cloud/webhook/steal",
    ACME + "/",
    ACME + "?next=https://evil.example",
    "https://bedrock-agentcore.s3.amazonaws.com/identities/oauth2/callback",
    "https://bedrock-agentcore.s3-us-west-2.amazonaws.com/identities/oauth2/callback",
    "https://bedrock-agentcore.s3.eu-west-1.amazonaws.com/identities/oauth2/callback",
    AGENT + "/..",
    AGENT + "/%2e%2e",
    "vscode://saoudrizwan.claude-dev.evil/mcp-auth/callback/1",
    "vscode://evil-saoudrizwan.claude-dev/mcp-auth/callback/1",
    "vscode://saoudrizwan.claude-dev:80/mcp-auth/callback/1",
    "vscode://x@saoudrizwan.claude-dev/mcp-auth/callback/1",
    "vscode://saoudrizwan.claude-dev@evil/mcp-auth/callback/1",
    "VSCODE://saoudrizwan.claude-dev/mcp-auth/callback/1",
    "vscode:saoudrizwan.claude-dev/mcp-auth/callback/1",
    "vscode:///saoudrizwan.claude-dev/mcp-auth/callback/1",
    "javascript://saoudrizwan.claude-dev/%0aalert(1)",
    CLINE + "?code=theirs",
    CLINE + "/../evil",
]


@pytest.mark.spec("s5.3.redirect_allowlist")
def test_callbacks_of_common_hosts_are_taken_and_what_looks_alike_is_not(host: TestClient) -> None:
    def register(uri: str) -> int:
        return int(host.post("/oauth/register", json={"redirect_uris": [uri]}).status_code)

    assert [uri for uri in COMMON if register(uri) != 201] == []
    assert [uri for uri in LOOK_ALIKE if register(uri) != 400] == []


def test_a_refused_host_is_told_the_way_out(host: TestClient) -> None:
    answer = host.post("/oauth/register", json={"redirect_uris": ["https://n8n.example.org/rest/cb"]})
    told = answer.json()["error_description"]
    assert "OAUTH_DCR_REDIRECT_HOST_ALLOWLIST" in told
    assert f"{BASE}/dashboard/api-apps/new" in told
    assert re.fullmatch(r"[\x20\x21\x23-\x5b\x5d-\x7e]+", told)  # RFC 6749 5.2
    assert "n8n.example.org" not in told


# What is accepted, by chance.

LISTED = ["claude.ai", "oauth.pstmn.io", "acme.app.n8n.cloud", "bedrock-agentcore.eu-west-1.amazonaws.com"]
AUTHORITIES = [*LISTED, "saoudrizwan.claude-dev", "anysphere.cursor-mcp", "127.0.0.1", "[::1]", "localhost"]
SCHEMES = ["https://", "http://", "HTTPS://", "https:/", "https:", "vscode://", "cursor://", "javascript://", "//", ""]
BEFORE = [
    "",
    "",
    "",
    "evil-",
    "evil.",
    "evil%2e",
    "evil.example/",
    "evil.example?",
    "x@",
    "claude.ai@",
    "a:b@",
    "\\",
    ".",
]
AFTER = ["", "", "", ".", "..", ".evil.example", "%2eevil.example", "%00.evil", "@evil.example", ":443@evil.example"]
AFTER += [
    ":",
    ":0",
    ":443",
    ":8443",
    ":0443",
    ":65536",
    "\\.evil",
    "\\@evil",
    "\t",
    "\u3002evil",
    "%40evil",
    ";evil",
    "#",
]
PATHS = ["", "/", "/cb", "/../cb", "/%2e%2E/cb", "//evil.example", "/\\evil", "?x=1", "?code=1", "/cb#f", "/cb@evil"]
PATHS += ["/rest/oauth2-credential/callback", "/identities/oauth2/callback", "/identities/oauth2/callback/x", "/ cb"]
PARTS = (SCHEMES, BEFORE, AUTHORITIES, AFTER, PATHS)
TENANT = re.compile(r"[a-z0-9-]+\.app\.n8n\.cloud|bedrock-agentcore\.[a-z]{2}(-[a-z]+)+-\d+\.amazonaws\.com")


def is_accepted(uri: str) -> bool:
    try:
        return check_registration(uri) == uri
    except BadRedirect:
        return False


def is_listed_place(scheme: str, host: str) -> bool:
    """By the lists themselves and nothing of the code under test."""
    lists = redirect_uris._load_lists()
    if scheme == "http":
        return host in ("127.0.0.1", "[::1]", "localhost")
    if scheme == "https":
        return host in lists["hosts"] or TENANT.fullmatch(host) is not None
    return f"{scheme}://{host}" in lists["editors"]


@given(st.tuples(*map(st.sampled_from, PARTS)), st.data())
@settings(max_examples=600, deadline=None)
def test_what_is_accepted_leads_to_a_listed_place(parts: tuple[str, ...], data: st.DataObject) -> None:
    uri = "".join(parts)
    where = data.draw(st.integers(0, len(uri)))
    uri = data.draw(
        st.sampled_from([uri, uri.swapcase(), uri[:where] + "%2e" + uri[where:], uri[:where] + uri[where + 1 :]])
    )
    if not is_accepted(uri):
        return
    scheme, _, rest = uri.partition("://")
    authority, _, path = re.sub(r"[/?]", "\0", rest, count=1).partition("\0")
    host, port = re.fullmatch(r"(\[[^]]*\]|[^:]*)(?::(\d*))?", authority).groups()  # type: ignore[union-attr]
    assert is_listed_place(scheme, host.lower() if scheme == "https" else host), uri
    assert port in (None, "443") or scheme == "http", uri
    assert not set(uri) & set("\\#*@ \t%") - set(path), uri
    assert not {".", ".."} & set(unquote(path.partition("?")[0]).split("/")), uri


@given(st.tuples(*map(st.sampled_from, PARTS)), st.tuples(*map(st.sampled_from, PARTS)), st.sampled_from(AFTER))
@settings(max_examples=400, deadline=None)
def test_only_the_port_of_a_loopback_address_may_differ(first: Any, second: Any, more: str) -> None:
    registered = "".join(first)
    for requested in ("".join(second), registered + more, registered.replace("/cb", f"{more}/cb"), registered.upper()):
        if is_accepted(registered) and requested != registered and matches(requested, registered):
            assert registered.startswith("http://"), (registered, requested)
            local = re.compile(r"(?<=127\.0\.0\.1|.localhost|....\[::1\])(:\d+)?(?=[/?]|\Z)")
            assert local.sub("", requested, count=1) == local.sub("", registered, count=1)


@pytest.mark.node
def test_a_browser_reads_an_accepted_address_as_we_do() -> None:
    chance = random.Random(8)
    uris = list(dict.fromkeys("".join(map(chance.choice, PARTS)) for _ in range(40_000)))
    accepted = [uri for uri in [*uris, *COMMON] if is_accepted(uri)]
    script = "const u=JSON.parse(require('fs').readFileSync(0)).map(x=>{const p=new URL(x);return [p.protocol,p.host,"
    script += "p.username+p.password]});console.log(JSON.stringify(u))"
    line = [os.environ["AWARD_NODE"], "-e", script]
    told = subprocess.run(line, input=json.dumps(accepted), capture_output=True, encoding="utf-8", check=True).stdout
    assert len(accepted) > 40
    for uri, (protocol, place, user) in zip(accepted, json.loads(told), strict=True):
        host = re.sub(r":\d+\Z", "", place) if protocol == "http:" else place
        assert (is_listed_place(protocol[:-1], host), user) == (True, ""), uri


@pytest.mark.parametrize(
    ("name", "is_whole"),
    [
        ("agents.example", True),
        ("a.b-c.example", True),
        ("xn--bcher-kva.example", True),
        ("example", False),
        ("localhost", False),
        ("agents.example.", False),
        ("127.0.0.1", False),
        ("127.1", False),
        ("2130706433", False),
        ("0x7f.1", False),
        ("1.2.3.0x4", False),
        ("-a.example", False),
        ("a..example", False),
        ("", False),
    ],
)
def test_a_host_of_a_document_is_a_whole_name(name: str, is_whole: bool) -> None:
    assert is_host_name(name) is is_whole
