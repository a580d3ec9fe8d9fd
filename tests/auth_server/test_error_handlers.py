"""What ends a request outside any flow is told in the form of its path: pages, problem documents, OAuth's JSON."""

import re
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from auth_server.app import create_app
from auth_server.web import flows, rate_limit
from tests.auth_server.in_process_browser import BASE

PAGE, PROBLEM, OAUTH = "text/html; charset=utf-8", "application/problem+json", "application/json"
FORMS = {"/signin": PAGE, "/oauth/authorize": PAGE, "/oauth/jwks": OAUTH}


@pytest.fixture
def host(clean: None) -> TestClient:
    """As over the wire: a crash is an answer, not an exception here."""
    return TestClient(create_app(), base_url=BASE, client=("192.0.2.7", 50000), raise_server_exceptions=False)


def read_title(answer: Any) -> str:
    """The title of a page, the outcome of a problem, or the error of OAuth's JSON."""
    kind = answer.headers["content-type"]
    if kind == PAGE:
        return str(answer.text.partition("<h1>")[2].partition("</h1>")[0])
    return str(answer.json()["outcome" if kind == PROBLEM else "error"])


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/missing", 404, PAGE),
        ("GET", "/signin/", 404, PAGE),
        ("GET", "/oauth/consent", 405, PAGE),
        ("POST", "/oauth/authorize", 405, PAGE),
        ("DELETE", "/", 405, PAGE),
        ("GET", "/api/v1", 404, PROBLEM),
        ("GET", "/api/v1/missing", 404, PROBLEM),
        ("GET", "/api/v1/agent/register", 405, PROBLEM),
        ("GET", "/oauth/token", 405, OAUTH),
        ("PUT", "/oauth/register", 405, OAUTH),
        ("GET", "/oauth/missing", 404, OAUTH),
        ("GET", "/.well-known/oauth-authorization-server/mcp", 404, OAUTH),
    ],
)
def test_a_wrong_address_or_method_is_told_in_the_form_of_its_path(
    host: TestClient, method: str, path: str, status: int, kind: str
) -> None:
    answer = host.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, kind)
    assert answer.headers["cache-control"] == "no-store"
    assert ("allow" in answer.headers) == (status == 405)
    words = {PAGE: "Nothing is here", PROBLEM: "no_such_page", OAUTH: "invalid_request"}
    assert read_title(answer) == words[kind] or status == 405


def test_a_program_that_accepts_no_page_is_told_in_json_at_any_address(host: TestClient) -> None:
    """Older clients post to /register and /token of the host before they have read where these are."""
    for accept in ("application/json", "application/json, */*", "application/json, text/event-stream", "text/plain"):
        for method, path in (("POST", "/register"), ("POST", "/token"), ("GET", "/missing"), ("PUT", "/signin")):
            answer = host.request(method, path, headers={"accept": accept})
            assert (answer.status_code in (404, 405), answer.headers["content-type"]) == (True, OAUTH), (path, accept)
            assert answer.json()["error"] == "invalid_request"
    for accept in ("text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "text/html, application/json"):
        assert host.get("/missing", headers={"accept": accept}).headers["content-type"] == PAGE


@pytest.mark.parametrize(("path", "kind"), FORMS.items())
def test_a_crowded_address_is_told_in_the_form_of_its_path(
    host: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 0)
    answer = host.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (429, kind)
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert read_title(answer) == ("Too many requests" if kind == PAGE else "temporarily_unavailable")


@pytest.mark.parametrize(("path", "kind"), FORMS.items())
@pytest.mark.parametrize(
    ("error", "status", "page", "word"),
    [
        (RuntimeError("token=secret"), 500, "Something went wrong here", "server_error"),
        (OperationalError("select", {}, Exception("secret")), 503, "Back in a moment", "temporarily_unavailable"),
    ],
)
def test_a_failure_of_ours_is_told_in_the_form_of_its_path(
    host: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    kind: str,
    error: Exception,
    status: int,
    page: str,
    word: str,
) -> None:
    def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr(flows, "transact", broken)
    answer = host.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, kind)
    assert read_title(answer) == (page if kind == PAGE else word)
    assert "secret" not in answer.text
    assert ("retry-after" in answer.headers) == (status == 503)


def test_a_body_that_is_too_large_is_told_in_the_form_of_its_path(host: TestClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = "a=" + "x" * 20_000
    for path, kind in (("/signin", PAGE), ("/oauth/token", OAUTH), ("/api/v1/agent/register", PROBLEM)):
        answer = host.post(path, content=body, headers=form)
        assert (answer.status_code, answer.headers["content-type"]) == (413, kind)


@pytest.mark.parametrize(
    ("method", "path", "status", "first"),
    [("GET", "/missing", 404, "/"), ("DELETE", "/", 405, "/dashboard"), ("GET", "/confirm?token=x", 410, "/signin")],
)
def test_a_page_of_an_error_leads_where_that_situation_ends(
    host: TestClient, method: str, path: str, status: int, first: str
) -> None:
    answer = host.request(method, path)
    links = list_links(answer)
    assert (answer.status_code, links[0], len(links) > 1) == (status, first, True)


@pytest.mark.parametrize(
    ("error", "status"),
    [(RuntimeError(), 500), (OperationalError("select", {}, Exception()), 503), (rate_limit.RateLimited(3), 429)],
)
def test_a_failure_of_ours_leads_to_what_works(
    host: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(flows, "transact", fail)
    answer = host.get("/signin")
    assert answer.status_code == status
    assert list_links(answer) == (["/", "/support"] if status == 429 else ["/status", "/support"])


def test_a_body_that_is_too_large_leads_back(host: TestClient) -> None:
    answer = host.post(
        "/signin", content="a=" + "x" * 20_000, headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert (answer.status_code, list_links(answer)) == (413, ["/dashboard", "/support"])


def list_links(answer: Any) -> list[str]:
    """Of the next steps on the page of an error."""
    return re.findall(r'<a[^>]* href="([^"]*)"', answer.text.partition('<p class="acts sp">')[2].partition("</p>")[0])
