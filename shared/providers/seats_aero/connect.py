"""The connection to a person's own seats.aero account, by OAuth 2."""

from collections.abc import Mapping

from shared.providers import oauth_client
from shared.providers.connectors import Connector, Grant, Start
from shared.settings import settings


def is_configured() -> bool:
    return bool(settings().seats_aero_client_id and settings().seats_aero_client_secret)


def _client() -> dict[str, str]:
    return oauth_client.client_fields(settings().seats_aero_client_id, settings().seats_aero_client_secret)


async def start(redirect_uri: str, state: str) -> Start:
    query = {
        "response_type": "code",
        "client_id": _client()["client_id"],
        "redirect_uri": redirect_uri,
        "state": state,
        "scope": "openid",
    }
    return oauth_client.build_start(f"{settings().seats_aero_oauth_url}/consent", query, pkce=False)


async def finish(query: Mapping[str, str], _kept: Mapping[str, str], redirect_uri: str) -> Grant:
    """They take the exchange as JSON; as a form it fails."""
    fields = oauth_client.code_fields(_client(), query, redirect_uri, state=query.get("state", ""), scope="openid")
    return await oauth_client.request_token(f"{settings().seats_aero_oauth_url}/token", fields, as_json=True)


async def renew(refresh: str) -> Grant:
    return await oauth_client.request_token(
        f"{settings().seats_aero_oauth_url}/token", oauth_client.refresh_fields(_client(), refresh), as_json=True
    )


CONNECTOR = Connector(
    title="seats.aero",
    shares=(
        "This service may look up award seats in your name. Each look-up counts towards your own daily limit there.",
        "What is found with your account is shown to you alone.",
    ),
    configured=is_configured,
    start=start,
    finish=finish,
    renew=renew,
    used_by=("searches", "route_monitors", "flight_alerts"),
    after="They offer no way to end it from here: remove this application in the settings of your seats.aero account.",
)
