"""`award-travel try`: connects as a real MCP client, signs a person in, shows some tools and calls one."""

import argparse
import base64
import contextlib
import hashlib
import json
import logging
import secrets
import sys
import webbrowser
from difflib import get_close_matches
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import anyio
import httpx
import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.exceptions import MCPError

from deploy.client.tables import build_tool_table, print_answer
from deploy.errors import CommandError
from deploy.local.home import DEMO, Home, write_private
from deploy.local.service import is_set_by_environment, serving
from deploy.terminal import open_console, print_styled, read_password
from shared.http import sync_client
from shared.settings import SCOPE, settings
from shared.tls import build_context

# `award-travel token`: registration, sign-in through the web pages and code exchange, as a real client (RFC 7636).

CALLBACK = "http://127.0.0.1:9/callback"  # nothing listens there: the redirect is read, not followed
CLIENT_NAME = "Command line"


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
        if not response.is_redirect and response.status_code != 401:
            raise CommandError(describe_refusal(response))
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
    if page.status_code >= 400:
        raise CommandError(describe_refusal(page))
    raise CommandError("The authorization server answered with a page that is neither sign-in nor consent.")


def sign_in(authorize_url: str, email: str, password: str) -> dict[str, str]:
    """Signs in; returns what the browser would pass to the application: code, state, iss."""
    host = urlsplit(authorize_url).netloc
    with sync_client() as browser:
        browser.headers["User-Agent"] = CLIENT_NAME  # by which the person recognises the sign-in
        page = browser.get(authorize_url)
        for _ in range(10):
            target = urljoin(str(page.url), page.headers.get("location", ""))
            if page.is_redirect and urlsplit(target).netloc != host:
                return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
            page = _open_next_page(browser, page, email, password)
    raise CommandError("The sign-in pages lead in a circle: see the log of the auth server.")


def describe_refusal(reply: httpx.Response | httpx2.Response) -> str:
    """The service's reason for a refusal in one sentence, from OAuth, REST or MCP, or what to check."""
    content: Any = None
    with contextlib.suppress(ValueError):
        content = reply.json()
    fields = content if isinstance(content, dict) else {}
    error = fields.get("error")
    words = (
        fields.get("error_description") or fields.get("detail") or (isinstance(error, dict) and error.get("message"))
    )
    address = f"{reply.url.scheme}://{reply.url.netloc.decode()}{reply.url.path}"
    return f"{address} answered {reply.status_code}: {words or 'see its log, and what award-travel doctor says.'}"


def _read_json(reply: httpx.Response) -> dict[str, Any]:
    if reply.status_code not in (200, 201):
        raise CommandError(describe_refusal(reply))
    document: dict[str, Any] = reply.json()
    return document


def discover(client: httpx.Client, mcp_url: str) -> dict[str, Any]:
    """Finds the authorization server's description from only a tool address, as every MCP client does."""
    reply = client.post(mcp_url, json={})
    challenge = reply.headers.get("www-authenticate", "")
    if reply.status_code != 401:
        raise CommandError(describe_refusal(reply))
    if 'resource_metadata="' not in challenge:
        raise CommandError(f"{mcp_url} names no authorization server.")
    resource = _read_json(client.get(challenge.split('resource_metadata="')[1].split('"')[0]))
    issuer = resource["authorization_servers"][0]
    server = _read_json(client.get(f"{issuer}/.well-known/oauth-authorization-server"))
    return server | {"resource": resource["resource"]}


def request_access_token(mcp_url: str, email: str, password: str) -> str:
    """Discovery, registration, sign-in, consent and exchange with PKCE: as a real client does."""
    with sync_client() as client:
        server = discover(client, mcp_url)
        metadata = {
            "client_name": CLIENT_NAME,
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        }
        app = _read_json(client.post(server["registration_endpoint"], json=metadata))
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        shared = {"client_id": app["client_id"], "redirect_uri": CALLBACK, "resource": server["resource"]}
        query = {"response_type": "code", "scope": SCOPE, "state": secrets.token_urlsafe(16)}
        query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        back = sign_in(f"{server['authorization_endpoint']}?{urlencode(shared | query)}", email, password)
        if back.get("state") != query["state"] or "code" not in back:
            raise CommandError(f"The authorization server refused: {back.get('error', 'no code came back')}.")
        form = shared | {"grant_type": "authorization_code", "code": back["code"], "code_verifier": verifier}
        return str(_read_json(client.post(server["token_endpoint"], data=form))["access_token"])


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


BROWSER_SECONDS = 300
REGISTRATION = "command-line-client.json"  # in the home: every run is the same application
SHOWN = ("search_availability", "find_transfer_paths", "compare_cash_vs_points", "list_points_balances", "plan_trip")
SIGNED_IN_PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Signed in</title>
<style>:root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;margin:15vh auto;max-width:34rem}
body{padding:0 1rem}</style><main><h1>Signed in</h1><p>You can close this page and go back to the terminal.</main>
</html>
"""


class _UnknownApplication(Exception):
    """The service does not know the home's application: its database is a different one."""


class _TokenStorage:
    """The token storage of the SDK's client (`mcp.client.auth.TokenStorage`): only the application is kept."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        try:
            return OAuthClientInformationFull.model_validate_json(self.file.read_bytes())
        except (OSError, ValueError):
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        with contextlib.suppress(OSError):  # a read-only home: the next run registers again
            write_private(self.file, client_info.model_dump_json(exclude_none=True))


class _RedirectHandler(BaseHTTPRequestHandler):
    """Receives the browser's single redirect."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "state" in query:
            self.server.redirect_query = {name: values[0] for name, values in query.items()}  # type: ignore[attr-defined]
        self.send_response(200 if "state" in query else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(SIGNED_IN_PAGE if "state" in query else b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, because the address has a code."""


def open_browser(address: str) -> None:
    """Says where to sign in before anything can take long, and what else there is where no browser opens."""
    print(f"Sign in with your browser; if none opens, open this address:\n{address}\n", flush=True)
    if not webbrowser.open(address):
        print(
            "No browser opens here. Open the address on this machine, or press Ctrl-C and sign in with --email and"
            " --password-stdin.",
            flush=True,
        )


class _SignIn:
    """A sign-in with a password of the command line, or in a browser that returns to a loopback port."""

    def __init__(self, email: str | None, password: str | None) -> None:
        self.email, self.password = email, password
        self.server = None if email else HTTPServer(("127.0.0.1", 0), _RedirectHandler)
        self.callback = f"http://127.0.0.1:{self.server.server_port}/callback" if self.server else CALLBACK
        self.redirect_query: dict[str, str] = {}

    async def open_address(self, address: str) -> None:
        with sync_client() as browser:
            page = browser.get(address)
        if page.status_code == 400:
            raise _UnknownApplication
        if page.status_code > 400:
            raise CommandError(describe_refusal(page))
        if self.email and self.password:
            self.redirect_query = await anyio.to_thread.run_sync(sign_in, address, self.email, self.password)
            return
        await anyio.to_thread.run_sync(open_browser, address)

    def _wait_for_redirect(self) -> None:
        assert self.server
        self.server.redirect_query = {}  # type: ignore[attr-defined]
        self.server.timeout = 1
        for seconds_left in range(BROWSER_SECONDS, 0, -1):
            if sys.stderr.isatty():
                clock_face = f"{seconds_left // 60}:{seconds_left % 60:02}"
                print(f"\rWaiting for the sign-in: {clock_face} ", end="", file=sys.stderr, flush=True)
            self.server.handle_request()
            if parameters := self.server.redirect_query:  # type: ignore[attr-defined]
                self.redirect_query = parameters
                return
        raise CommandError("No one signed in within five minutes: run it again, or use --email and --password-stdin.")

    async def wait_for_code(self) -> AuthorizationCodeResult:
        if self.server:
            await anyio.to_thread.run_sync(self._wait_for_redirect)
        if "code" not in self.redirect_query:
            raise CommandError(
                f"The sign-in was not completed: {self.redirect_query.get('error', 'no code came back')}."
            )
        return AuthorizationCodeResult(
            code=self.redirect_query["code"], state=self.redirect_query.get("state"), iss=self.redirect_query.get("iss")
        )


def parse_arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise CommandError("""The arguments are one JSON object, such as '{"airline": "BA"}'.""")
    return arguments


class Attempt(NamedTuple):
    """The call of one run, and how it prints the answer."""

    mcp_url: str
    tool: str
    arguments: dict[str, Any]
    next_step: tuple[str, str]  # a sentence, and the command it leads to
    as_json: bool = False


class _Refusals(list[str]):
    """The service's reasons for refusals, in order."""

    async def note(self, reply: httpx2.Response) -> None:
        """Notes one; in discovery 401 and 404 are not refusals."""
        if reply.status_code >= 400 and reply.status_code not in (401, 404):
            await reply.aread()
            self.append(describe_refusal(reply))


async def _connect(attempt: Attempt, sign_in_flow: _SignIn, storage: _TokenStorage, refusals: _Refusals) -> None:
    """Registers once with a loopback address; only its port differs from run to run (RFC 8252 section 7.3)."""
    about = {"client_name": CLIENT_NAME, "redirect_uris": [sign_in_flow.callback], "token_endpoint_auth_method": "none"}
    provider = OAuthClientProvider(
        attempt.mcp_url,
        OAuthClientMetadata.model_validate(about),
        storage,
        sign_in_flow.open_address,
        sign_in_flow.wait_for_code,
    )
    hooks = {"response": [refusals.note]}
    async with httpx2.AsyncClient(auth=provider, timeout=30, verify=build_context("http"), event_hooks=hooks) as http:
        try:
            async with Client(streamable_http_client(attempt.mcp_url, http_client=http)) as client:
                await _show_and_call(client, attempt)
        finally:
            await _end_sign_in(provider, storage)


async def _end_sign_in(provider: OAuthClientProvider, storage: _TokenStorage) -> None:
    """Revokes the refresh token and all that followed from the sign-in (RFC 7009)."""
    described, client = provider.context.oauth_metadata, provider.context.client_info
    token = storage.tokens.refresh_token if storage.tokens else None
    if described and described.revocation_endpoint and client and token:
        form = {"token": token, "client_id": client.client_id}
        async with httpx2.AsyncClient(timeout=10, verify=build_context("http")) as http:
            with contextlib.suppress(httpx2.HTTPError):
                await http.post(str(described.revocation_endpoint), data=form)


async def _show_and_call(client: Client, attempt: Attempt) -> None:
    summaries = {t.name: (t.description or "").strip().partition("\n")[0] for t in (await client.list_tools()).tools}
    if attempt.tool not in summaries:
        near = ", ".join(get_close_matches(attempt.tool, summaries, 3)) or "award-travel tools lists them"
        raise CommandError(f"There is no tool {attempt.tool}. Nearest: {near}.")
    answer = (await client.call_tool(attempt.tool, attempt.arguments)).structured_content or {}
    if attempt.as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    console = open_console()
    print_styled(console, ("Signed in", "green"), f" to {attempt.mcp_url}: {len(summaries)} tools, among them\n")
    console.print(
        build_tool_table([(name, summaries[name]) for name in SHOWN if name in summaries], ("Tool", "What it does"))
    )
    print_styled(console, "\n", (f"{attempt.tool} {json.dumps(attempt.arguments)}", "cyan"), "\n")
    print_answer(console, answer)
    status = answer.get("status")
    if status not in ("ok", "partial", "no_data"):
        raise CommandError(f"It connects and signs in, but {attempt.tool} answered {status}: see its message above.")
    sentence, command = attempt.next_step
    print_styled(console, ("\nIt works.", "bold green"), f" {sentence}\n  ", (command, "cyan"))


def _unwrap(fault: BaseException) -> BaseException:
    """The error itself, out of the exception groups around it."""
    while isinstance(fault, BaseExceptionGroup) and len(fault.exceptions) == 1:
        fault = fault.exceptions[0]
    return fault


def try_service(attempt: Attempt, email: str | None, password: str | None, home: Home) -> None:
    """Discovery, registration at the first run, sign-in with PKCE, the tools, one call, and the end of the sign-in."""
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)  # it would print exceptions with their traceback
    storage, refusals = _TokenStorage(home.path / REGISTRATION), _Refusals()
    for is_last in (False, True):
        try:
            anyio.run(_connect, attempt, _SignIn(email, password), storage, refusals)
            return
        except Exception as error:
            fault = _unwrap(error)
        if isinstance(fault, OAuthFlowError | MCPError | httpx2.HTTPStatusError):
            raise CommandError(refusals[-1] if refusals else f"The service cannot be used: {fault}") from None
        if is_last and isinstance(fault, _UnknownApplication):
            raise CommandError("The service refuses the application that has just been registered with it.") from None
        if not isinstance(fault, _UnknownApplication):
            raise fault
        storage.file.unlink(missing_ok=True)


def run_try(arguments: argparse.Namespace) -> None:
    tool_arguments = parse_arguments(arguments.arguments)
    if arguments.password_stdin != bool(arguments.email):
        raise CommandError("--email and --password-stdin go together; without both a browser is used.")
    password = read_password() if arguments.password_stdin else None
    home = Home(arguments.home)
    stays = is_set_by_environment() or home.running() is not None
    with serving(home) as mcp_url:
        add = f"claude mcp add --transport http award-travel {settings().web_url}/mcp"
        connect = ("An assistant connects the same way, for example:", add)
        start = ("To keep the service running for an assistant:", "award-travel up")
        attempt = Attempt(mcp_url, arguments.tool, tool_arguments, connect if stays else start, arguments.json)
        try_service(attempt, arguments.email, password, home)
