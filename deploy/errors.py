"""Errors that end a command, each written as one sentence that says what to do."""

import errno
from pathlib import Path

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
_UNUSABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP)


class CommandError(Exception):
    """The command cannot continue; the text says why and what to do."""

    code = 1


def build_write_fault(path: Path, error: OSError, mend: str) -> CommandError:
    """Names what could not be written. On a full disk the remedy is space, not the other causes."""
    if error.errno in FULL_DISK:
        return CommandError(f"Could not write {path}: its disk is full. Make room there, or choose another disk.")
    return CommandError(f"Could not write {path} ({error.strerror or error}): {mend}")


def user_message(fault: Exception) -> str | None:
    """The sentence of an expected fault; None for a bug, which keeps its traceback."""
    import httpx
    import httpx2
    from sqlalchemy.exc import OperationalError

    from shared.db.outages import is_full
    from shared.db.schema import SchemaError
    from shared.errors import Refusal
    from shared.reference.tables import ReferenceError
    from shared.settings import SettingsError
    from shared.tls import BundleError, explain_tls_fault

    if isinstance(fault, CommandError | SchemaError | SettingsError | ReferenceError):
        return str(fault)
    if isinstance(fault, BundleError):
        return f"CA_BUNDLE: {fault}."
    if isinstance(fault, Refusal):
        return fault.message
    if isinstance(fault, OSError) and fault.errno in FULL_DISK:
        return f"Could not write {fault.filename or 'a temporary file'}: its disk is full. Make room there."
    if isinstance(fault, OSError) and fault.errno in _UNUSABLE and fault.filename:
        return f"{fault.filename} cannot be used ({fault.strerror}): name another place, or mend its permissions."
    if is_full(fault):
        return "The database could not write: the disk of its server is full. Make room there."
    if isinstance(fault, OperationalError):
        return "The database does not answer: see whether DATABASE_URL is right and its server runs."
    if words := explain_tls_fault(fault):
        return f"The service answers, but {words}."
    if isinstance(fault, httpx.TransportError | httpx2.TransportError):
        return "The service does not answer: see whether it runs, with award-travel doctor."
    return None
