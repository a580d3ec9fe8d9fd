"""The service a command works on: the environment's, the one running on the home, or a temporary one."""

import contextlib
import os
import sys
from collections.abc import Iterator

from deploy.database.direct_database import update_tables
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.ports import usual_port
from deploy.local.stack import Stack, build_environment, start_private_servers, stop_all
from deploy.local.supervisor import running
from shared.settings import settings
from shared.variables import read_variable

SETTINGS_OF_A_SERVICE = ("DATABASE_URL", "REDIS_URL", "SECRET_KEYS", "SERVICE_CLIENT_SECRET")


def is_set_by_environment() -> bool:
    """Whether the environment describes a whole service, as in production: the home is then not used."""
    return all(read_variable(name) for name in SETTINGS_OF_A_SERVICE)


def _use_running_service(home: Home) -> bool:
    """Takes the settings of the service that runs on this home, if one does."""
    if not (facts := home.running()):
        return False
    names = ("database_url", "database_pooling", "database_direct_url", "redis_url", "web_url", "mcp_url", "outbox_dir")
    os.environ.update({name.upper(): facts[name] for name in names if facts.get(name)} | home.secrets())
    if smtp := facts.get("inbound_smtp"):
        host, _, port = smtp.rpartition(":")
        os.environ.update(INBOUND_SMTP_HOST=host, INBOUND_SMTP_PORT=port)
    return True


@contextlib.contextmanager
def _hold_lock(home: Home) -> Iterator[None]:
    with home.alone() as free:
        if not free:
            raise CommandError(f"The service on {home.path} is just starting or stopping: try again in a moment.")
        yield


@contextlib.contextmanager
def database(home: Home, *, tables: bool = True) -> Iterator[None]:
    """Database and queue of the service: the environment's, the running ones, or temporary private ones.

    Those started for now get their tables brought up to date, unless they are wanted unchanged.
    """
    if is_set_by_environment() or _use_running_service(home.prepare()):
        yield
        return
    with _hold_lock(home):
        stack = Stack(home, usual_port(home, "web"), usual_port(home, "mcp"), 0, lambda _: None)
        try:
            os.environ.update(build_environment(stack, start_private_servers(stack)) | os.environ)
            if tables:
                update_tables(settings().direct_url)
            yield
        finally:
            stop_all(stack)


@contextlib.contextmanager
def serving(home: Home) -> Iterator[str]:
    """The tool address of a service that answers: the running one, or a temporary one."""
    if is_set_by_environment() or _use_running_service(home.prepare()):
        yield settings().mcp_url
        return
    with _hold_lock(home):
        print("No service runs on this home; one is started for this command.", file=sys.stderr)
        with running(home, None, None, lambda _: None) as stack:
            yield stack.mcp_url
