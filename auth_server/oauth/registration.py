"""Dynamic client registration (RFC 7591); every registered client is a public one."""

import hashlib
import logging
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc7591.errors import InvalidClientMetadataError, InvalidRedirectURIError
from sqlalchemy import func, select

from auth_server.oauth import redirect_uris, tokens
from auth_server.oauth.responses import to_error_response
from auth_server.web.outcomes import NO_STORE, JsonResponse
from auth_server.web.request_data import RequestData, parse_json
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.oauth import Client
from shared.domain.display_names import UnfitName, parse_name
from shared.limits import address_key, choose_limit, hit
from shared.settings import settings

log = logging.getLogger(__name__)
MAX_URIS = 10
SAME_BODY_WINDOW = timedelta(minutes=10)
_GRANT_TYPES, _RESPONSE_TYPES = ["authorization_code", "refresh_token"], ["code"]
_MAX_TEXT_CHARACTERS = {"client_uri": 2048, "logo_uri": 2048, "tos_uri": 2048, "policy_uri": 2048, "software_id": 255}
_MAX_TEXT_CHARACTERS |= {
    "software_version": 255,
    "scope": 1024,
    "application_type": 32,
    "token_endpoint_auth_method": 64,
}


def _check_rate_limit(peer: str) -> JsonResponse | None:
    limit = choose_limit(peer, settings().dcr_per_hour, settings().dcr_trusted_per_hour)
    if limit is None:
        return None
    verdict = hit(f"register:{address_key(peer)}", limit, 3600)
    if verdict.allowed:
        return None
    text = "Too many registrations from this address."
    headers = NO_STORE | {"Retry-After": str(verdict.retry_after)}
    return JsonResponse(429, {"error": "temporarily_unavailable", "error_description": text}, headers)


def _parse_name(value: object) -> str:
    if value is None:
        return "Unnamed application"
    if not isinstance(value, str):
        raise InvalidClientMetadataError("client_name must be a string.")
    try:
        return parse_name(value, service=settings().service_name)
    except UnfitName as unfit:
        raise InvalidClientMetadataError(f"client_name {unfit}.") from None


def _parse_uris(value: object, own_host: str) -> list[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_URIS:
        raise InvalidRedirectURIError(f"redirect_uris must be a list of 1 to {MAX_URIS} URIs.")
    try:
        return list(dict.fromkeys(redirect_uris.check_registration(uri, own_host=own_host) for uri in value))
    except redirect_uris.BadRedirect as bad:
        log.info("registration refused: a redirect URI %s", bad)
        raise InvalidRedirectURIError(f"redirect_uris: {bad}.") from None


def _check_list(data: dict[str, Any], name: str, supported: list[str]) -> None:
    value = data.get(name)
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InvalidClientMetadataError(f"{name} must be a list of strings.")
    if value and not set(supported) & set(value):
        raise InvalidClientMetadataError(f"{name} has no supported value.")


def client_metadata_from(data: object, *, own_host: str = "") -> dict[str, Any]:
    """The metadata this server registers, whatever else the body holds: always a public client.

    `own_host` is the host of the document.
    """
    if not isinstance(data, dict):
        raise InvalidClientMetadataError("The body must be a JSON object.")
    uris = _parse_uris(data.get("redirect_uris"), own_host)
    for name, limit in _MAX_TEXT_CHARACTERS.items():
        value = data.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > limit):
            raise InvalidClientMetadataError(f"{name} is not valid.")
    _check_list(data, "grant_types", _GRANT_TYPES)
    _check_list(data, "response_types", _RESPONSE_TYPES)
    return {
        "client_name": _parse_name(data.get("client_name")),
        "redirect_uris": uris,
        "grant_types": _GRANT_TYPES,
        "response_types": _RESPONSE_TYPES,
        "token_endpoint_auth_method": "none",
        "application_type": "native" if data.get("application_type") == "native" else "web",
        "scope": tokens.SUPPORTED,
    }


def register_client(body: bytes) -> Callable[[UnitOfWork, RequestData], JsonResponse]:
    def flow(uow: UnitOfWork, data: RequestData) -> JsonResponse:
        if not settings().dcr:
            text = "Applications do not register themselves here; a person can register one at /dashboard/api-apps/new."
            return JsonResponse(403, {"error": "access_denied", "error_description": text}, dict(NO_STORE))
        if (refusal := _check_rate_limit(data.peer)) is not None:
            return refusal
        try:
            metadata = client_metadata_from(_parse_body(body))
        except OAuth2Error as error:
            return to_error_response(error)
        # Of body and address: with only the body, anyone who sends a well-known one would get another person's
        # client.
        fingerprint = hashlib.sha256(f"{address_key(data.peer)}\n".encode() + body).hexdigest()
        # The client that this same request registered a moment ago; an advisory lock orders concurrent requests.
        uow.db.execute(select(func.pg_advisory_xact_lock(int(fingerprint[:15], 16))))
        recent = (Client.fingerprint == fingerprint, Client.created_at > clock.now() - SAME_BODY_WINDOW)
        recent_client = uow.db.scalars(select(Client).where(*recent, Client.disabled_at.is_(None)).limit(1)).first()
        row = recent_client or _add_client(uow, metadata, fingerprint)
        issued = {"client_id": row.client_id, "client_id_issued_at": int(row.created_at.timestamp())}
        return JsonResponse(201, issued | metadata, dict(NO_STORE))

    return flow


def _parse_body(body: bytes) -> object:
    try:
        return parse_json(body)
    except OAuth2Error as error:
        raise InvalidClientMetadataError(error.get_error_description()) from None


def _add_client(uow: UnitOfWork, metadata: dict[str, Any], fingerprint: str) -> Client:
    row = Client(
        client_id=secrets.token_urlsafe(24),
        kind="dcr",
        name=metadata["client_name"],
        auth_method="none",
        redirect_uris=metadata["redirect_uris"],
        fingerprint=fingerprint,
        created_at=clock.now(),
    )
    uow.db.add(row)
    return row
