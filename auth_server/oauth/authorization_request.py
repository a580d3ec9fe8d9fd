"""Authorization requests (RFC 6749 4.1.1): one whose client, redirect URI and parameters are all valid."""

import re
from dataclasses import dataclass
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError

from auth_server.oauth.clients import Application, ServiceClient, find_client
from auth_server.oauth.server import Server
from auth_server.web.request_data import RequestData, parse_pairs, refuse_repeats
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.domain.mcp_addresses import McpAddress, find_resource
from shared.settings import settings

PATH = "/oauth/authorize"
PROMPTS = {"none", "login", "consent", "select_account"}
_ALWAYS_ASK = {"consent", "select_account"}  # the question names the account and offers another
_UNSUPPORTED = {"request": "request_not_supported", "request_uri": "request_uri_not_supported"}


@dataclass
class AuthorizationRequest:
    """A request whose client, redirect URI and parameters are all valid."""

    server: Server
    grant: Any  # authlib's, bound to the request
    client: Application
    uri: str
    state: str | None
    prompts: set[str]
    max_age: float  # seconds since sign-in, infinite when the client sets none

    @property
    def resource(self) -> str:
        """The resource identifier that its tokens will have as audience (RFC 8707)."""
        return str(self.grant.request.resource)

    @property
    def must_ask(self) -> bool:
        """Whether the client wants the person asked, whatever was answered before."""
        return bool(self.prompts & _ALWAYS_ASK)

    @property
    def address(self) -> McpAddress:
        address = find_resource(self.resource, settings().resources)
        assert address is not None  # a grant is made for resources that are served
        return address


def make_error(error: str, text: str, uri: str, state: str | None) -> OAuth2Error:
    return OAuth2Error(text, error=error, redirect_uri=uri, state=state)


def _verify_client_and_uri(uow: UnitOfWork, data: RequestData) -> tuple[Application, str]:
    """Verifies both, or shows an error as a page: nothing is sent to an address that is not registered."""
    refuse_repeats(data.query)
    client = find_client(uow.db, data.query_value("client_id") or "")
    if client is None or isinstance(client, ServiceClient):
        raise InvalidClientError(description="The application is not known here. It may have to register again.")
    uri = data.query_value("redirect_uri")
    if not uri:
        raise InvalidRequestError("Missing 'redirect_uri'.")
    if not client.check_redirect_uri(uri):
        text = "The redirect_uri is not registered for this application."
        raise InvalidRequestError(f"{text} It has to send one that it registered, or register again.")
    return client, uri


def _find_fault(data: RequestData, prompts: set[str]) -> tuple[str, str] | None:
    """The error code and text for the parameters that authlib leaves to us."""
    for name, error in _UNSUPPORTED.items():
        if data.query_value(name) is not None:
            return error, "Request objects are not supported."
    if data.query_value("response_type") is None:
        return "invalid_request", "Missing 'response_type'."
    if data.query_value("response_type") != "code":
        return "unsupported_response_type", "Only response_type=code is supported."
    if data.query_value("response_mode") not in (None, "query"):
        return "invalid_request", "Only response_mode=query is supported."
    if prompts - PROMPTS or ("none" in prompts and len(prompts) > 1):
        return "invalid_request", "Unsupported 'prompt'."
    if not re.fullmatch(r"[0-9]*", data.query_value("max_age") or ""):
        return "invalid_request", "Unsupported 'max_age'."
    if not (data.query_value("nonce") or "").isascii():
        return "invalid_request", "Unsupported 'nonce'."
    return None


def validate_request(uow: UnitOfWork, data: RequestData, account: Account | None) -> AuthorizationRequest:
    client, uri = _verify_client_and_uri(uow, data)
    state, prompts = data.query_value("state"), set((data.query_value("prompt") or "").split())
    if (fault := _find_fault(data, prompts)) is not None:
        raise make_error(*fault, uri, state)
    server = Server(uow)
    grant = server.get_consent_grant(data, end_user=account)
    max_age = float(data.query_value("max_age") or "inf")
    return AuthorizationRequest(server, grant, client, uri, state, prompts, max_age)


def read_query(query: str, peer: str) -> RequestData:
    """Reads the request from one of our queries. Raises OAuth2Error."""
    return RequestData("GET", PATH, peer, raw_query=query, query=parse_pairs(query, text=True))
