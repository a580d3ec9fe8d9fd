"""The pictures of the site, as hosts show them alongside the server's name."""

from mcp_types import Icon

from shared.settings import settings


def list_icons() -> list[Icon]:
    """By address: the web host serves them to everybody, and a list of them stays short."""
    site = settings().web_url
    return [
        Icon(src=f"{site}/static/icon.svg", mime_type="image/svg+xml", sizes=["any"]),
        Icon(src=f"{site}/static/icon.png", mime_type="image/png", sizes=["512x512"]),
    ]
