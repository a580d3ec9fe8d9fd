"""OAuth without a browser: where one would be redirected to for a person, and then the tokens."""

import base64
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx

get = partial(httpx.get, timeout=90)
post = partial(httpx.post, timeout=90)
REDIRECT = "http://127.0.0.1:9/callback"  # nothing listens there; the redirect is read, not followed


@dataclass
class Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append(Form(values.get("action", "")))
        elif self.forms and tag == "button":
            self.forms[-1].buttons.append((values.get("name", ""), values.get("value", "")))
        elif self.forms and tag == "input" and "name" in values:
            ticked = values.get("type") not in ("checkbox", "radio") or "checked" in values
            if ticked:
                self.forms[-1].fields[values["name"]] = values.get("value", "")


def forms(page: httpx.Response) -> list[Form]:
    parser = _Forms()
    parser.feed(page.text)
    return parser.forms


def _submit(browser: httpx.Client, page: httpx.Response, form: Form, values: dict[str, str]) -> httpx.Response:
    origin = f"{page.url.scheme}://{page.url.netloc.decode()}"
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Referer": str(page.url)}
    return browser.post(urljoin(str(page.url), form.action), data=form.fields | values, headers=headers)


def visit(url: str, email: str, password: str, answer: str = "allow", tick: Sequence[str] = ()) -> str:
    """Opens the address as a person who signs in and answers the consent page; returns where that leads.

    `tick` names boxes of the consent page.
    """
    home, choice = urlsplit(url).netloc, {"action": answer} | dict.fromkeys(tick, "yes")
    with httpx.Client(follow_redirects=False, timeout=90) as browser:
        page = browser.get(url)
        for _ in range(10):
            if page.is_redirect:
                target = urljoin(str(page.url), page.headers["location"])
                if urlsplit(target).netloc != home:
                    return target
                page = browser.get(target)
                continue
            assert page.status_code == 200, f"{page.status_code} at {page.url}: {page.text[:300]}"
            form = next(f for f in forms(page) if "csrf" in f.fields and ({"password", "query"} & set(f.fields)))
            values = {"email": email, "password": password} if "password" in form.fields else choice
            page = _submit(browser, page, form, values)
    raise AssertionError(f"no way out of the sign-in pages, last at {page.url}")


def pkce() -> tuple[str, str]:
    verifier = secrets.token_urlsafe(48)
    return verifier, base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def discover(mcp_url: str) -> dict[str, Any]:
    """The way of a client that knows the tool address only: challenge, resource, authorization server."""
    challenge = post(mcp_url, json={}).headers["www-authenticate"]
    resource = get(challenge.split('resource_metadata="')[1].split('"')[0]).json()
    issuer = resource["authorization_servers"][0]
    server: dict[str, Any] = get(f"{issuer}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == issuer
    return server | {"resource": resource["resource"]}


def register(server: dict[str, Any], *redirects: str, **more: Any) -> dict[str, Any]:
    body = {"client_name": "End to end", "redirect_uris": list(redirects or (REDIRECT,))} | more
    response = post(server["registration_endpoint"], json=body)
    assert response.status_code == 201, response.text
    client: dict[str, Any] = response.json()
    return client


def authorize(
    server: dict[str, Any],
    client: dict[str, Any],
    email: str,
    password: str,
    challenge: str,
    answer: str = "allow",
    tick: Sequence[str] = (),
    **more: str,
) -> dict[str, str]:
    """The query a browser carries back to the application."""
    params = {
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": client["redirect_uris"][0],
        "scope": "mcp:read",
        "state": "s-1",
        "resource": server["resource"],
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    } | more
    query = urlencode({k: v for k, v in params.items() if v})
    location = visit(f"{server['authorization_endpoint']}?{query}", email, password, answer, tick)
    assert location.startswith(params["redirect_uri"])
    return {k: v[0] for k, v in parse_qs(urlsplit(location).query).items()}


def redeem(server: dict[str, Any], client: dict[str, Any], code: str, verifier: str) -> httpx.Response:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client["redirect_uris"][0],
        "client_id": client["client_id"],
        "code_verifier": verifier,
    }
    return post(server["token_endpoint"], data=form)


def tokens(mcp_url: str, email: str, password: str, tick: Sequence[str] = (), **client_facts: Any) -> dict[str, Any]:
    """Signs a person in from nothing but the tool address: the token answer, with client and server next to it.

    Equal registrations within ten minutes are one client, so a test that harms its client registers another.
    """
    server = discover(mcp_url)
    client = register(server, **client_facts)
    verifier, challenge = pkce()
    back = authorize(server, client, email, password, challenge, tick=tick)
    answer = redeem(server, client, back["code"], verifier)
    assert answer.status_code == 200, answer.text
    return answer.json() | {"client": client, "server": server}
