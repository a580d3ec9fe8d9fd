"""`award-travel try`: connects as a real MCP client, signs a person in, lists the tools and calls one."""

import argparse
import json
import secrets
import webbrowser
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from deploy.client.oauth_login import CALLBACK, CLIENT_NAME, sign_in
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import serving
from deploy.prompts import read_password

BROWSER_SECONDS = 300
SIGNED_IN_PAGE = (
    b"<!doctype html><title>Signed in</title><p>Signed in. You can close this page and go back to the terminal."
)


class _TokenStorage:
    """The token storage of the SDK's client (`mcp.client.auth.TokenStorage`), in memory for one command."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _RedirectHandler(BaseHTTPRequestHandler):
    """Receives the one redirect of the browser."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "state" in query:
            self.server.redirect_query = {name: values[0] for name, values in query.items()}  # type: ignore[attr-defined]
        self.send_response(200 if "state" in query else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(SIGNED_IN_PAGE if "state" in query else b"")

    def log_message(self, format: str, *args: Any) -> None:
        """The address carries a code; it is not logged."""


class _SignIn:
    """Who signs in: with a password given on the command line, or in a browser that comes back to a loopback port."""

    def __init__(self, email: str | None, password: str | None) -> None:
        self.email, self.password = email, password
        self.server = None if email else HTTPServer(("127.0.0.1", 0), _RedirectHandler)
        self.callback = f"http://127.0.0.1:{self.server.server_port}/callback" if self.server else CALLBACK
        self.redirect_query: dict[str, str] = {}

    async def open_address(self, address: str) -> None:
        if self.email and self.password:
            self.redirect_query = await anyio.to_thread.run_sync(sign_in, address, self.email, self.password)
            return
        print(f"Sign in with your browser; if none opens, open this address:\n{address}\n", flush=True)
        await anyio.to_thread.run_sync(webbrowser.open, address)

    def _wait_for_redirect(self) -> None:
        assert self.server
        self.server.redirect_query = {}  # type: ignore[attr-defined]
        self.server.timeout = 1
        for _ in range(BROWSER_SECONDS):
            self.server.handle_request()
            if parameters := self.server.redirect_query:  # type: ignore[attr-defined]
                self.redirect_query = parameters
                return
        raise CommandError("Nobody signed in within five minutes: run it again, or use --email and --password-stdin.")

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


async def _list_and_call(mcp_url: str, sign_in_flow: _SignIn, tool: str, arguments: dict[str, Any]) -> None:
    about = OAuthClientMetadata.model_validate(
        {"client_name": f"{CLIENT_NAME} {secrets.token_hex(2)}", "redirect_uris": [sign_in_flow.callback]}
    )
    provider = OAuthClientProvider(
        mcp_url, about, _TokenStorage(), sign_in_flow.open_address, sign_in_flow.wait_for_code
    )
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(mcp_url, http_client=http)) as client,
    ):
        tools = (await client.list_tools()).tools
        print(f"{mcp_url} offers {len(tools)} tools:\n")
        for listed in tools:
            first = (listed.description or "").strip().splitlines()[0]
            print(f"  {listed.name:<28} {first}")
        if tool not in {listed.name for listed in tools}:
            raise CommandError(f"There is no tool {tool}: choose one of the above.")
        print(f"\n{tool} {json.dumps(arguments)}\n")
        answer = await client.call_tool(tool, arguments)
        print(json.dumps(answer.structured_content, indent=2, ensure_ascii=False))


def _unwrap(fault: BaseException) -> BaseException:
    """The fault itself, out of the groups that task groups wrap it in."""
    while isinstance(fault, BaseExceptionGroup) and len(fault.exceptions) == 1:
        fault = fault.exceptions[0]
    return fault


def try_service(mcp_url: str, email: str | None, password: str | None, tool: str, arguments: dict[str, Any]) -> None:
    """Discovery, registration, sign-in with PKCE, the list of tools and one call."""
    try:
        anyio.run(_list_and_call, mcp_url, _SignIn(email, password), tool, arguments)
    except BaseExceptionGroup as group:
        raise _unwrap(group) from None


def run_try(arguments: argparse.Namespace) -> None:
    tool_arguments = parse_arguments(arguments.arguments)
    if arguments.password_stdin != bool(arguments.email):
        raise CommandError("--email and --password-stdin go together; without both a browser is used.")
    password = read_password() if arguments.password_stdin else None
    with serving(Home(arguments.home)) as mcp_url:
        try_service(mcp_url, arguments.email, password, arguments.tool, tool_arguments)
