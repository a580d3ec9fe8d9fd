"""Sign-in by another provider: the buttons of the sign-in pages, and the address a provider sends browsers back to."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error
from starlette.requests import Request
from starlette.responses import Response

from auth_server.accounts import provider_journeys, reauthentication, signin
from auth_server.accounts.identity_providers import Identity, SignInRefused, identify, load_metadata
from auth_server.accounts.provider_arrivals import arrive
from auth_server.accounts.provider_documents import Unavailable
from auth_server.accounts.provider_journeys import BEGIN_AGAIN, Return, show_provider_problem
from auth_server.web import sessions
from auth_server.web.flows import Flow, run, run_counted
from auth_server.web.handlers import Handler, handle_form
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, show_problem
from auth_server.web.rendering import to_response
from auth_server.web.request_data import RequestData, parse_pairs, refuse_repeats, to_request_data
from auth_server.web.unit_of_work import UnitOfWork
from shared.settings import settings
from shared.settings.identity_providers import OidcProvider

log = logging.getLogger(__name__)
_NO_PROVIDER = show_problem("Nothing is here", "This installation does not know that provider.", 404)
Starting = Callable[[str, OidcProvider, dict[str, Any]], Flow[FlowResult]]


def _show_unavailable(provider: OidcProvider, return_to: str) -> Page:
    text = f"{provider.title} does not answer at present. Please try again in a moment, or sign in another way."
    return show_provider_problem(f"{provider.title} cannot be reached", text, return_to, 503)


def handle_start(make_flow: Starting) -> Handler:
    """Handles a button for the provider in the path; looks up its endpoints before taking a thread."""

    async def handler(request: Request) -> Response:
        name = request.path_params["name"]
        provider = settings().oidc_providers.get(name)
        if provider is None:
            return to_response(_NO_PROVIDER)
        try:
            metadata = await load_metadata(provider)
        except Unavailable:
            return to_response(_show_unavailable(provider, signin.HOME))
        return await handle_form(make_flow(name, provider, metadata))(request)

    return handler


def start_sign_in(name: str, provider: OidcProvider, metadata: dict[str, Any]) -> Flow[FlowResult]:
    """Starts a sign-in from the sign-in or sign-up page, whose forms have their own tokens."""

    def flow(uow: UnitOfWork, data: RequestData) -> FlowResult:
        tokens = (sessions.load_for_form(uow.db, data, purpose) for purpose in ("signin", "signup"))
        session = next((valid for valid in tokens if valid is not None), None)
        if session is None:
            return FORM_EXPIRED
        return_to = signin.safe_return_path(data.form_value("return_to"))
        # Anyone already signed in comes to prove it again, as does a person an application wants to sign in
        # (prompt=login). The form does not decide this: anyone who finds a signed-in browser could change it.
        has_to_be_fresh = (
            session.owner_id is not None or reauthentication.first_seen_at(urlsplit(return_to).query) is not None
        )
        row = {"purpose": "sign_in", "fresh": has_to_be_fresh, "return_to": return_to}
        return provider_journeys.begin(uow, session, name, provider, metadata, **row)

    return flow


async def finish(request: Request) -> Response:
    """Handles the provider's answer: finds its journey, identifies the person, and continues."""
    name = request.path_params["name"]
    provider = settings().oidc_providers.get(name)
    if request.method != "GET":
        return Response(status_code=405, headers={"Allow": "GET"})
    if provider is None:
        return to_response(_NO_PROVIDER)
    try:
        query = parse_pairs(request.url.query, text=True)
        refuse_repeats(query)
    except OAuth2Error:
        return to_response(BEGIN_AGAIN)
    data = to_request_data(request, query=query)
    came_back = await run(partial(_take, name=name), data)
    if isinstance(came_back, Page):
        return to_response(came_back)
    identity = await _identify(name, provider, came_back, data)
    if isinstance(identity, Page):
        return to_response(identity)
    return to_response(
        await run_counted(partial(arrive, provider=provider, came_back=came_back, identity=identity), data)
    )


def _take(uow: UnitOfWork, data: RequestData, name: str) -> Return | Page:
    return provider_journeys.take(uow, data, name)


async def _identify(name: str, provider: OidcProvider, came_back: Return, data: RequestData) -> Identity | Page:
    """Identifies the person, or returns the page that says why it could not."""
    code, return_to = data.query_value("code"), came_back.return_to
    if data.query_value("error") is not None or code is None:
        text = f"{provider.title} says that the sign-in was refused or given up. You can begin it again."
        return show_provider_problem("You are not signed in", text, return_to)
    try:
        return await identify(name, provider, came_back.journey, code, data.query_value("iss"))
    except SignInRefused as refusal:
        log.warning("sign-in by %s refused: %s", name, refusal.__cause__ or refusal)
        return show_provider_problem("You are not signed in", str(refusal), return_to)
    except Unavailable:
        return _show_unavailable(provider, return_to)
