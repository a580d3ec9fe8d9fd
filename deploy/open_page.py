"""`award-travel open`: the page of the running service, or of the one logged in to, in the browser."""

import argparse
import webbrowser
from urllib.parse import quote

from deploy.errors import CommandError
from deploy.local.home import Home


def _find_address(home: Home) -> str:
    """Raises CommandError where no service is known."""
    from deploy.client.commands import CommandEnded, load_login
    from deploy.local.service import is_set_by_environment
    from shared.variables import read_variable

    if facts := home.running():
        return str(facts["web_url"])
    if is_set_by_environment() and (url := read_variable("WEB_URL")):
        return url.rstrip("/")
    try:
        return load_login().url
    except CommandEnded:
        raise CommandError(f"No service runs on {home.path}: start it with award-travel up.") from None


def run_open(arguments: argparse.Namespace) -> None:
    """Opens the page; where no browser starts, as on a machine without a screen, the address helps."""
    address = f"{_find_address(Home(arguments.home))}/{quote(arguments.page.lstrip('/'))}"
    opened = webbrowser.open(address)
    print(f"Opened {address}" if opened else f"No browser starts here; open this address in one: {address}")
