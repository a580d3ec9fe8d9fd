"""Ports: what was asked for goes in; a port that is free, or the word that it is taken, comes out."""

import socket

from deploy.errors import CommandError
from deploy.local.home import PORTS, Home
from deploy.local.private_servers import free_port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do: a port just left is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def usual(home: Home, name: str) -> int:
    return home.ports().get(name, PORTS[name])


def choose(home: Home, name: str, asked: int | None) -> int:
    """A number asked for, or the one kept in this home, or the usual one; 0 picks a free one and keeps it."""
    if asked == 0:
        kept = home.ports().get(name)
        if kept is None or not is_free(kept):
            kept = free_port()
            home.keep_port(name, kept)
        return kept
    port = asked or usual(home, name)
    if not is_free(port):
        raise CommandError(f"Port {port} is taken: choose another with --{name}-port N (0 picks a free one).")
    return port
