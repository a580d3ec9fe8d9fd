"""Authorization endpoint (RFC 6749 3.1): signs the person in, asks for consent, and issues a code."""

from urllib.parse import urlencode

from authlib.oauth2 import OAuth2Error

from auth_server.accounts import reauthentication, step_up
from auth_server.oauth import consent
from auth_server.oauth.authorization_request import PATH, AuthorizationRequest, make_error, validate_request
from auth_server.oauth.requests import Choices
from auth_server.oauth.responses import redirect_error
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Redirect, show_problem
from auth_server.web.request_data import MAX_QUERY_CHARACTERS, RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.oauth import WebSession


def _must_sign_in(request: AuthorizationRequest, session: WebSession | None, data: RequestData) -> bool:
    """Whether a sign-in is needed: prompt=login and max_age want one after this request was first seen."""
    signed_in_at = session.authenticated_at if session is not None else None
    if signed_in_at is None:
        return True
    if "login" not in request.prompts and (clock.now() - signed_in_at).total_seconds() <= request.max_age:
        return False
    first_seen = reauthentication.first_seen_at(data.raw_query)
    return first_seen is None or signed_in_at < first_seen


def authorize(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Issues a code, asks, or leads to a sign-in: the first two need one of the last ten minutes.

    Tokens outlive a browser that falls into other hands, even those of an application allowed before.
    """
    if len(reauthentication.strip_timestamp(data.raw_query)) > MAX_QUERY_CHARACTERS:
        return show_problem("This request cannot be completed", "The request is too long.")
    session = sessions.load(uow.db, data.cookie)
    account = sessions.find_account(uow.db, session)
    try:
        request = validate_request(uow, data, account)
        if account is None or session is None or _must_sign_in(request, session, data):
            if "none" in request.prompts:
                raise make_error("login_required", "The person has to sign in.", request.uri, request.state)
            # The request comes back unchanged, with the moment it was first seen where a fresh sign-in is asked for.
            query = data.raw_query
            if "login" in request.prompts or request.max_age != float("inf"):
                query = reauthentication.sign_timestamp(query)
            return Redirect("/signin?" + urlencode({"return_to": f"{PATH}?{query}"}), status=302)
        if not step_up.may_allow(uow.db, session, account):
            if "none" in request.prompts:
                raise make_error("login_required", "The person has to sign in again.", request.uri, request.state)
            return Redirect(consent.write_sign_in(data.raw_query), status=302)
        before = consent.find_consent(uow, account, request)
        agreed = consent.is_answered(request, session, account, before)
        if before is not None and agreed and consent.is_identified(request):
            return consent.issue_code(request, session, account, Choices(before.read_only, before.administer))
        if "none" in request.prompts:
            raise make_error("consent_required", "The person has to be asked.", request.uri, request.state)
    except OAuth2Error as error:
        return redirect_error(error)
    return consent.ask_for_consent(request, session, account, data.raw_query, before)
