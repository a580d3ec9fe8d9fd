"""The connection to a person's account at the operator's price-watching service, by OAuth 2."""

from collections.abc import Mapping

from shared.providers import oauth_client
from shared.providers.autopilot.events import push
from shared.providers.connectors import Connector, Grant, Start
from shared.settings import settings


def is_configured() -> bool:
    s = settings()
    return all(
        (
            s.autopilot_client_id,
            s.autopilot_client_secret,
            s.autopilot_authorize_url,
            s.autopilot_token_url,
            s.autopilot_api_base,
        )
    )


def _client() -> dict[str, str]:
    return oauth_client.client_fields(settings().autopilot_client_id, settings().autopilot_client_secret)


async def start(redirect_uri: str, state: str) -> Start:
    query = {
        "response_type": "code",
        "client_id": _client()["client_id"],
        "redirect_uri": redirect_uri,
        "state": state,
    }
    if scope := settings().autopilot_scope:
        query["scope"] = scope
    return oauth_client.build_start(settings().autopilot_authorize_url or "", query, pkce=True)


async def finish(query: Mapping[str, str], saved: Mapping[str, str], redirect_uri: str) -> Grant:
    fields = oauth_client.code_fields(_client(), query, redirect_uri, code_verifier=saved["verifier"])
    return await oauth_client.request_token(settings().autopilot_token_url or "", fields)


async def renew(refresh: str) -> Grant:
    return await oauth_client.request_token(
        settings().autopilot_token_url or "", oauth_client.refresh_fields(_client(), refresh)
    )


async def revoke(access: str, refresh: str | None) -> bool:
    if not (url := settings().autopilot_revoke_url):
        return False
    return await oauth_client.revoke(url, {"token": refresh or access, **_client()})


CONNECTOR = Connector(
    title="Autopilot",
    shares=(
        "When you ask for it, your upcoming flights and stays are sent, with dates and prices, to be watched.",
        "Cards, balances and passwords are never sent. Nothing is booked or changed from here.",
    ),
    configured=is_configured,
    start=start,
    finish=finish,
    renew=renew,
    revoke=revoke,
    push=push,
    consents=("confirmation_numbers",),
    used_by=("flight_bookings", "hotel_bookings"),
    after="Bookings sent earlier stay with that service until you delete them there.",
)
