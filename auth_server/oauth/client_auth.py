"""Client authentication in requests of programs: HTTP Basic (RFC 6749 2.3.1) next to form fields."""

import base64
import binascii
from dataclasses import replace
from urllib.parse import unquote_plus

from authlib.oauth2.rfc6749 import InvalidClientError

from auth_server.web.request_data import RequestData, reject_request


def check_credentials(data: RequestData) -> RequestData:
    """Checks that the request has one well-formed, consistent client authentication (RFC 6749 2.3).

    A name with an empty secret is a public client's, which belongs in the form (2.3.1).
    """
    if data.authorization is None:
        return data
    name, secret = parse_basic(data.authorization)
    if not name:
        raise InvalidClientError(description="Malformed client credentials.", status_code=401)
    if data.form_value("client_secret") or data.form_value("client_assertion"):
        reject_request("More than one client authentication method was used.")
    if data.form_value("client_id") not in ("", name):
        reject_request("The client_id does not match the authenticated client.")
    if secret:
        return data
    return replace(data, authorization=None, form=[*(f for f in data.form if f[0] != "client_id"), ("client_id", name)])


def parse_basic(header: str) -> tuple[str, str]:
    """Name and secret of a Basic header; empty strings when it is not one."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        decoded = base64.b64decode(value.strip().encode("ascii"), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return "", ""
    name, _, secret = decoded.partition(":")
    return unquote_plus(name), unquote_plus(secret)
