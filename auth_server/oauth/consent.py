"""Consent: the page that asks a person whether an application may use the account, and what is remembered."""

from urllib.parse import urlencode, urlsplit

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AccessDeniedError
from sqlalchemy import select

from auth_server.accounts import reauthentication, step_up
from auth_server.accounts.security_events import record_event
from auth_server.oauth import redirect_uris
from auth_server.oauth.authorization_request import PATH, AuthorizationRequest, read_query, validate_request
from auth_server.oauth.requests import Choices
from auth_server.oauth.responses import redirect_error
from auth_server.web import sessions
from auth_server.web.flows import Flow
from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import Consent, WebSession, remember_consent
from shared.db.sign_in_methods import has_second_factor
from shared.domain.display_names import describe_alphabets
from shared.domain.mcp_addresses import find_address, is_covered


def find_consent(uow: UnitOfWork, account: Account, request: AuthorizationRequest) -> Consent | None:
    """This person's earlier consent to this client, whether or not it covers the request."""
    same_client = (Consent.account_id == account.id, Consent.client_id == request.client.client_id)
    return uow.db.scalar(select(Consent).where(*same_client))


def is_enough(consent: Consent | None, request: AuthorizationRequest) -> bool:
    """Whether a remembered consent covers a request: the same redirect host, and the address or a wider one."""
    if consent is None or consent.redirect_host != redirect_uris.host_of(request.uri):
        return False
    return is_covered(request.address, find_address(consent.address))


def is_answered(request: AuthorizationRequest, session: WebSession, account: Account, before: Consent | None) -> bool:
    """Whether the earlier answer also covers this request.

    The right to administer was given after a second factor, and counts only right after one.
    """
    if before is None or request.must_ask or not is_enough(before, request):
        return False
    return not (before.administer and account.is_admin) or step_up.may_administer(
        request.server.uow.db, session, account
    )


def is_identified(request: AuthorizationRequest) -> bool:
    """False when any program on the person's computer could be this client (RFC 8252 8.6).

    Its code goes to a loopback or private-use address, and no secret is asked for when it is redeemed.
    """
    return request.client.row.auth_method != "none" or not redirect_uris.is_local(request.uri)


def issue_code(request: AuthorizationRequest, session: WebSession, account: Account, consent: Choices) -> FlowResult:
    """The authorization response. A narrow address limits what was chosen, and so does an administrator's lack of a
    recent second factor."""
    request.server.authenticated_at = session.authenticated_at or clock.now()
    request.server.choices = Choices(
        read_only=consent.read_only or request.address.read_only,
        administer=consent.administer and step_up.may_administer(request.server.uow.db, session, account),
    )
    result: FlowResult = request.server.create_authorization_response(
        request.grant.request, grant_user=account, grant=request.grant
    )
    return result


def describe_application(request: AuthorizationRequest) -> dict[str, object]:
    """Describes the application that asks; it chooses its name itself, but not the hosts."""
    row = request.client.row
    published_by = urlsplit(row.client_id).hostname if row.kind == "cimd" else None
    return {
        "name": row.name,
        "alphabets": describe_alphabets(row.name),
        "published_by": published_by,
        "known": published_by in redirect_uris.list_known_hosts(),
        "host": redirect_uris.host_of(request.uri),
        "local": redirect_uris.is_local(request.uri),
        "shown_here": request.uri == redirect_uris.OUT_OF_BAND,
    }


def ask_for_consent(
    request: AuthorizationRequest, session: WebSession, account: Account, query: str, before: Consent | None
) -> FlowResult:
    """Asks the whole question, or shows one button if it was answered before but the client cannot be identified.

    The CSRF token binds the form to this exact request, so that it cannot be used for another.
    """
    short = is_answered(request, session, account, before)
    context = describe_application(request) | {
        "short": short,
        "resource": request.resource,
        "address": request.address,
        "chosen": _read_choices(before) if before is not None else Choices(),
        "may_administer": step_up.may_administer(request.server.uow.db, session, account),
        "administrator": account.is_admin,
        "has_factor": has_second_factor(request.server.uow.db, account.id),
        "sign_in_again": write_sign_in(query),
        "verified": request.client.row.owner_id == account.id,  # the person registered it by hand
        "email": account.email,
        "query": query,
        "csrf": sessions.make_csrf_token(session, f"consent:{query}"),
        "switch": "/signin?" + urlencode({"return_to": f"{PATH}?{query}"}),
        "whole_question": f"{PATH}?{reauthentication.strip_timestamp(query)}&prompt=consent",
        "may_ask_again": not request.prompts,  # a second prompt would make the request invalid
    }
    return Page("consent.html", context)


def write_sign_in(query: str) -> str:
    """The address that asks for a fresh sign-in and leads back to the same request."""
    return "/signin?" + urlencode({"return_to": f"{PATH}?{query}", "fresh": "1"})


def decide(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Handles the person's answer. Redirects are 303, so that no browser sends the form onward."""
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
    request = validate_request(uow, read_query(data.form_value("query"), data.peer), account)
    if data.form_value("action") == "deny":
        raise AccessDeniedError(redirect_uri=request.uri, state=request.state)
    choices = Choices(
        read_only=data.form_value("read_only") == "yes",
        administer=data.form_value("administer") == "yes" and account.is_admin,
    )
    is_fit = step_up.may_administer if choices.administer else step_up.may_allow
    if not is_fit(uow.db, session, account):
        return Redirect(write_sign_in(data.form_value("query")))
    before = find_consent(uow, account, request)
    old = _read_choices(before) if before is not None and is_enough(before, request) else None
    reads_only = choices.read_only or request.address.read_only
    is_wider = old is None or (old.read_only and not reads_only) or (choices.administer and not old.administer)
    if is_wider:  # the owner is told where an application may now do more than before
        subject = f"{request.client.row.name} ({redirect_uris.host_of(request.uri)})"
        record_event(uow, account, "application_allowed", subject=subject, user_agent=data.user_agent)
    if choices != old:
        _remember(uow, account, request, choices)
    return issue_code(request, session, account, choices)


def _read_choices(consent: Consent) -> Choices:
    return Choices(consent.read_only, consent.administer)


def _remember(uow: UnitOfWork, account: Account, request: AuthorizationRequest, choices: Choices) -> None:
    host = redirect_uris.host_of(request.uri)
    remember_consent(
        uow.db,
        account.id,
        request.client.client_id,
        redirect_host=host,
        address=request.address.path,
        read_only=choices.read_only,
        administer=choices.administer,
        granted_at=clock.now(),
    )


# The application behind a sign-in: pages on the way to an authorization request say which one asks.


def name_application(flow: Flow[FlowResult]) -> Flow[FlowResult]:
    """Puts `asking` into the context of each page that leads on to `return_to`, for the template asking.html."""

    def named_flow(uow: UnitOfWork, data: RequestData) -> FlowResult:
        result = flow(uow, data)
        if isinstance(result, Page) and (return_to := result.context.get("return_to")):
            result.context["asking"] = _describe_asking(uow, data, str(return_to))
        return result

    return named_flow


def _describe_asking(uow: UnitOfWork, data: RequestData, return_to: str) -> dict[str, object] | None:
    """Describes the application of a valid authorization request; None otherwise, so no stranger's name is shown."""
    parts = urlsplit(return_to)
    if parts.path != PATH:
        return None
    try:
        return describe_application(validate_request(uow, read_query(parts.query, data.peer), None))
    except OAuth2Error:
        return None
