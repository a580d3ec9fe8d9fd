"""Authorization endpoint (RFC 6749 3.1): validates a client's request, signs the person in, asks for consent."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AccessDeniedError, InvalidClientError, InvalidRequestError
from sqlalchemy import select

from auth_server.accounts import reauthentication
from auth_server.oauth import redirect_uris
from auth_server.oauth.clients import Application, ServiceClient, find_client
from auth_server.oauth.responses import redirect_error
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect, show_problem
from auth_server.web.request_data import MAX_QUERY_CHARACTERS, RequestData, parse_pairs, refuse_repeats
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import Consent, WebSession, remember_consent

PROMPTS = {"none", "login", "consent", "select_account"}
ALWAYS_ASK = {"consent", "select_account"}  # the question names the account and offers another
_UNSUPPORTED = {"request": "request_not_supported", "request_uri": "request_uri_not_supported"}


@dataclass
class AuthorizationRequest:
    """A request whose client, redirect URI and parameters are all valid."""

    server: Server
    grant: Any
    client: Application
    uri: str
    state: str | None
    prompts: set[str]
    max_age: float  # seconds since sign-in, infinite when the client sets none


def _make_error(error: str, text: str, uri: str, state: str | None) -> OAuth2Error:
    return OAuth2Error(text, error=error, redirect_uri=uri, state=state)


def _verify_client_and_uri(uow: UnitOfWork, data: RequestData) -> tuple[Application, str]:
    """Both verified, or an error that is shown as a page: nothing is sent to an address that is not registered."""
    refuse_repeats(data.query)
    client = find_client(uow.db, data.query_value("client_id") or "")
    if client is None or isinstance(client, ServiceClient):
        raise InvalidClientError(description="The application is not known here. It may have to register again.")
    uri = data.query_value("redirect_uri")
    if not uri:
        raise InvalidRequestError("Missing 'redirect_uri'.")
    if not client.check_redirect_uri(uri):
        raise InvalidRequestError("The redirect_uri is not registered for this application.")
    return client, uri


def _find_fault(data: RequestData, prompts: set[str]) -> tuple[str, str] | None:
    """What is wrong with the parameters authlib leaves to us: error code and text."""
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


def _validate(uow: UnitOfWork, data: RequestData, account: Account | None) -> AuthorizationRequest:
    client, uri = _verify_client_and_uri(uow, data)
    state, prompts = data.query_value("state"), set((data.query_value("prompt") or "").split())
    if (fault := _find_fault(data, prompts)) is not None:
        raise _make_error(*fault, uri, state)
    server = Server(uow)
    grant = server.get_consent_grant(data, end_user=account)
    max_age = float(data.query_value("max_age") or "inf")
    return AuthorizationRequest(server, grant, client, uri, state, prompts, max_age)


def _must_sign_in(request: AuthorizationRequest, session: WebSession | None, data: RequestData) -> bool:
    """prompt=login and max_age are met by a sign-in that came after this very request was first seen."""
    signed_in_at = session.authenticated_at if session is not None else None
    if signed_in_at is None:
        return True
    if "login" not in request.prompts and (clock.now() - signed_in_at).total_seconds() <= request.max_age:
        return False
    first_seen = reauthentication.first_seen_at(data.raw_query)
    return first_seen is None or signed_in_at < first_seen


def _find_consent(uow: UnitOfWork, account: Account, client: Application) -> Consent | None:
    same_client = (Consent.account_id == account.id, Consent.client_id == client.client_id)
    return uow.db.scalar(select(Consent).where(*same_client))


def _issue_code(request: AuthorizationRequest, session: WebSession, account: Account) -> FlowResult:
    request.server.authenticated_at = session.authenticated_at or clock.now()
    result: FlowResult = request.server.create_authorization_response(
        request.grant.request, grant_user=account, grant=request.grant
    )
    return result


def authorize(uow: UnitOfWork, data: RequestData) -> FlowResult:
    if len(reauthentication.strip_timestamp(data.raw_query)) > MAX_QUERY_CHARACTERS:
        return show_problem("This request cannot be completed", "The request is too long.")
    session = sessions.load(uow.db, data.cookie)
    account = sessions.find_account(uow.db, session)
    try:
        request = _validate(uow, data, account)
        if account is None or session is None or _must_sign_in(request, session, data):
            if "none" in request.prompts:
                raise _make_error("login_required", "The person has to sign in.", request.uri, request.state)
            return _redirect_to_sign_in(request, data.raw_query)
        consent = _find_consent(uow, account, request.client)
        same_host = consent is not None and consent.redirect_host == redirect_uris.host_of(request.uri)
        if same_host and not request.prompts & ALWAYS_ASK:
            return _issue_code(request, session, account)
        if "none" in request.prompts:
            raise _make_error("consent_required", "The person has not agreed yet.", request.uri, request.state)
    except OAuth2Error as error:
        return redirect_error(error)
    return _ask_for_consent(request, session, account, data.raw_query)


def _redirect_to_sign_in(request: AuthorizationRequest, query: str) -> Redirect:
    """The request comes back as it is, with the moment it was first seen where a fresh sign-in is asked for."""
    if "login" in request.prompts or request.max_age != float("inf"):
        query = reauthentication.sign_timestamp(query)
    return Redirect("/signin?" + urlencode({"return_to": f"/oauth/authorize?{query}"}), status=302)


def _ask_for_consent(request: AuthorizationRequest, session: WebSession, account: Account, query: str) -> Page:
    """The CSRF token binds the form to this exact request, so that no other can be put in its place."""
    context = {
        "name": request.client.row.name,
        "verified": request.client.row.owner_id == account.id,  # the person registered it by hand
        "published_by": urlsplit(request.client.client_id).hostname if request.client.row.kind == "cimd" else None,
        "host": redirect_uris.host_of(request.uri),
        "local": redirect_uris.is_local(request.uri),
        "shown_here": request.uri == redirect_uris.OUT_OF_BAND,
        "email": account.email,
        "query": query,
        "csrf": sessions.make_csrf_token(session, f"consent:{query}"),
        "switch": "/signin?" + urlencode({"return_to": f"/oauth/authorize?{query}"}),
    }
    return Page("consent.html", context)


def decide(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """The person's answer, by form. Redirects are 303, so that no browser sends the form onward."""
    session, query = sessions.load(uow.db, data.cookie), data.form_value("query")
    account = sessions.find_account(uow.db, session)
    if session is None or account is None:
        return show_problem("You are signed out", "Please start again from the application.", 403)
    if not sessions.is_csrf_token_valid(session, f"consent:{query}", data.form_value("csrf")):
        return show_problem("This form has expired", "Please start again from the application.", 403)
    if data.form_value("action") not in ("allow", "deny"):
        return show_problem("Nothing was chosen", "Please go back and choose Allow or Deny.")
    try:
        result = _apply_decision(uow, data, session, account)
    except OAuth2Error as error:
        result = redirect_error(error)
    if isinstance(result, JsonResponse) and result.status == 302:
        result.status = 303
    return result


def _apply_decision(uow: UnitOfWork, data: RequestData, session: WebSession, account: Account) -> FlowResult:
    query = data.form_value("query")
    pairs = parse_pairs(query, text=True)
    original = RequestData("GET", "/oauth/authorize", data.peer, raw_query=query, query=pairs)
    request = _validate(uow, original, account)
    if data.form_value("action") == "deny":
        raise AccessDeniedError(redirect_uri=request.uri, state=request.state)
    host = redirect_uris.host_of(request.uri)
    remember_consent(uow.db, account.id, request.client.client_id, host, clock.now())
    return _issue_code(request, session, account)
