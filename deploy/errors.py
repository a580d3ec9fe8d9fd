"""Errors that end a command, each worded as one sentence that says what to do."""


class CommandError(Exception):
    """The command cannot go on; the text says why and what to do."""

    code = 1


def user_message(fault: Exception) -> str | None:
    """The sentence of an expected fault; None for a bug, which keeps its traceback."""
    import httpx
    from sqlalchemy.exc import OperationalError

    from shared.errors import Refusal
    from shared.reference.tables import ReferenceError
    from shared.settings import SettingsError

    if isinstance(fault, CommandError | SettingsError | ReferenceError):
        return str(fault)
    if isinstance(fault, Refusal):
        return fault.message
    if isinstance(fault, OperationalError):
        return "The database does not answer: see whether DATABASE_URL is right and its server runs."
    if isinstance(fault, httpx.TransportError):
        return "The service does not answer: see whether it runs, with award-travel doctor."
    return None
