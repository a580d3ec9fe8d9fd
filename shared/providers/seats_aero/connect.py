"""The connection to a person's own seats.aero account, by OAuth 2."""

from shared.providers.connectors import Connector
from shared.providers.oauth_client import Application

APPLICATION = Application(
    "seats_aero",
    authorize_url=lambda s: f"{s.seats_aero_oauth_url}/consent",
    token_url=lambda s: f"{s.seats_aero_oauth_url}/token",
    more=lambda _: {"scope": "openid"},
    again=("state", "scope"),
    pkce=False,
    as_json=True,  # a form fails
)
CONNECTOR = Connector(
    title="seats.aero",
    shares=(
        "This service may look up award seats in your name. Each look-up counts towards your own daily limit there.",
        "What is found with your account is shown to you alone.",
    ),
    configured=APPLICATION.is_configured,
    start=APPLICATION.start,
    finish=APPLICATION.finish,
    renew=APPLICATION.renew,
    used_by=("searches", "route_monitors", "flight_alerts"),
    after="They offer no way to end it from here: remove this application in the settings of your seats.aero account.",
)
