"""The connection to a person's Google account, with access to files this service made and no others."""

from collections.abc import Mapping

from shared.providers import oauth_client
from shared.providers.connectors import Connector, Grant, Start
from shared.providers.google_sheets.sheet import push
from shared.settings import settings

SCOPE = "https://www.googleapis.com/auth/drive.file"  # files this service makes, and no other


def is_configured() -> bool:
    return bool(settings().google_client_id and settings().google_client_secret)


def _client() -> dict[str, str]:
    return oauth_client.client_fields(settings().google_client_id, settings().google_client_secret)


async def start(redirect_uri: str, state: str) -> Start:
    query = {
        "response_type": "code",
        "client_id": _client()["client_id"],
        "redirect_uri": redirect_uri,
        "scope": SCOPE,
        "state": state,
        "access_type": "offline",
        "prompt": "consent",  # a refresh token is given with it alone
        "include_granted_scopes": "true",
    }
    return oauth_client.build_start(settings().google_authorize_url, query, pkce=True)


async def finish(query: Mapping[str, str], saved: Mapping[str, str], redirect_uri: str) -> Grant:
    fields = oauth_client.code_fields(_client(), query, redirect_uri, code_verifier=saved["verifier"])
    return await oauth_client.request_token(f"{settings().google_oauth_url}/token", fields)


async def renew(refresh: str) -> Grant:
    return await oauth_client.request_token(
        f"{settings().google_oauth_url}/token", oauth_client.refresh_fields(_client(), refresh)
    )


async def revoke(access: str, refresh: str | None) -> bool:
    return await oauth_client.revoke(f"{settings().google_oauth_url}/revoke", {"token": refresh or access})


CONNECTOR = Connector(
    title="Google Sheets",
    shares=(
        "This service makes one spreadsheet in your Google Drive and can see or change no other file.",
        "When you ask for it, your points balances and bookings are written into it, with their confirmation numbers.",
    ),
    configured=is_configured,
    start=start,
    finish=finish,
    renew=renew,
    revoke=revoke,
    push=push,
    used_by=("points_balances", "flight_bookings", "hotel_bookings"),
    after="The spreadsheet stays in your Drive.",
)
