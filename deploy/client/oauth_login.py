"""`award-travel token`: registration, sign-in through the web pages and code exchange, as a real client (RFC 7636)."""

import argparse
import base64
import hashlib
import secrets
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx

from deploy.errors import CommandError
from deploy.local.home import DEMO, Home
from deploy.local.service import serving
from deploy.prompts import read_password
from shared.http import sync_client
from shared.settings import SCOPE

CALLBACK = "http://127.0.0.1:9/callback"  # nothing listens there: the redirect is read, not followed
CLIENT_NAME = "award-travel command line"


class _FormFields(HTMLParser):
    """The named inputs of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "input" and (name := attributes.get("name")):
            self.values[name] = attributes.get("value") or ""


def _open_next_page(browser: httpx.Client, page: httpx.Response, email: str, password: str) -> httpx.Response:
    """Follows a redirect, or fills the form that the page shows."""
    here = str(page.url)
    if page.is_redirect:
        return browser.get(urljoin(here, page.headers["location"]))
    fields = _FormFields(page.text).values
    origin = {"Origin": f"{page.url.scheme}://{page.url.netloc.decode()}"}
    if "password" in fields:
        form = {"csrf": fields["csrf"], "return_to": fields["return_to"], "email": email, "password": password}
        response = browser.post(urljoin(here, "/signin"), data=form, headers=origin)
        if not response.is_redirect:
            raise CommandError(
                f"The sign-in of {email} was refused: see whether the address and the password are right."
            )
        return response
    if page.url.path == "/signin/second":
        raise CommandError(
            f"{email} has a second step at sign-in, which this command cannot take."
            " Make an API key on the dashboard and use `award-travel login --key`."
        )
    if "query" in fields:
        form = {"csrf": fields["csrf"], "query": fields["query"], "action": "allow"}
        return browser.post(urljoin(here, "/oauth/consent"), data=form, headers=origin)
    raise CommandError(
        f"The authorization server answered {page.status_code} with a page that is neither sign-in nor consent."
    )


def sign_in(authorize_url: str, email: str, password: str) -> dict[str, str]:
    """What the browser would carry back to the application: code, state, iss."""
    host = urlsplit(authorize_url).netloc
    with sync_client() as browser:
        browser.headers["User-Agent"] = CLIENT_NAME  # by which the person knows the sign-in again
        page = browser.get(authorize_url)
        for _ in range(10):
            target = urljoin(str(page.url), page.headers.get("location", ""))
            if page.is_redirect and urlsplit(target).netloc != host:
                return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
            page = _open_next_page(browser, page, email, password)
    raise CommandError("The sign-in pages lead in a circle: see the log of the auth server.")


def _read_json(reply: httpx.Response, what: str) -> dict[str, Any]:
    if reply.status_code not in (200, 201):
        raise CommandError(f"{what} answered {reply.status_code}.")
    document: dict[str, Any] = reply.json()
    return document


def discover(client: httpx.Client, mcp_url: str) -> dict[str, Any]:
    """From a tool address alone to the authorization server's description, as every MCP client goes."""
    challenge = client.post(mcp_url, json={}).headers.get("www-authenticate", "")
    if 'resource_metadata="' not in challenge:
        raise CommandError(f"{mcp_url} names no authorization server.")
    resource = _read_json(client.get(challenge.split('resource_metadata="')[1].split('"')[0]), "The resource metadata")
    issuer = resource["authorization_servers"][0]
    server = _read_json(client.get(f"{issuer}/.well-known/oauth-authorization-server"), "The authorization server")
    return server | {"resource": resource["resource"]}


def _make_pkce_pair() -> tuple[str, str]:
    verifier = secrets.token_urlsafe(48)
    return verifier, base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def request_access_token(mcp_url: str, email: str, password: str) -> str:
    """Discovery, registration, sign-in, consent and exchange with PKCE: the way of a real client."""
    with sync_client() as client:
        server = discover(client, mcp_url)
        metadata = {
            "client_name": CLIENT_NAME,
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        }
        app = _read_json(client.post(server["registration_endpoint"], json=metadata), "Registration")
        verifier, challenge = _make_pkce_pair()
        shared = {"client_id": app["client_id"], "redirect_uri": CALLBACK, "resource": server["resource"]}
        query = {"response_type": "code", "scope": SCOPE, "state": secrets.token_urlsafe(16)}
        query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        back = sign_in(f"{server['authorization_endpoint']}?{urlencode(shared | query)}", email, password)
        if back.get("state") != query["state"] or "code" not in back:
            raise CommandError(f"The authorization server refused: {back.get('error', 'no code came back')}.")
        form = shared | {"grant_type": "authorization_code", "code": back["code"], "code_verifier": verifier}
        return str(_read_json(client.post(server["token_endpoint"], data=form), "The token endpoint")["access_token"])


def _read_demo_password(home: Home) -> str:
    try:
        return home.demo_password.read_text(encoding="utf-8").strip()
    except OSError:
        raise CommandError(f"{home.path} has no demo account: name EMAIL, with --password-stdin.") from None


def run_token(arguments: argparse.Namespace) -> None:
    home = Home(arguments.home)
    email, password = arguments.email, read_password() if arguments.email else ""
    with serving(home) as mcp_url:
        if not email:
            email, password = DEMO, _read_demo_password(home)
        print(request_access_token(mcp_url, email, password))
