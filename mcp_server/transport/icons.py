"""The pictures of the site, for hosts to show next to the server's name."""

from mcp_types import Icon

from shared.settings import settings


def list_icons() -> list[Icon]:
    """Lists icons by address, which keeps the list short: the web host serves them to everyone."""
    site = settings().web_url
    return [
        Icon(src=f"{site}/static/icon.svg", mime_type="image/svg+xml", sizes=["any"]),
        Icon(src=f"{site}/static/icon.png", mime_type="image/png", sizes=["512x512"]),
    ]
