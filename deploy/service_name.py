"""The name an operator gives the service, for what the command line prints before the settings can be read."""

import os

DEFAULT = "Award Travel"  # that of the settings, which need packages and a database's address to load


def read_service_name() -> str:
    from shared.quotes import unquote  # only once `shared` is known to be ours

    return unquote(os.environ.get("SERVICE_NAME", "").strip()) or DEFAULT
