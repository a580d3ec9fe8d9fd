"""The service a command works on: a home goes in; its database, or its addresses, are there for as long as needed."""

import contextlib
import os
import sys
from collections.abc import Iterator

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.ports import usual
from deploy.local.supervisor import Stack, environment, running, start_private_servers, stop_all

NEEDED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEYS", "SERVICE_CLIENT_SECRET")


def told_by_environment() -> bool:
    """Whether the environment describes a whole service, as in production: the home then plays no part."""
    return all(os.environ.get(name) for name in NEEDED)


def _adopt(home: Home) -> bool:
    """Takes the settings of the service that runs on this home, if one does."""
    if not (facts := home.running()):
        return False
    names = ("database_url", "redis_url", "web_url", "mcp_url", "outbox_dir")
    os.environ.update({name.upper(): facts[name] for name in names} | home.secrets())
    return True


@contextlib.contextmanager
def _alone(home: Home) -> Iterator[None]:
    with home.alone() as free:
        if not free:
            raise CommandError(f"The service on {home.path} is just starting or stopping: try again in a moment.")
        yield


@contextlib.contextmanager
def database(home: Home, *, tables: bool = True) -> Iterator[None]:
    """Database and queue of the service: the environment's, the running ones, or private ones started for now.

    Those started for now get their tables brought up to date, unless they are wanted as they are.
    """
    from shared.db.schema import upgrade
    from shared.settings import settings

    if told_by_environment() or _adopt(home.prepare()):
        yield
        return
    with _alone(home):
        stack = Stack(home, usual(home, "web"), usual(home, "mcp"), 0, lambda _: None)
        try:
            os.environ.update(environment(stack, start_private_servers(stack)) | os.environ)
            if tables:
                upgrade(settings().database_url)
            yield
        finally:
            stop_all(stack)


@contextlib.contextmanager
def serving(home: Home) -> Iterator[str]:
    """The tool address of a service that answers: the running one, or one started for now."""
    from shared.settings import settings

    if told_by_environment() or _adopt(home.prepare()):
        yield settings().mcp_url
        return
    with _alone(home):
        print("No service runs on this home; one is started for this command.", file=sys.stderr)
        with running(home, None, None, lambda _: None) as stack:
            yield stack.mcp_url
