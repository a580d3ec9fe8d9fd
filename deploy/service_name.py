"""The name an operator gives the service, for what the command line prints before the settings can be read."""

DEFAULT = "Award Travel"  # that of the settings, which need packages and a database's address to load


def read_service_name() -> str:
    from shared.variables import read_variable  # only once `shared` is known to be ours

    return read_variable("SERVICE_NAME").strip() or DEFAULT
