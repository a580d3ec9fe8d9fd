"""Client ID Metadata Documents: which are asked for, read, believed and kept, and what happens when they are not."""

import asyncio
import gzip
import json
import re
import socket
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from sqlalchemy import select, update

from auth_server.oauth import client_metadata
from auth_server.sweep import sweep
from shared import clock
from shared.db.base import transaction
from shared.db.oauth import Client
from tests.auth_server.in_process_browser import BASE, Browser, back

URL = "https://claude.ai/oauth/new-program"
PINNED = "https://claude.ai/oauth/claude-code-client-metadata"
LOOPBACK = "http://127.0.0.1:50123/callback"
Vendor = Callable[[httpx.Request], Any]


def document(url: str = URL, **changed: Any) -> dict[str, Any]:
    metadata = {
        "client_id": url,
        "client_name": "New program",
        "redirect_uris": ["http://127.0.0.1/callback"],
    } | changed
    return {name: value for name, value in metadata.items() if value is not None}


class World:
    """The other side: what it answers, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.answer: Any = httpx.Response(200, json=document())

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        answer = self.answer(request) if callable(self.answer) else self.answer
        return await answer if asyncio.iscoroutine(answer) else answer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(
        client_metadata, "public_client", lambda: httpx.AsyncClient(transport=httpx.MockTransport(world))
    )
    return world


def authorize(ann: Browser, client_id: str = URL, **changed: Any) -> Any:
    return ann.authorize(client_id, **{"redirect_uri": LOOPBACK} | changed)


def is_refused(answer: Any) -> bool:
    """A page, not a redirect, that names the error and repeats nothing."""
    return answer.status_code == 400 and "location" not in answer.headers and "invalid_client" in answer.text


def list_stored() -> list[str]:
    with transaction() as session:
        return list(session.scalars(select(Client.client_id)))


def test_a_document_is_a_registration(ann: Browser, world: World) -> None:
    ann.sign_in()
    page = authorize(ann)
    assert page.status_code == 200
    assert "New program" in page.text
    assert "<strong>claude.ai</strong>" in page.text  # who describes it
    assert "any program there" in page.text  # and yet a program on this computer
    code = back(ann.answer(page))["code"]
    tokens = ann.redeem(URL, code, redirect_uri=LOOPBACK).json()
    assert ann.introspect(tokens["access_token"])["client_id"] == URL
    assert ann.refresh(URL, tokens["refresh_token"]).status_code == 200
    (request,) = world.asked
    assert request.headers["accept"] == "application/json"
    assert "cookie" not in request.headers
    assert "authorization" not in request.headers


NO_ADDRESS = {
    "user information": "https://claude.ai@evil.example/client.json",
    "user with password": "https://a:b@claude.ai/client.json",
    "another port": "https://claude.ai:8443/client.json",
    "http": "http://claude.ai/client.json",
    "upper scheme": "HTTPS://claude.ai/client.json",
    "upper host": "https://CLAUDE.AI/client.json",
    "final dot": "https://claude.ai./client.json",
    "no path": "https://claude.ai",
    "root path": "https://claude.ai/",
    "fragment": "https://claude.ai/client.json#x",
    "dot segment": "https://claude.ai/a/../client.json",
    "encoded dot segment": "https://claude.ai/a/%2e%2E/client.json",
    "single dot": "https://claude.ai/./client.json",
    "backslash": "https://claude.ai\\@evil.example/client.json",
    "encoded host": "https://claude%2eai/client.json",
    "space": "https://claude.ai/client json",
    "metadata address": "https://169.254.169.254/latest/meta-data",
    "loopback": "https://127.0.0.1/client.json",
    "IPv6 loopback": "https://[::1]/client.json",
    "localhost": "https://localhost/client.json",
    "decimal": "https://2130706433/client.json",
    "hexadecimal": "https://0x7f.1/client.json",
    "name of one label": "https://intranet/client.json",
    "too long": "https://claude.ai/" + "x" * 500,
}


@pytest.mark.parametrize("kind", NO_ADDRESS)
def test_what_is_no_address_of_a_document_is_never_asked(ann: Browser, world: World, kind: str) -> None:
    answer = authorize(ann, NO_ADDRESS[kind])
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "evil" not in answer.text
    assert world.asked == []
    assert list_stored() == []


OTHER_HOST = "https://agents.example/client.json"
OWN_CALLBACK = "https://agents.example/cb"


def test_a_document_of_any_host_is_read_and_the_page_says_that_it_is_not_known(ann: Browser, world: World) -> None:
    world.answer = httpx.Response(200, json=document(OTHER_HOST, redirect_uris=[LOOPBACK, OWN_CALLBACK]))
    ann.sign_in()
    for uri in (LOOPBACK, OWN_CALLBACK):
        page = authorize(ann, OTHER_HOST, redirect_uri=uri)
        assert page.status_code == 200
        assert "<strong>agents.example</strong>, which is not known here" in page.text
    assert "Anyone with a web site can describe an application" in page.text
    code = back(ann.answer(page))["code"]
    assert ann.redeem(OTHER_HOST, code, redirect_uri=OWN_CALLBACK).status_code == 200
    assert [str(request.url) for request in world.asked] == [OTHER_HOST]
    world.answer = httpx.Response(200, json=document())
    assert "<strong>claude.ai</strong>, which is known here" in authorize(ann).text


@pytest.mark.spec("s5.3.redirect_allowlist")
@pytest.mark.parametrize(
    "uri",
    [
        "https://other.example/cb",
        "https://www.agents.example/cb",
        "https://agents.example.evil.example/cb",
        "https://agents.example:8443/cb",
        "https://agents.example@evil.example/cb",
        "http://agents.example/cb",
    ],
)
def test_a_document_of_another_host_leads_to_its_own_host_alone(ann: Browser, world: World, uri: str) -> None:
    world.answer = httpx.Response(200, json=document(OTHER_HOST, redirect_uris=[OWN_CALLBACK, uri]))
    page = authorize(ann, OTHER_HOST, redirect_uri=uri)
    assert is_refused(page)
    assert list_stored() == []
    assert "redirect_uris: " in page.text  # the reason
    assert "evil" not in page.text


def test_a_closed_service_reads_documents_of_known_hosts_alone(ann: Browser, world: World, configure: Any) -> None:
    configure(CLIENT_DOCUMENT_HOSTS="known")
    page = authorize(ann, OTHER_HOST, state="a&b")
    assert is_refused(page)
    assert world.asked == []
    assert "CLIENT_DOCUMENT_HOSTS" in page.text
    assert "agents.example" not in page.text
    link = re.search(r'<a class="button" href="([^"]*)"', page.text)
    assert link is not None
    place = urlsplit(unescape(link[1]))
    assert f"{place.scheme}://{place.netloc}{place.path}" == LOOPBACK
    params = dict(parse_qsl(place.query))
    assert (params["error"], params["state"], params["iss"]) == ("unauthorized_client", "a&b", BASE)
    assert "RFC 7591" in params["error_description"]
    assert authorize(ann).status_code == 302


@pytest.mark.parametrize(
    ("changed", "is_offered"),
    [
        ({}, True),
        ({"CLIENT_DOCUMENT_HOSTS": "known"}, False),
        ({"CLIENT_DOCUMENT_FETCH": "false"}, False),
        ({"CLIENT_DOCUMENT_HOSTS": "known", "DCR": "false"}, True),
    ],
)
def test_documents_are_offered_where_any_is_read_or_nothing_else_is_left(
    ann: Browser, configure: Any, changed: dict[str, str], is_offered: bool
) -> None:
    configure(**changed)
    metadata = ann.host.get("/.well-known/oauth-authorization-server").json()
    assert metadata["client_id_metadata_document_supported"] is is_offered


def test_slow_hosts_hold_a_bounded_number_of_fetches(
    ann: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_metadata, "MAX_FETCHES", 0)
    assert authorize(ann).status_code == 503
    assert world.asked == []


@pytest.mark.parametrize(
    "uri",
    [
        "https://agents.example/cb",
        "https://claude.ai/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "javascript:alert(1)",
        "http://127.0.0.1@agents.example/cb",
        "http://127.0.0.1:x/cb",
        "http://localhost.agents.example/",
        None,
    ],
)
def test_the_way_back_leads_to_this_computer_alone(ann: Browser, world: World, configure: Any, uri: str | None) -> None:
    configure(CLIENT_DOCUMENT_HOSTS="known")
    page = authorize(ann, OTHER_HOST, redirect_uri=uri)
    assert is_refused(page)
    assert 'class="button"' not in page.text


@pytest.mark.spec("s5.3.allowlist_setting")
def test_the_operator_adds_hosts(ann: Browser, world: World, configure: Any) -> None:
    url = OTHER_HOST
    world.answer = httpx.Response(200, json=document(url, redirect_uris=["https://agents.example/cb"]))
    configure(CLIENT_DOCUMENT_HOSTS="known")
    assert is_refused(authorize(ann, url))
    configure(CLIENT_DOCUMENT_HOSTS="known", OAUTH_DCR_REDIRECT_HOST_ALLOWLIST="agents.example")
    assert authorize(ann, url, redirect_uri="https://agents.example/cb").headers["location"].startswith("/signin?")


BAD = {
    "another client_id": document("https://claude.ai/oauth/other"),
    "client_id with a slash more": document(URL + "/"),
    "client_id in another case": document("https://claude.ai/oauth/New-program"),
    "no client_id": document(client_id=None),
    "a secret": document(client_secret="x"),
    "a secret's end": document(client_secret_expires_at=0),
    "basic": document(token_endpoint_auth_method="client_secret_basic"),
    "post": document(token_endpoint_auth_method="client_secret_post"),
    "secret jwt": document(token_endpoint_auth_method="client_secret_jwt"),
    "no redirects": document(redirect_uris=None),
    "empty redirects": document(redirect_uris=[]),
    "redirects of numbers": document(redirect_uris=[1]),
    "eleven redirects": document(redirect_uris=[f"http://127.0.0.1/{n}" for n in range(11)]),
    "a foreign redirect": document(redirect_uris=["http://127.0.0.1/callback", "https://evil.example/cb"]),
    "a script redirect": document(redirect_uris=["javascript:alert(1)"]),
    "an out-of-band redirect": document(redirect_uris=["urn:ietf:wg:oauth:2.0:oob"]),
    "a wildcard redirect": document(redirect_uris=["https://claude.ai/*"]),
    "a name of another type": document(client_name=5),
    "an invisible name": document(client_name="a\u202eb"),
    "other grants alone": document(grant_types=["client_credentials"]),
    "a list": [document()],
    "a string": "x",
    "null": None,
}


@pytest.mark.parametrize("kind", BAD)
def test_a_document_that_breaks_a_rule_is_refused_and_not_kept(ann: Browser, world: World, kind: str) -> None:
    world.answer = httpx.Response(200, json=BAD[kind])
    assert is_refused(authorize(ann))
    assert list_stored() == []
    world.answer = httpx.Response(200, json=document())
    assert authorize(ann).status_code == 302  # and a refusal is not remembered


RAW: dict[str, Any] = {
    "no JSON": httpx.Response(200, content=b"{", headers={"content-type": "application/json"}),
    "not a number": httpx.Response(200, content=b'{"a": NaN}', headers={"content-type": "application/json"}),
    "latin letters": httpx.Response(200, content=b'{"a": "\xe9"}', headers={"content-type": "application/json"}),
    "deep": httpx.Response(200, content=b"[" * 2500, headers={"content-type": "application/json"}),
    "six KiB": httpx.Response(200, json=document(contacts=["x" * 6000])),
    "packed": httpx.Response(
        200,
        content=gzip.compress(json.dumps(document()).encode()),
        headers={"content-type": "application/json", "content-encoding": "gzip"},
    ),
    "a page": httpx.Response(200, html="<h1>Hello</h1>"),
    "no type": httpx.Response(200, content=json.dumps(document()).encode(), headers={"content-type": ""}),
    "not found": httpx.Response(404, json=document()),
    "forbidden": httpx.Response(403, json=document()),
    "redirect": httpx.Response(302, headers={"location": "http://169.254.169.254/"}),
    "created": httpx.Response(201, json=document()),
}


@pytest.mark.parametrize("kind", RAW)
def test_an_answer_that_is_no_document_is_refused_after_one_request(ann: Browser, world: World, kind: str) -> None:
    world.answer = RAW[kind]
    assert is_refused(authorize(ann))
    assert len(world.asked) == 1
    assert list_stored() == []


AWAY: dict[str, Any] = {
    "no connection": httpx.ConnectError("no"),
    "time-out": httpx.ReadTimeout("late"),
    "broken off": httpx.RemoteProtocolError("cut"),
    "unknown name": socket.gaierror("no such name"),
    "server error": httpx.Response(500),
    "busy": httpx.Response(429),
    "maintenance": httpx.Response(503, json=document()),
}


@pytest.mark.parametrize("kind", AWAY)
def test_a_document_that_cannot_be_read_is_a_503_page_and_is_not_remembered(
    ann: Browser, world: World, kind: str
) -> None:
    world.answer = AWAY[kind]
    answer = authorize(ann)
    assert (answer.status_code, "location" in answer.headers) == (503, False)
    assert answer.headers["retry-after"] == "30"
    world.answer = httpx.Response(200, json=document())
    assert authorize(ann).status_code == 302


def test_a_host_that_never_answers_is_not_waited_for(
    ann: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(client_metadata, "FETCH_SECONDS", 0.05)
    world.answer = never
    assert authorize(ann).status_code == 503


@pytest.mark.parametrize("failure", ["not found", "a page", "forbidden", "no connection", "server error"])
def test_a_known_program_is_let_in_by_the_copy_shipped_here(ann: Browser, world: World, failure: str) -> None:
    world.answer = (RAW | AWAY)[failure]
    ann.sign_in()
    page = authorize(ann, PINNED, redirect_uri="http://localhost:61234/callback")
    assert page.status_code == 200
    assert "Claude Code" in page.text
    assert "code" in back(ann.answer(page))
    authorize(ann, PINNED)
    assert len(world.asked) == 2  # a failure is tried again, the copy is never taken for fresh


def test_a_known_program_whose_own_document_is_wrong_is_refused(ann: Browser, world: World) -> None:
    world.answer = httpx.Response(200, json=document("https://claude.ai/oauth/other"))
    assert is_refused(authorize(ann, PINNED))


def test_where_nothing_may_be_fetched_the_copies_shipped_are_the_clients(
    ann: Browser, world: World, configure: Any
) -> None:
    configure(CLIENT_DOCUMENT_FETCH="false")
    assert is_refused(authorize(ann))
    assert authorize(ann, PINNED).status_code == 302
    assert world.asked == []


SHIPPED = {
    "https://claude.ai/oauth/mcp-oauth-client-metadata": "https://claude.ai/api/mcp/auth_callback",
    "https://claude.ai/oauth/claude-code-client-metadata": "http://localhost:3118/callback",
    "https://chatgpt.com/oauth/client.json": "https://chatgpt.com/connector_platform_oauth_redirect",
    "https://chatgpt.com/oauth/codex/client.json": "http://127.0.0.1:40001/callback",
    "https://vscode.dev/oauth/client-metadata.json": "https://vscode.dev/redirect",
    "https://grok.com/oauth/mcp-client.json": "https://grok.com/connectors-oauth-exchange-code/",
    "https://zed.dev/oauth/client-metadata.json": "http://127.0.0.1:40002/callback",
    "https://opencode.ai/oauth/opencode/client.json": "http://localhost:40003/callback",
}


@pytest.mark.parametrize("url", SHIPPED)
def test_every_shipped_copy_leads_to_tokens_without_a_network(ann: Browser, url: str) -> None:
    code = ann.code(url, redirect_uri=SHIPPED[url])
    assert ann.redeem(url, code, redirect_uri=SHIPPED[url]).status_code == 200
    evil = ann.authorize(url, redirect_uri="https://evil.example/cb")
    assert (evil.status_code, "location" in evil.headers) == (400, False)


def test_the_copies_shipped_are_the_ones_known(host: Any) -> None:
    assert set(client_metadata._load_pinned()) == set(SHIPPED)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 60),
        ("max-age=1", 60),
        ("no-store", 60),
        ("max-age=x", 60),
        ("public, Max-Age = 600", 600),
        ("max-age=86400", 3600),
        ("max-age=999999999", 3600),
        ("s-maxage=999", 60),
    ],
)
def test_a_document_is_kept_a_minute_at_least_and_an_hour_at_most(
    ann: Browser, world: World, later: Any, header: str | None, seconds: int
) -> None:
    world.answer = httpx.Response(200, json=document(), headers={"cache-control": header} if header else {})
    authorize(ann)
    later(timedelta(seconds=seconds - 10))
    authorize(ann)
    assert len(world.asked) == 1
    later(timedelta(seconds=20))
    authorize(ann)
    assert len(world.asked) == 2


def test_a_changed_document_counts_from_then_on_and_the_person_is_asked_again(
    ann: Browser, world: World, later: Any
) -> None:
    ann.code(URL, redirect_uri=LOOPBACK)
    assert "Continue" in authorize(ann).text
    world.answer = httpx.Response(200, json=document(redirect_uris=["https://claude.ai/cb"], client_name="Renamed"))
    later(timedelta(seconds=61))
    gone = authorize(ann)
    assert (gone.status_code, "location" in gone.headers) == (400, False)
    page = authorize(ann, redirect_uri="https://claude.ai/cb")
    assert page.status_code == 200
    assert "Renamed" in page.text


def test_an_outage_ends_no_connection(ann: Browser, world: World, later: Any) -> None:
    tokens = ann.redeem(URL, ann.code(URL, redirect_uri=LOOPBACK), redirect_uri=LOOPBACK).json()
    world.answer = httpx.ConnectError("gone")
    later(timedelta(days=2))
    again = ann.refresh(URL, tokens["refresh_token"])
    assert again.status_code == 200
    assert ann.alive(again.json()["access_token"])
    assert len(world.asked) == 1


def test_a_client_nobody_allowed_is_swept_after_thirty_days_and_comes_back_when_asked_for(
    ann: Browser, world: World, later: Any
) -> None:
    authorize(ann)
    later(timedelta(days=29))
    sweep()
    assert list_stored() == [URL]
    later(timedelta(days=2))
    sweep()
    assert list_stored() == []
    ann.code(URL, redirect_uri=LOOPBACK)
    later(timedelta(days=31))
    sweep()
    assert list_stored() == [URL]


def test_nothing_but_the_authorization_endpoint_asks_for_a_document(ann: Browser, world: World) -> None:
    for path in ("token", "revoke"):
        fields = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x", "client_id": URL}
        answer = ann.host.post(f"/oauth/{path}", data=fields)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert world.asked == []


def test_a_switched_off_client_stays_off_whatever_its_document_says(ann: Browser, world: World, later: Any) -> None:
    authorize(ann)
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=clock.now()))
    later(timedelta(minutes=2))
    answer = authorize(ann)
    assert (answer.status_code, "location" in answer.headers) == (400, False)


def test_a_client_of_this_address_is_public_however_it_would_like_to_be(ann: Browser, world: World) -> None:
    wish = document(token_endpoint_auth_method="private_key_jwt", jwks_uri="https://claude.ai/jwks")
    world.answer = httpx.Response(200, json=wish)
    code = ann.code(URL, redirect_uri=LOOPBACK)
    fields = {"client_assertion": "a.b.c", "client_secret": "x"}
    assert ann.redeem(URL, code, redirect_uri=LOOPBACK, **fields).status_code == 401
    assert ann.redeem(URL, code, redirect_uri=LOOPBACK).status_code == 200


def test_many_at_once_ask_once(ann: Browser, world: World) -> None:
    from concurrent.futures import ThreadPoolExecutor

    async def slow(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.3)
        return httpx.Response(200, json=document())

    world.answer = slow
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: authorize(Browser(ann.host)), range(6)))
    assert [a.status_code for a in answers] == [302] * 6
    assert len(world.asked) == 1


def test_one_address_cannot_make_us_fetch_without_end(
    ann: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_metadata, "FETCHES_PER_HOUR", 2)
    world.answer = httpx.Response(404)
    for number in range(4):
        authorize(ann, f"https://claude.ai/{number}")
    assert len(world.asked) == 2


PRIVATE = [
    "127.0.0.1",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
]
PRIVATE += [
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b:1::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::1",
    "2001::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_listed_name_that_points_into_our_own_network_is_not_connected_to(
    ann: Browser, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("160.79.104.10", 443))]
    addresses.append((family, socket.SOCK_STREAM, 6, "", (address, 443)))
    resolve, reached = socket.getaddrinfo, []

    def resolve_publicly(host: Any, *args: Any, **more: Any) -> Any:
        return addresses if host in ("claude.ai", b"claude.ai") else resolve(host, *args, **more)

    async def connect(self: Any, host: str, *args: Any, **more: Any) -> Any:
        reached.append(host)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", resolve_publicly)
    monkeypatch.setattr("httpcore.AnyIOBackend.connect_tcp", connect)
    assert authorize(ann).status_code == 503
    assert reached == []
    addresses.pop()
    assert authorize(ann).status_code == 503
    assert reached == ["160.79.104.10"]  # the address that was checked, not the name once more
