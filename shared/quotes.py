"""The quotes around a value of the environment."""


def unquote(value: str) -> str:
    """The value without the quotes around it: a shell and systemd take them off, --env-file of containers does not."""
    is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
