"""The name an operator gives the service, for what the command line prints before the settings can be read."""

DEFAULT = "Award Travel"  # the settings' default; loading those needs packages and a database's address


def read_service_name() -> str:
    from shared.variables import read_variable  # only once `shared` is known to be ours

    return read_variable("SERVICE_NAME").strip() or DEFAULT
