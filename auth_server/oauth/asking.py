"""The application behind a sign-in: pages on the way to an authorization request say which one asks."""

from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error

from auth_server.oauth.authorization_request import PATH, read_query, validate_request
from auth_server.oauth.consent import describe_application
from auth_server.web.flows import Flow
from auth_server.web.outcomes import FlowResult, Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork


def name_application(flow: Flow[FlowResult]) -> Flow[FlowResult]:
    """Puts `asking` into the context of each page that leads on to `return_to`, for the template asking.html."""

    def named_flow(uow: UnitOfWork, data: RequestData) -> FlowResult:
        result = flow(uow, data)
        if isinstance(result, Page) and (return_to := result.context.get("return_to")):
            result.context["asking"] = _describe_asking(uow, data, str(return_to))
        return result

    return named_flow


def _describe_asking(uow: UnitOfWork, data: RequestData, return_to: str) -> dict[str, object] | None:
    """None unless an authorization request that is valid stands there: no name of a stranger is shown for less."""
    parts = urlsplit(return_to)
    if parts.path != PATH:
        return None
    try:
        return describe_application(validate_request(uow, read_query(parts.query, data.peer), None))
    except OAuth2Error:
        return None
