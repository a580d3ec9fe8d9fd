"""The authorization endpoint: a client's request goes in; sign-in, a question to the person, or a code comes out."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AccessDeniedError, InvalidClientError, InvalidRequestError
from sqlalchemy import select

from auth_server.accounts import reauthentication
from auth_server.oauth import redirect_uris
from auth_server.oauth.server import Application, Server, ServiceClient
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect, problem, refused
from auth_server.web.request_data import MAX_QUERY, RequestData, once, pairs
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import Consent, WebSession, remember_consent

PROMPTS = {"none", "login", "consent", "select_account"}
ASK_ANYWAY = {"consent", "select_account"}  # the question names the account and offers another
_UNSUPPORTED = {"request": "request_not_supported", "request_uri": "request_uri_not_supported"}


@dataclass
class Asked:
    """A request whose client, redirect URI and parameters are all good."""

    grant: Any
    client: Application
    uri: str
    state: str | None
    prompts: set[str]
    max_age: float  # seconds a sign-in may be old; without end when nothing was said


def _named(error: str, text: str, uri: str, state: str | None) -> OAuth2Error:
    return OAuth2Error(text, error=error, redirect_uri=uri, state=state)


def _client_and_uri(server: Server, inc: RequestData) -> tuple[Application, str]:
    """Both verified, or an error that is shown as a page: nothing is sent to an address nobody vouched for."""
    once(inc.query)
    client = server.query_client(inc.query_value("client_id") or "")
    if client is None or isinstance(client, ServiceClient):
        raise InvalidClientError(description="The application is not known here. It may have to register again.")
    uri = inc.query_value("redirect_uri")
    if not uri:
        raise InvalidRequestError("Missing 'redirect_uri'.")
    if not client.check_redirect_uri(uri):
        raise InvalidRequestError("The redirect_uri is not registered for this application.")
    return client, uri


def _fault(inc: RequestData, prompts: set[str]) -> tuple[str, str] | None:
    """What is wrong with the parameters authlib leaves to us: error code and text."""
    for name, error in _UNSUPPORTED.items():
        if inc.query_value(name) is not None:
            return error, "Request objects are not supported."
    if inc.query_value("response_type") is None:
        return "invalid_request", "Missing 'response_type'."
    if inc.query_value("response_type") != "code":
        return "unsupported_response_type", "Only response_type=code is supported."
    if inc.query_value("response_mode") not in (None, "query"):
        return "invalid_request", "Only response_mode=query is supported."
    if prompts - PROMPTS or ("none" in prompts and len(prompts) > 1):
        return "invalid_request", "Unsupported 'prompt'."
    if not re.fullmatch(r"[0-9]*", inc.query_value("max_age") or ""):
        return "invalid_request", "Unsupported 'max_age'."
    if not (inc.query_value("nonce") or "").isascii():
        return "invalid_request", "Unsupported 'nonce'."
    return None


def _validated(server: Server, inc: RequestData, account: Account | None) -> Asked:
    client, uri = _client_and_uri(server, inc)
    state, prompts = inc.query_value("state"), set((inc.query_value("prompt") or "").split())
    if (fault := _fault(inc, prompts)) is not None:
        raise _named(*fault, uri, state)
    grant = server.get_consent_grant(inc, end_user=account)
    return Asked(grant, client, uri, state, prompts, float(inc.query_value("max_age") or "inf"))


def _must_sign_in(asked: Asked, session: WebSession | None, inc: RequestData) -> bool:
    """prompt=login and max_age are met by a sign-in that came after this very request was first seen."""
    since = session.authenticated_at if session is not None else None
    if since is None:
        return True
    if "login" not in asked.prompts and (clock.now() - since).total_seconds() <= asked.max_age:
        return False
    first_seen = reauthentication.first_seen_at(inc.raw_query)
    return first_seen is None or since < first_seen


def _remembered(server: Server, account: Account, client: Application) -> Consent | None:
    mine = (Consent.account_id == account.id, Consent.client_id == client.client_id)
    return server.db.scalar(select(Consent).where(*mine))


def _grant(server: Server, asked: Asked, session: WebSession, account: Account) -> FlowResult:
    server.authenticated_at = session.authenticated_at or clock.now()
    outcome: FlowResult = server.create_authorization_response(
        asked.grant.request, grant_user=account, grant=asked.grant
    )
    return outcome


def authorize(server: Server, inc: RequestData) -> FlowResult:
    if len(reauthentication.plain(inc.raw_query)) > MAX_QUERY:
        return problem("This request cannot be completed", "The request is too long.")
    session = sessions.load(server.db, inc.cookie)
    account = sessions.person(server.db, session)
    try:
        asked = _validated(server, inc, account)
        if account is None or session is None or _must_sign_in(asked, session, inc):
            if "none" in asked.prompts:
                raise _named("login_required", "The person has to sign in.", asked.uri, asked.state)
            return _to_sign_in(asked, inc.raw_query)
        known = _remembered(server, account, asked.client)
        same_host = known is not None and known.redirect_host == redirect_uris.host_of(asked.uri)
        if same_host and not asked.prompts & ASK_ANYWAY:
            return _grant(server, asked, session, account)
        if "none" in asked.prompts:
            raise _named("consent_required", "The person has not agreed yet.", asked.uri, asked.state)
    except OAuth2Error as error:
        return refused(error)
    return _question(asked, session, account, inc.raw_query)


def _to_sign_in(asked: Asked, query: str) -> Redirect:
    """The request comes back as it is, with the moment it was first seen where a fresh sign-in is asked for."""
    if "login" in asked.prompts or asked.max_age != float("inf"):
        query = reauthentication.sign_timestamp(query)
    return Redirect("/signin?" + urlencode({"return_to": f"/oauth/authorize?{query}"}), status=302)


def _question(asked: Asked, session: WebSession, account: Account, query: str) -> Page:
    """The form is bound to the exact request shown: nothing can be exchanged between question and answer."""
    shown = {
        "name": asked.client.row.name,
        "verified": asked.client.row.owner_id == account.id,  # they named it themselves
        "published_by": urlsplit(asked.client.client_id).hostname if asked.client.row.kind == "cimd" else None,
        "host": redirect_uris.host_of(asked.uri),
        "local": redirect_uris.is_local(asked.uri),
        "shown_here": asked.uri == redirect_uris.OUT_OF_BAND,
        "email": account.email,
        "query": query,
        "csrf": sessions.csrf(session, f"consent:{query}"),
        "switch": "/signin?" + urlencode({"return_to": f"/oauth/authorize?{query}"}),
    }
    return Page("consent.html", shown)


def decide(server: Server, inc: RequestData) -> FlowResult:
    """The person's answer, by form. Redirects are 303, so that no browser sends the form onward."""
    session, query = sessions.load(server.db, inc.cookie), inc.form_value("query")
    account = sessions.person(server.db, session)
    if session is None or account is None:
        return problem("You are signed out", "Please start again from the application.", 403)
    if not sessions.csrf_holds(session, f"consent:{query}", inc.form_value("csrf")):
        return problem("This form has expired", "Please start again from the application.", 403)
    if inc.form_value("action") not in ("allow", "deny"):
        return problem("Nothing was chosen", "Please go back and choose Allow or Deny.")
    try:
        outcome = _answer(server, inc, session, account)
    except OAuth2Error as error:
        outcome = refused(error)
    if isinstance(outcome, JsonResponse) and outcome.status == 302:
        outcome.status = 303
    return outcome


def _answer(server: Server, inc: RequestData, session: WebSession, account: Account) -> FlowResult:
    query = inc.form_value("query")
    request = RequestData("GET", "/oauth/authorize", inc.peer, raw_query=query, query=pairs(query, text=True))
    asked = _validated(server, request, account)
    if inc.form_value("action") == "deny":
        raise AccessDeniedError(redirect_uri=asked.uri, state=asked.state)
    host = redirect_uris.host_of(asked.uri)
    remember_consent(server.db, account.id, asked.client.client_id, host, clock.now())
    return _grant(server, asked, session, account)
