"""Responses of the OAuth protocol: errors as JSON (RFC 6749 5.2), and authorization responses (RFC 6749 4.1.2)."""

from authlib.oauth2 import OAuth2Error

from auth_server.oauth import redirect_uris
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse, Page, show_problem
from shared.settings import settings


def to_error_response(error: OAuth2Error) -> JsonResponse:
    """A protocol error as JSON; client authentication failures are 401 and name a scheme."""
    body = {"error": error.error, "error_description": error.get_error_description()}
    headers = dict(NO_STORE)
    if error.error == "invalid_client":
        headers["WWW-Authenticate"] = 'Basic realm="award-travel", error="invalid_client"'
        return JsonResponse(
            401, {"error": "invalid_client", "error_description": "Client authentication failed."}, headers
        )
    return JsonResponse(error.status_code, {k: v for k, v in body.items() if v}, headers)


def redirect_to_client(uri: str, state: str | None, params: list[tuple[str, str]]) -> FlowResult:
    """An authorization response at a verified redirect URI: exact state, and the issuer (RFC 9207)."""
    if uri == redirect_uris.OUT_OF_BAND:
        values = dict(params)
        context = {"code": values.get("code"), "error": values.get("error")}
        return Page("code.html", context, 200 if "code" in values else 400)
    state_param = [("state", state)] if state else []
    location = redirect_uris.append_parameters(uri, [*params, *state_param, ("iss", settings().web_url)])
    return JsonResponse(
        302, None, {"Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )


def redirect_error(error: OAuth2Error) -> FlowResult:
    """An authorization error: back to the application once its redirect URI is verified, else a page."""
    if error.redirect_uri:
        params = [("error", error.error), ("error_description", error.get_error_description())]
        return redirect_to_client(error.redirect_uri, error.state, [(k, v) for k, v in params if v])
    text = error.get_error_description() or "The request is not valid."
    return show_problem("This request cannot be completed", text)
