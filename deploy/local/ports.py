"""Ports of the local servers: given by option, saved in the home, or the defaults."""

from deploy.errors import CommandError
from deploy.local.home import PORTS, Home
from deploy.local.private_servers import free_port, is_free


def usual_port(home: Home, name: str) -> int:
    return home.ports().get(name, PORTS[name])


def choose_port(home: Home, name: str, option: int | None) -> int:
    """The port of the option, or the home's saved one, or the default; 0 picks a free one and saves it."""
    if option == 0:
        port = home.ports().get(name)
        if port is None or not is_free(port):
            port = free_port()
            home.keep_port(name, port)
        return port
    port = option or usual_port(home, name)
    if not is_free(port):
        raise CommandError(f"Port {port} is taken: choose another with --{name}-port N (0 picks a free one).")
    return port
